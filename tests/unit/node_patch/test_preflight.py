# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the preflight makes of all that it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.preflight import assess, refuse
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.record import Now
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.role_vars import RoleVars

Role = Callable[..., RoleVars]
NOW = Now(10.0, True, print)
BEGUN = {"host": "w1", "node": "w1", "state": "in progress", "begun": {"check": 1.0}, "pods": 0, "blockers": []}
PENDING = [{"namespace": "shop", "name": "db-0"}]
WELL: dict[str, Any] = {
    "node_patch_input": {"problems": "", "invalid": False},
    "node_patch_found": {"nodes": [{"name": "w1"}]},
    "node_patch_reached": {"ping": "pong"},
    "node_patch_gate": {"open": True, "refusals": []},
    "node_patch_gate_rollouts": {"skipped": True},
    "node_drain_result": {"nodes": [{"evicted_total": 3}], "pending_nodes": [], "pending_pods": PENDING},
    "node_patch_tasks": "patch.yml",
}


def test_a_node_without_refusals_is_ready(role: Role) -> None:
    made = assess(role(**WELL), BEGUN, NOW)
    assert (made["state"], made["pods"], made["blockers"]) == ("ready", 3, PENDING)


def test_an_unfinished_node_stays_unfinished(role: Role) -> None:
    assert assess(role(**WELL), {**BEGUN, "state": "unfinished"}, NOW)["state"] == "unfinished"


@pytest.mark.parametrize(
    ("variables", "refusal"),
    [
        ({"node_patch_input": {"problems": "Unknown variable: x."}}, "Unknown variable: x."),
        ({"node_patch_found": {"msg": "there is no node w1"}}, "there is no node w1"),
        ({"node_patch_reached": {"unreachable": True, "msg": "odd"}}, "Host w1 cannot be reached: odd."),
        (
            {
                "node_patch_reached": {"msg": "first"},
                "node_patch_reached_again": {"msg": "second"},
                "node_patch_reached_plainly": {"msg": "odd"},
            },
            "Host w1 can be reached, but cannot run modules: second.",
        ),
        (
            {"node_patch_reached": {"unreachable": True, "msg": "down"}, "node_patch_reached_again": {"skipped": True}},
            "Host w1 cannot be reached: down.",
        ),
        (
            {"node_patch_tasks": "", "ansible_facts": {"pkg_mgr": "zypper"}},
            "The packages of w1 are managed by zypper, which this role cannot upgrade. Set node_patch_tasks to a task "
            "file that does.",
        ),
        (
            {"node_patch_gate": {"open": False, "refusals": [{"message": "the window is closed", "remedy": "Wait."}]}},
            "the window is closed. Wait.",
        ),
        (
            {"node_patch_gate": {"failed": True, "msg": "The option window[0] is odd"}},
            "The variable node_patch_window[0] is odd",
        ),
        ({"node_patch_gate": {"failed": True}}, "The gate gave no answer; the option -vvv shows why."),
        ({"node_patch_gate_rollouts": {"msg": "there is no Deployment wbe"}}, "there is no Deployment wbe"),
        (
            {"node_patch_gate_rollouts": {"workloads": [{"failure": {"reason": "x"}}], "msg": "web is stuck"}},
            "web is stuck",
        ),
        ({"node_drain_result": {"nodes": [], "msg": "pod a/b is unmanaged"}}, "pod a/b is unmanaged"),
    ],
)
def test_what_prevents_the_patch_is_a_refusal(role: Role, variables: dict[str, Any], refusal: str) -> None:
    made = assess(role(**{**WELL, **variables}), BEGUN, NOW)
    assert (made["state"], made["refusals"]) == ("refused", [refusal])
    assert made["message"] == refusal[:1].upper() + refusal[1:]


def test_a_host_that_answers_the_second_time_is_ready(role: Role) -> None:
    pings = {"node_patch_reached": {"unreachable": True}, "node_patch_reached_again": {"ping": "pong"}}
    assert assess(role(**{**WELL, **pings}), BEGUN, NOW)["state"] == "ready"


def test_a_wrong_key_is_reported_once(role: Role) -> None:
    given = {
        **WELL,
        "node_patch_input": {"problems": "The variable node_patch_connection has unknown keys: x.", "invalid": True},
        "node_patch_found": {"msg": "Unsupported parameters for (k8s_node_info) module: x"},
    }
    assert assess(role(**given), BEGUN, NOW)["refusals"] == [given["node_patch_input"]["problems"]]


def test_tasks_that_were_skipped_refuse_nothing(role: Role) -> None:
    skipped = {name: {"skipped": True} for name in ("node_patch_reached", "node_patch_gate", "node_drain_result")}
    assert assess(role(**{**WELL, **skipped}), {**BEGUN, "state": "skipped"}, NOW)["state"] == "skipped"


def test_a_preflight_that_fails_itself_is_a_refusal(role: Role) -> None:
    made = refuse(role(ansible_failed_result={"msg": "'rack' is undefined"}), {}, NOW)
    assert (made["state"], made["refusals"], made["node"]) == ("refused", ["'rack' is undefined"], "w1")
