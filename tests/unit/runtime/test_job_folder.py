# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder that a module makes for its lines where it is a job on another host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime import job_folder
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.job_folder import FOLDER

MINE = {"pid": 7, "tick": 123}


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of Ansible's jobs."""
    monkeypatch.setenv("ANSIBLE_ASYNC_DIR", str(tmp_path))
    monkeypatch.setenv(FOLDER, "k8s-progress-1a2b")
    return tmp_path


def test_it_is_made_for_no_other_eyes(jobs: Path) -> None:
    folder = Path(job_folder.make_folder(MINE))
    assert (folder, folder.stat().st_mode & 0o777) == (jobs / "k8s-progress-1a2b", 0o700)
    assert sorted(path.name for path in folder.iterdir()) == ["asked", "lines"]


def test_its_first_line_names_the_process_whatever_is_to_be_told(jobs: Path) -> None:
    lines = Path(job_folder.lines_in(job_folder.make_folder(MINE)))
    assert lines.read_text(encoding="ascii") == '{"pid": 7, "tick": 123}\n'


def test_it_lies_in_the_home_where_ansible_keeps_its_jobs_there(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANSIBLE_ASYNC_DIR")
    monkeypatch.setenv("HOME", str(jobs))
    assert job_folder.job_folder() == str(jobs / ".ansible_async/k8s-progress-1a2b")


def test_a_module_that_is_no_such_job_makes_none(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER)
    assert (job_folder.make_folder(MINE), list(jobs.iterdir())) == ("", [])


@pytest.mark.parametrize("name", ["../k8s-progress-1", "/etc", "other"])
def test_it_lies_nowhere_else(jobs: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(FOLDER, name)
    assert job_folder.job_folder() == ""


def test_one_that_somebody_else_has_made_is_not_used(jobs: Path) -> None:
    (jobs / "k8s-progress-1a2b").mkdir()
    assert job_folder.make_folder(MINE) == ""


def test_those_that_nobody_has_asked_in_for_a_day_are_removed(jobs: Path) -> None:
    for name, age in (("k8s-progress-old", 90_000), ("k8s-progress-young", 60), ("other", 90_000)):
        (jobs / name).mkdir()
        asked = jobs / name / "asked"
        asked.touch()
        os.utime(asked, (asked.stat().st_mtime - age,) * 2)
    job_folder.make_folder(MINE)
    assert sorted(path.name for path in jobs.iterdir()) == ["k8s-progress-1a2b", "k8s-progress-young", "other"]
