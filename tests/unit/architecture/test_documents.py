# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the documents for developers name is there: files, folders, and the tables of packages."""

from __future__ import annotations

import re

import pytest

from places import ROOT

DOCUMENTS = ("CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md", "docs/extending.md")
PACKAGES = ("api", "cluster", "connection", "drain", "maintenance", "module", "modules", "rollout", "runtime")
TOPS = ("changelogs", "docs", "meta", "playbooks", "plugins", "roles", "tests")
# `tests/tools/step.py`, `drain/filters.py`, `drain/filters`; neither `pods/eviction` nor what holds <a placeholder>.
PATH = re.compile(rf"`((?:{'|'.join(PACKAGES + TOPS)})/[\w./-]*)`")


def is_there(path: str) -> bool:
    above = ROOT if path.startswith(tuple(f"{top}/" for top in TOPS)) else ROOT / "plugins" / "module_utils"
    if path.startswith("modules/"):
        above = ROOT / "plugins"
    return (above / path).exists() or (above / f"{path}.py").exists()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_files_that_a_document_names_are_there(document: str) -> None:
    named = PATH.findall((ROOT / document).read_text(encoding="utf-8"))
    assert named
    assert [path for path in named if not is_there(path)] == []


def test_the_tables_of_packages_name_files_of_theirs() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    missing = []
    for package, files in re.findall(r"^\| (`[\w/]+`|the root) \|.*\| ([^|]+) \|$", text, re.MULTILINE):
        name = package.strip("`")
        folder = ROOT / "tests" / name if name.startswith("kubesim") else ROOT / "plugins" / "module_utils" / name
        folder = ROOT / "plugins" / "module_utils" if name == "the root" else folder
        missing += [f"{name}/{file}" for file in re.findall(r"`(\w+)`", files) if not (folder / f"{file}.py").exists()]
    assert missing == []
