# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report that is printed as text and kept as files."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.action.k8s_maintenance_report import ARGUMENT_SPEC, ActionModule
from ansible_collections.kubeops.maintenance.plugins.modules import k8s_maintenance_report as module
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress import lines

DONE = {"node": "w1", "state": "done", "pods": 2, "retries": 0, "seconds": 3.5, "message": ""}
TABLE = ["node  state  pods  retries  seconds  kubelet  note", "w1    done      2        0      3.5  -"]


def report(no_log: bool = False, **args: Any) -> dict[str, Any]:
    """Run the task for the record of one node."""
    plugin = ActionModule.__new__(ActionModule)
    plugin._task = SimpleNamespace(
        args={"records": [DONE], **args}, no_log=no_log, async_val=0, check_mode=True, diff=False, action="report"
    )
    plugin._connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))
    return plugin.run(task_vars={})


def test_the_table_is_printed_as_text(screen: list[Any]) -> None:
    report()
    assert screen == [("\n".join(TABLE), False)]


def test_notes_stand_below_the_table(screen: list[Any]) -> None:
    assert report(notes=["1 node in 1 round"])["table"] == [*TABLE, "1 node in 1 round"]


def test_a_report_changes_nothing(screen: list[Any]) -> None:
    assert report()["changed"] is False


def test_a_callback_for_programs_keeps_its_output(screen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines.C, "DEFAULT_STDOUT_CALLBACK", "ansible.posix.json", raising=False)
    report()
    assert screen[0][1] is True


def test_a_task_that_must_not_be_shown_is_not(screen: list[Any]) -> None:
    report(no_log=True)
    assert screen == []


def test_the_records_are_kept_as_json(screen: list[Any], tmp_path: Path) -> None:
    report(json_file=str(tmp_path / "report.json"))
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == [DONE]


def test_the_records_are_kept_as_junit(screen: list[Any], tmp_path: Path) -> None:
    report(junit_file=str(tmp_path / "report.xml"))
    assert 'tests="1" failures="0"' in (tmp_path / "report.xml").read_text(encoding="utf-8")


def test_a_folder_that_does_not_exist_is_named(screen: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "report.json"
    result = report(json_file=str(path))
    assert (result["failed"], result["msg"]) == (True, f"cannot write the report {path}: No such file or directory")


def test_a_file_that_cannot_be_written_leaves_no_draft(screen: list[Any], tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()
    assert report(json_file=str(tmp_path / "report.json"))["failed"]
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_the_documentation_names_the_options_that_there_are() -> None:
    documented = yaml.safe_load(module.DOCUMENTATION)["options"]
    told = {name: {k: v for k, v in option.items() if k != "description"} for name, option in documented.items()}
    assert told == ARGUMENT_SPEC
