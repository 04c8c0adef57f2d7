# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-builder takes the example definition, and finds in the collection's archive what its modules need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from places import ROOT, VENV, environment

ARCHIVE = "kubeops-maintenance-1.0.0.tar.gz"
DEFINITION = ROOT / "docs" / "awx" / "execution-environment.yml"


def tool(folder: Path, name: str, *arguments: str) -> str:
    done = subprocess.run(
        [str(VENV / "bin" / name), *arguments],
        cwd=folder,
        # A collection that is on the path already is not installed again.
        env=environment(HOME=str(folder), ANSIBLE_COLLECTIONS_PATH=str(folder / "installed")),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the definition and the archive beside it, as the comment in the definition says."""
    folder = tmp_path_factory.mktemp("ee")
    (folder / DEFINITION.name).write_bytes(DEFINITION.read_bytes())
    tool(folder, "ansible-galaxy", "collection", "build", str(ROOT), "--output-path", str(folder))
    return folder


@pytest.fixture(scope="module")
def containerfile(folder: Path) -> str:
    tool(folder, "ansible-builder", "create", "-c", "context", "--output-filename", "Containerfile")
    return (folder / "context" / "Containerfile").read_text(encoding="utf-8")


def test_the_archive_has_the_version_that_the_definition_names(folder: Path) -> None:
    assert [path.name for path in folder.glob("*.tar.gz")] == [ARCHIVE]


def test_the_archive_is_what_gets_installed(folder: Path, containerfile: str) -> None:
    wanted = yaml.safe_load((folder / "context" / "_build" / "requirements.yml").read_text(encoding="utf-8"))
    (collection,) = wanted["collections"]
    assert (folder / "context" / "_build" / collection["name"]).read_bytes() == (folder / ARCHIVE).read_bytes()
    assert "ansible-galaxy collection install" in containerfile


def test_ansible_gets_a_python_that_it_runs_with(containerfile: str) -> None:
    assert 'ARG PYCMD="/usr/bin/python3.12"' in containerfile
    assert 'ARG ANSIBLE_INSTALL_REFS="ansible-core>=2.17,<2.22 ansible-runner>=2.4"' in containerfile


def test_builder_finds_what_the_modules_need_in_the_installed_collection(folder: Path) -> None:
    tool(folder, "ansible-galaxy", "collection", "install", "--offline", "-p", "installed", ARCHIVE)
    said = yaml.safe_load(tool(folder, "ansible-builder", "introspect", "-v", "0", "installed"))
    python = {line.split("#")[0].strip() for line in said["python"]}
    assert python == {"kubernetes>=24.2,!=36.0.0", "jsonpatch>=1.32"}
    assert [line.split()[0] for line in said["system"]] == ["tzdata"]
