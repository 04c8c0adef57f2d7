# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks on another host are worth a job of their own."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

ACTIONS = "ansible_collections.kubeops.maintenance.plugins.action."


def made(module: str) -> Any:
    """Return the action plugin of a module, without what Ansible gives it."""
    action = importlib.import_module(ACTIONS + module).ActionModule
    return action.__new__(action)


@pytest.mark.parametrize(
    "module, args, job",
    [
        ("k8s_node_drain", {}, True),
        ("k8s_node_drain", {"state": "cordon"}, False),
        ("k8s_rollout_status", {"watch": False}, False),
        ("k8s_node_wait", {}, True),
        ("k8s_maintenance_gate", {}, False),
        ("k8s_maintenance_gate", {"wait_timeout": None}, False),
        ("k8s_maintenance_gate", {"wait_timeout": "0"}, False),
        ("k8s_maintenance_gate", {"wait_timeout": 600}, True),
        ("k8s_maintenance_lock", {}, False),
        ("k8s_maintenance_lock", {"wait_timeout": "600"}, True),
        ("k8s_maintenance_lock", {"wait_timeout": 600, "state": "absent"}, False),
    ],
)
def test_a_task_that_waits_for_nothing_runs_the_plain_way(module: str, args: dict[str, Any], job: bool) -> None:
    plugin = made(module)
    plugin._task = SimpleNamespace(args=args, check_mode=False)
    plugin._connection = SimpleNamespace(transport="ssh", become=False, _shell=SimpleNamespace())
    plugin._module = lambda *_arguments: {"job": False}
    plugin._run_as_job = lambda *_arguments: {"job": True}
    assert plugin._run_with_lines(args, {}, None) == {"job": job}


@pytest.mark.parametrize("module", ["k8s_node_info", "k8s_node_mark"])
@pytest.mark.parametrize("limit, native, wrapped", [(0, False, False), (60, False, True), (60, True, False)])
def test_a_module_that_ends_soon_gets_its_files_and_runs_as_it_was_asked_to(
    module: str, limit: int, native: bool, wrapped: bool
) -> None:
    plugin = made(module)
    plugin._task = SimpleNamespace(args={}, async_val=limit, check_mode=False, diff=False, no_log=False)
    plugin._connection = SimpleNamespace(has_native_async=native, _shell=SimpleNamespace(tmpdir="/tmp/t"))
    plugin._usable_args = lambda: {"kubeconfig": "/found"}
    plugin._execute_module = lambda **asked: {"asked": asked}
    result = plugin.run(task_vars={})
    assert result["asked"] == {"module_args": {"kubeconfig": "/found"}, "task_vars": {}, "wrap_async": wrapped}
