# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role was given, checked and normalised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.input import read_input, steps_with_rights
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.role_vars import RoleVars

Role = Callable[..., RoleVars]
PATCHED = {"node_patch_tasks": "patch.yml", "node_patch_become": True}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a task file, in which Ansible was started."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patch.yml").write_text("", encoding="utf-8")
    return tmp_path


def test_task_files_are_found_and_hooks_become_lists(role: Role, folder: Path) -> None:
    given = role(**PATCHED, node_patch_pre_hooks="patch.yml", node_patch_post_hooks=["patch.yml"])
    values, problems = read_input(given, local=False)
    assert problems == []
    assert values["files"] == {"patch.yml": str(folder / "patch.yml")}
    assert (values["pre_hooks"], values["post_hooks"]) == (["patch.yml"], ["patch.yml"])


def test_a_task_file_of_the_playbooks_folder_is_found(role: Role, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "other.yml").write_text("", encoding="utf-8")
    values, problems = read_input(role(node_patch_tasks="other.yml", playbook_dir=str(folder / "sub")), local=False)
    assert (values["files"], problems) == ({"other.yml": str(folder / "sub" / "other.yml")}, [])


def test_a_missing_task_file_is_reported_with_its_variable(role: Role, folder: Path) -> None:
    given = role(**PATCHED, node_patch_pre_hooks=["no.yml"], playbook_dir="/srv/play")
    assert read_input(given, local=False)[1] == [
        f"There is no task file no.yml, neither in {folder} nor in /srv/play; see node_patch_pre_hooks."
    ]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["1.10", "w-2"], ["1.10", "w-2"]),
        ("1e5, on", ["1e5", "on"]),
        ("['a', 'b']", ["a", "b"]),
        (None, []),
        (7, ["7"]),
    ],
)
def test_ignored_nodes_are_names(role: Role, given: Any, names: list[str]) -> None:
    values, _problems = read_input(role(**PATCHED, node_patch_gate_ignore_nodes=given), local=False)
    assert values["ignored_nodes"] == names


@pytest.mark.parametrize(("heal", "waits"), [("wait", True), ("warn", True), ("off", False), (False, False)])
def test_yaml_reads_off_as_false(role: Role, heal: Any, waits: bool) -> None:
    assert read_input(role(**PATCHED, node_patch_heal=heal), local=False)[0]["waits_for_workloads"] is waits


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, True),
        (PATCHED, False),
        ({**PATCHED, "node_patch_reboot": "always"}, True),
        ({"node_patch_reboot": "never"}, False),
        ({"node_patch_reboot_tasks": "patch.yml"}, False),
    ],
)
def test_ansible_does_not_reboot_its_own_machine(role: Role, variables: dict[str, Any], problem: bool) -> None:
    _values, problems = read_input(role(**variables), local=True)
    assert bool(problems) is problem


def test_unknown_variables_and_invalid_values_are_reported_together(role: Role) -> None:
    values, problems = read_input(role(**PATCHED, node_patch_sok=1, node_patch_soak=-1), local=False)
    assert problems == [
        "Unknown variable: node_patch_sok (did you mean node_patch_soak?).",
        "The variable node_patch_soak is -1, but must be 0 or more.",
    ]
    assert values["invalid"] is True


def test_a_host_that_an_earlier_batch_left_is_reported_but_not_in_the_preflight(role: Role) -> None:
    records = {name: {"host": name, "node": name, "state": "in progress"} for name in ("w2", "w3")}
    said = "An earlier batch left w3 in the middle of its patch, so no further node is patched."
    assert read_input(role(records, **PATCHED), local=False)[1] == [said]
    assert read_input(role(records, **PATCHED, node_patch_preflight=True), local=False)[1] == []


@pytest.mark.parametrize(
    ("variables", "steps"),
    [
        ({}, ["healing"]),
        ({"node_patch_heal": "off"}, []),
        ({"node_patch_heal": "off", "node_patch_gate_workloads": [{"kind": "Deployment"}]}, ["healing"]),
        (
            {"node_patch_check_csi_drivers": "true", "node_drain_disable_eviction": True, "node_patch_lock": "yes"},
            ["csi_drivers", "healing", "delete_pods", "lock"],
        ),
    ],
)
def test_the_options_choose_the_rights(role: Role, variables: dict[str, Any], steps: list[str]) -> None:
    assert steps_with_rights(role(**variables)) == ["look", "drain", *steps]
