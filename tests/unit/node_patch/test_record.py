# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a node while it is patched."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch import failure, record
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.record import Now
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.role_vars import RoleVars

Role = Callable[..., RoleVars]
ATTACK = "{{ lookup('pipe', 'id') }}"
NOW = 10_000.0
BEFORE = {"boot_id": "b0", "kubelet_version": "v1", "daemonsets": [], "csi_drivers": [], "taints": []}
WEB = {"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}


def now(seconds: float = NOW, check_mode: bool = False) -> Now:
    return Now(seconds, check_mode, warn=pytest.fail)


def node(mark: dict[str, Any] | None = None, owner: str = "", **more: Any) -> dict[str, Any]:
    """Return the result of k8s_node_info for a node with this mark, cordoned by this owner."""
    annotations = {}
    if mark is not None:
        annotations["kubeops.maintenance/node-patch"] = json.dumps({"campaign": "c", **mark})
    if owner:
        annotations["kubeops.maintenance/cordon-owners"] = json.dumps({owner: {"since": "x"}})
    found = {
        "name": "w1",
        "ready": True,
        "unschedulable": bool(owner),
        "boot_id": "b0",
        "kubelet_version": "v1",
        "labels": {},
        "annotations": annotations,
        "taints": [],
        "daemonset_pods": [],
        "csi_drivers": [],
    }
    return {"nodes": [{**found, **more}]}


def begun(role: Role, found: dict[str, Any] | None = None, **variables: Any) -> dict[str, Any]:
    given = role(node_patch_found=found or node(), node_patch_input={"started": 9_990.0}, **variables)
    return record.begin(given, {}, now())


def test_a_record_begins_with_the_node_as_it_is(role: Role) -> None:
    found = begun(role, node(labels={"node-role.kubernetes.io/control-plane": ""}))
    assert found["begun"] == {"check": 9_990.0, "gate": NOW}
    assert {key: found[key] for key in ("host", "node", "state", "message", "control_plane", "before")} == {
        "host": "w1",
        "node": "w1",
        "state": "in progress",
        "message": "",
        "control_plane": True,
        "before": BEFORE,
    }


@pytest.mark.parametrize(
    ("found", "state", "message"),
    [
        (node({"state": "done", "at": NOW - 60, "finished": "F"}), "skipped", "done F in campaign c; -e node_patch_"),
        (node({"state": "done", "at": NOW - 90_000}), "in progress", ""),
        (node({"state": "done", "at": NOW - 60}, "node-patch"), "in progress", ""),
        (node({"state": "done", "at": NOW - 60}, ready=False), "in progress", ""),
        (node({"state": "draining", "before": BEFORE}, "node-patch"), "unfinished", ""),
        (node({"state": "draining", "before": BEFORE, "campaign": "d"}), "in progress", ""),
        (node(owner="disk-exchange"), "in progress", "is cordoned, and stays so"),
        (node(unschedulable=True), "in progress", "is cordoned, and stays so"),
    ],
    ids=["done", "long ago", "cordoned again", "not ready", "unfinished", "other campaign", "other owner", "cordoned"],
)
def test_the_mark_of_an_earlier_run_decides(role: Role, found: dict[str, Any], state: str, message: str) -> None:
    made = begun(role, found)
    assert made["state"] == state
    assert made["message"].startswith(message) and bool(made["message"]) == bool(message)


def test_a_mark_in_the_future_is_ignored_with_a_warning(role: Role) -> None:
    warnings: list[str] = []
    given = role(node_patch_found=node({"state": "done", "at": NOW + 7200}))
    assert record.begin(given, {}, Now(NOW, False, warnings.append))["state"] == "in progress"
    assert warnings == [
        "node w1 is marked as done at a time in the future, by 2.0 hours, so the mark is ignored: check who wrote its "
        "annotation kubeops.maintenance/node-patch, and whether the clocks are right"
    ]


def test_texts_of_the_cluster_are_not_templated(role: Role) -> None:
    made = begun(role, node(kubelet_version=ATTACK, boot_id=ATTACK))
    assert (made["kubelet_before"], made["before"]["boot_id"]) == (ATTACK, ATTACK)


def drained_by(role: Role, result: dict[str, Any], **variables: Any) -> dict[str, Any]:
    made = record.drain(role(), begun(role), now())
    return record.drained(role(node_drain_result=result, **variables), made, now(NOW + 5))


def test_a_drain_is_counted_and_the_patch_begins(role: Role) -> None:
    evicted = [{"attempts": 1}, {"attempts": 4}, {"attempts": 0}]
    made = drained_by(role, {"failed": False, "nodes": [{"evicted": evicted, "affected_workloads": [WEB, WEB]}]})
    assert {key: made[key] for key in ("pods", "retries", "workloads", "step", "goes_on")} == {
        "pods": 3,
        "retries": 3,
        "workloads": [WEB],
        "step": "patch",
        "goes_on": True,
    }


@pytest.mark.parametrize(
    ("policy", "cordoned", "goes_on"), [("fail", True, False), ("go_on", True, True), ("go_on", False, False)]
)
def test_a_failed_drain_is_tolerated_only_if_wanted(role: Role, policy: str, cordoned: bool, goes_on: bool) -> None:
    result = {"failed": True, "nodes": [{"cordoned": cordoned, "pending_pods": [{"name": "db-0"}]}]}
    made = drained_by(role, result, node_patch_drain_failure=policy)
    assert (made["goes_on"], made["step"]) == (goes_on, "patch" if goes_on else "drain")
    assert made["blockers"] == [{"name": "db-0"}]


@pytest.mark.parametrize(
    ("policy", "variables", "meant", "boot_id", "reboots"),
    [
        ("never", {"node_patch_reboot_needed": True}, False, "b0", False),
        ("always", {}, False, "b0", True),
        ("always", {"node_patch_rebooted": True}, False, "b0", False),
        ("always", {}, True, "b1", False),
        ("auto", {}, False, "b0", False),
        ("auto", {"node_patch_reboot_needed": True}, False, "b0", True),
        ("auto", {"node_patch_reboot_file": {"stat": {"exists": True}}}, False, "b0", True),
        ("auto", {"node_patch_reboot_hint": {"rc": 1}}, False, "b0", True),
        ("auto", {"node_patch_reboot_hint": {"skipped": True, "rc": 1}}, False, "b0", False),
        ("auto", {}, True, "b0", True),
        ("auto", {}, True, "b1", False),
    ],
)
def test_the_reboot_is_decided(
    role: Role, policy: str, variables: dict[str, Any], meant: bool, boot_id: str, reboots: bool
) -> None:
    mark = {"state": "patched", "before": BEFORE, "reboots": meant}
    found = node(mark, "node-patch", boot_id=boot_id)
    made = begun(role, found)
    made = record.reboot(role(node_patch_found=found, node_patch_reboot=policy, **variables), made, now())
    assert made["reboots"] is reboots
    written = json.loads(made["annotation"])
    assert (written["state"], written["reboots"], written["before"]) == ("patched", reboots, BEFORE)


def test_a_node_that_is_done_is_marked_with_the_time(role: Role) -> None:
    made = record.done(role(), begun(role), now(0.0))
    assert made["state"] == "done"
    assert json.loads(made["annotation"]) == {
        "campaign": "c",
        "owner": "node-patch",
        "state": "done",
        "at": 0,
        "finished": "1970-01-01T00:00:00Z",
        "kubelet_version": "v1",
    }


@pytest.mark.parametrize(
    ("cordoned_before", "message"),
    [(True, "stays cordoned, as it was before"), (False, "Left w1 cordoned for disk-exchange")],
)
def test_a_node_that_stays_cordoned_has_a_note(role: Role, cordoned_before: bool, message: str) -> None:
    result = {"msg": "Left w1 cordoned for disk-exchange.", "nodes": [{"cordoned": True}]}
    given = role(node_patch_found=node(unschedulable=cordoned_before), node_drain_result=result)
    made = {**begun(role), "step": "uncordon"}
    assert record.heal(given, made, now())["message"] == message
    assert record.heal(given, made, now(check_mode=True))["message"] == ""


FAILURE = {"ansible_failed_task": {"name": "Write"}, "ansible_failed_result": {"msg": "The disk is full"}}


def test_a_failure_names_its_task(role: Role) -> None:
    made = failure.fail(role(node_patch_input={"started": 9_990.0}, **FAILURE), begun(role), now())
    assert (made["state"], made["message"], made["step"]) == ("failed", "Write: The disk is full", "gate")


def test_the_record_of_the_preflight_is_not_that_of_a_failure(role: Role) -> None:
    preflight = {**begun(role), "pods": 7}
    made = failure.fail(role(node_patch_input={"started": 9_999.0}, **FAILURE), preflight, now())
    assert (made["step"], made["pods"]) == ("check", 0)


@pytest.mark.parametrize(
    ("found", "step", "left"),
    [
        (node(unschedulable=True), "drain", "w1 stays cordoned. "),
        (node(), "drain", "w1 is not cordoned any more. "),
        (node(), "gate", "w1 was not cordoned. "),
        ({"failed": True}, "drain", ""),
    ],
)
def test_it_is_said_how_a_node_is_left(role: Role, found: dict[str, Any], step: str, left: str) -> None:
    made = failure.left(role(node_patch_node_now=found), {**begun(role), "step": step}, now())
    assert made["next"] == f"{left}Fix the cause and start the same command again."


FAILED = "w1 failed; no further batch will be started. Write: full. Do x."
LOST = (
    "No further batch will be started, because the host of n2 became unreachable. Start the same command again once it "
    "is back."
)
OTHER = {"host": "w2", "node": "n2", "state": "in progress"}


@pytest.mark.parametrize(
    ("own", "play_hosts", "policy", "stops", "releases"),
    [
        ("failed", ["w1", "w2", "w3"], "stop", FAILED, False),
        ("failed", ["w1", "w3"], "stop", FAILED, True),
        ("failed", ["w1", "w3"], "skip", "", False),
        ("done", ["w1", "w3"], "stop", LOST, True),
        ("done", ["w1", "w2", "w3"], "stop", "", False),
    ],
)
def test_the_run_stops_and_releases_the_lock(
    role: Role, own: str, play_hosts: list[str], policy: str, stops: str, releases: bool
) -> None:
    given = role(
        {"w2": OTHER},
        ansible_play_hosts=play_hosts,
        node_patch_after_failure=policy,
        node_patch_lock="true",
        node_patch_lock_release=False,
    )
    made = {"host": "w1", "node": "w1", "state": own, "message": "Write: full", "next": "Do x."}
    made = failure.finish(given, made, now())
    assert (made["stop_reason"], made["stops"], made["releases"]) == (stops, bool(stops), releases)
