# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a batch of nodes may be taken out of the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    Forbidden,
    InvalidOptions,
    MaintenanceError,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.gate import Gate, task_from
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import SILENT, Progress
from kubesim import builders
from maintenance.surroundings import context_of
from runtime.listener import Listener
from stage import Scene

CONTROL_PLANE = ("cp1", "cp2", "cp3")
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
PRESSURE = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}


def gate(scene: Scene, *names: str, progress: Progress = SILENT, **params: Any) -> Gate:
    params = {"name": list(names) or ["w1"], "cordon_owner": "patching", **params}
    return Gate(task_from(params), context_of(scene, progress))


def asked(scene: Scene, *names: str, **params: Any) -> dict[str, Any]:
    return gate(scene, *names, **params).run()


def warned(scene: Scene, *names: str, **params: Any) -> list[str]:
    asking = gate(scene, *names, **params)
    asking.run()
    return asking.warnings


def remedies(result: dict[str, Any]) -> list[str]:
    return [refusal["remedy"] for refusal in result["refusals"]]


def heard(scene: Scene, *names: str, level: str = "changes", **params: Any) -> list[tuple[float, str]]:
    """Return the lines of a wait at the gate, with the seconds since it began."""
    listener = Listener(scene.clock, level=level)
    gate(scene, *names, progress=listener.progress, **params).run()
    return listener.timed


def reasons(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(refusal["reason"], refusal["node"]) for refusal in result["refusals"]]


def control_plane(*unready: str, names: tuple[str, ...] = CONTROL_PLANE) -> Scene:
    nodes = [builders.node(name, control_plane=True) for name in names]
    pods = [
        builders.pod(
            f"{kind}-{name}", "kube-system", node_name=name, mirror=True, ready=f"{kind}-{name}" not in unready
        )
        for name in names
        for kind in ("etcd", "kube-apiserver")
    ]
    return Scene(*nodes, *pods, controllers=False)


def owned(name: str, owner: str) -> dict[str, Any]:
    book = json.dumps({owner: {"since": "2026-11-30T10:00:00Z", "prior_unschedulable": False}})
    return builders.node(name, annotations={"kubeops.maintenance/cordon-owners": book}, unschedulable=True)


def test_a_healthy_cluster_lets_a_batch_go() -> None:
    result = asked(Scene(), "w1", "w2")
    assert (result["open"], result["msg"]) == (True, "w1, w2 may be taken out of the cluster.")


def test_a_node_outside_the_batch_that_is_not_ready_holds_it() -> None:
    scene = Scene(builders.node("w3", ready=False))
    result = asked(scene)
    assert reasons(result) == [("node_not_ready", "w3")]
    assert "node w3 is not Ready (container runtime is down)" in result["msg"]


def test_a_node_of_the_batch_need_not_be_ready() -> None:
    assert asked(Scene(builders.node("w3", ready=False)), "w1", "w3")["open"]


def test_an_ignored_node_need_not_be_ready() -> None:
    assert asked(Scene(builders.node("w3", ready=False)), ignore_nodes=["w3"])["open"]


def test_another_owners_cordon_holds_it() -> None:
    result = asked(Scene(owned("w3", "disk-exchange")))
    assert reasons(result) == [("foreign_owner", "w3")]
    assert "node w3 is under maintenance by another owner (disk-exchange since 2026-11-30T10:00:00Z)" in result["msg"]


def test_another_owners_cordon_of_the_batch_itself_holds_it() -> None:
    assert reasons(asked(Scene(owned("w3", "disk-exchange")), "w3")) == [("foreign_owner", "w3")]


def test_ones_own_cordon_does_not_hold_it() -> None:
    assert asked(Scene(owned("w3", "patching")))["open"]


def test_two_nodes_of_the_control_plane_never_go_together() -> None:
    result = asked(control_plane(), "cp1", "cp2", "w1", wait_timeout=600)
    assert ("control_plane_batch", "cp1") in reasons(result)
    assert result["waited"] == 0


def test_one_of_three_nodes_of_the_control_plane_may_go() -> None:
    assert asked(control_plane(), "cp1")["open"]


def test_a_static_pod_of_another_node_that_is_not_ready_holds_the_control_plane() -> None:
    result = asked(control_plane("kube-apiserver-cp2"), "cp1")
    assert reasons(result) == [("control_plane_unready", "cp2")]


def test_etcd_keeps_its_majority() -> None:
    result = asked(control_plane("etcd-cp2"), "cp1")
    assert reasons(result) == [("control_plane_unready", "cp2"), ("etcd_quorum", "cp1")]
    assert "without cp1, 1 of 3 etcd members would be ready, and 2 are needed" in result["msg"]


def test_the_control_plane_does_not_hold_workers() -> None:
    assert asked(control_plane("etcd-cp2"), "w1")["open"]


def test_a_name_to_ignore_that_no_node_has_is_warned_of() -> None:
    scene = Scene(builders.node("w1"), builders.node("w2"))
    said = "ignore_nodes has w22, which the cluster does not; its nodes are w1, w2"
    assert warned(scene, "w1", ignore_nodes=["w2", "w22"]) == [said]


def test_the_only_node_of_a_control_plane_may_go_with_a_warning() -> None:
    scene = control_plane(names=("cp1",))
    asking = gate(scene, "cp1")
    assert asking.run()["open"]
    assert asking.warnings == ["the control plane has 1 node, so the API server or etcd may be away while cp1 is down"]


def test_checks_that_are_left_out_refuse_nothing() -> None:
    assert asked(Scene(owned("w3", "disk-exchange"), builders.node("w4", ready=False)), checks=[])["open"]


def test_it_opens_as_soon_as_nothing_speaks_against_it() -> None:
    scene = Scene(builders.node("w3", ready=False))
    scene.agenda.after(25, lambda: scene.store.mutate("Node", None, "w3", _get_ready))
    result = asked(scene, wait_timeout=600, wait_sleep=10)
    assert (result["open"], result["waited"]) == (True, 30.0)


def test_it_fails_with_the_last_reasons_when_time_is_up() -> None:
    result = asked(Scene(builders.node("w3", ready=False)), wait_timeout=60)
    assert (result["open"], result["waited"], reasons(result)) == (False, 60.0, [("node_not_ready", "w3")])


def test_a_window_in_the_past_is_not_waited_for() -> None:
    result = asked(Scene(), window=[{"not_after": "2020-01-01"}], wait_timeout=600)
    assert (reasons(result), result["waited"]) == ([("window_past", "")], 0)


def test_a_closed_window_is_a_reason() -> None:
    result = asked(Scene(), window=[{"not_before": "2100-01-01"}])
    assert reasons(result) == [("window_closed", "")]


def test_all_reasons_come_at_once() -> None:
    scene = Scene(builders.node("w3", ready=False), owned("w4", "disk-exchange"))
    result = asked(scene, window=[{"not_before": "2100-01-01"}])
    assert reasons(result) == [("window_closed", ""), ("node_not_ready", "w3"), ("foreign_owner", "w4")]


def test_a_name_that_no_node_has_is_an_error() -> None:
    with pytest.raises(InvalidOptions) as caught:
        asked(Scene(), "w9")
    assert caught.value.message == "there is no node w9 in this cluster; its nodes are w1, w2"


def test_an_api_server_that_goes_away_while_waiting_is_waited_for() -> None:
    scene = Scene(builders.node("w3", ready=False))
    scene.agenda.after(5, lambda: scene.faults.add({"path": "/nodes", "status": 503, "times": 0}))
    scene.agenda.after(100, lambda: (scene.faults.clear(), scene.store.mutate("Node", None, "w3", _get_ready)))
    assert asked(scene, wait_timeout=600)["open"]


def test_an_api_server_that_never_answered_is_an_error() -> None:
    scene = Scene()
    scene.faults.add({"path": "/nodes", "status": 503, "times": 0})
    with pytest.raises(MaintenanceError):
        asked(scene, wait_timeout=600)


def test_a_node_that_is_not_ready_is_to_be_mended_or_ignored() -> None:
    result = asked(Scene(builders.node("w3", ready=False)))
    assert result["msg"] == (
        "w1 may not be taken out of the cluster now: node w3 is not Ready (container runtime is down). "
        "Repair w3, or list it in ignore_nodes (node_patch_gate_ignore_nodes)."
    )


def test_a_remedy_stands_once_for_all_nodes_that_need_it() -> None:
    result = asked(Scene(builders.node("w3", ready=False), builders.node("w4", ready=False)))
    assert result["msg"].endswith(
        "(container runtime is down). Repair w3, w4, or list them in ignore_nodes (node_patch_gate_ignore_nodes)."
    )
    assert remedies(result) == [
        "Repair w3, or list it in ignore_nodes (node_patch_gate_ignore_nodes).",
        "Repair w4, or list it in ignore_nodes (node_patch_gate_ignore_nodes).",
    ]


def test_another_owner_is_to_be_waited_for_or_let_go() -> None:
    assert remedies(asked(Scene(owned("w3", "disk-exchange")))) == [
        "Wait for disk-exchange to finish; if that has happened already, uncordon w3 in that name (cordon_owner, in "
        "the role node_drain_cordon_owner), or "
        "list it in ignore_nodes (node_patch_gate_ignore_nodes)."
    ]


def test_nodes_of_the_control_plane_are_to_go_one_after_the_other() -> None:
    assert "Take them one at a time, in a play with serial: 1." in remedies(asked(control_plane(), "cp1", "cp2"))


def test_etcd_is_to_be_mended_where_it_is_not_ready() -> None:
    assert remedies(asked(control_plane("etcd-cp2"), "cp1")) == [
        "Repair the control plane on cp2 first.",
        "Repair etcd on cp2 first, because without a majority of its members the cluster stands still.",
    ]


def test_a_closed_window_is_to_be_waited_for_and_a_past_one_to_be_changed() -> None:
    closed = asked(Scene(), window=[{"not_before": "2100-01-01"}])
    assert closed["msg"] == (
        "w1 may not be taken out of the cluster now: the maintenance window opens 2100-01-01 00:00 UTC. "
        "Start again while it is open, or change the option window (node_patch_window)."
    )
    past = asked(Scene(), window=[{"not_after": "2020-01-01"}])
    assert remedies(past) == ["Give the option window (node_patch_window) a later end (not_after), or leave it out."]


def test_a_missing_right_is_to_be_granted() -> None:
    scene = Scene()
    scene.faults.add({"path": "selfsubjectaccessreviews", "json": {"status": {"allowed": False}}, "times": 1})
    assert remedies(asked(scene, rights_for=["look"])) == [
        "Grant these rights; the playbook kubeops.maintenance.rbac writes a manifest with all of them."
    ]


def test_a_batch_that_is_the_whole_cluster_is_warned_of() -> None:
    assert warned(Scene(), "w1", "w2") == [
        "no node is left for the pods of w1, w2 (the batch is the whole cluster), "
        "so they will wait until one is available again; take fewer nodes at once"
    ]


def test_a_batch_beside_which_nodes_are_closed_is_warned_of() -> None:
    scene = Scene(
        builders.node("cp1", control_plane=True),
        builders.node("w2", unschedulable=True),
        builders.node("w3", ready=False),
        nodes=("w1",),
        controllers=False,
    )
    assert warned(scene, "w1", checks=[]) == [
        "no node is left for the pods of w1 (cp1 has taints or another operating system, w2 is cordoned, w3 is not "
        "Ready), "
        "so they will wait until one is available again"
    ]


ROOM: list[tuple[str, list[dict[str, Any]], bool]] = [
    ("another worker", [builders.node("w2")], True),
    ("a control plane node that takes pods", [builders.node("cp1", labels={CONTROL_PLANE_LABEL: ""})], True),
    ("a control plane node that does not", [builders.node("cp1", control_plane=True)], False),
    ("a node that rather takes none", [builders.node("w2", taints=[{"key": "a", "effect": "PreferNoSchedule"}])], True),
    ("a node that evicts", [builders.node("w2", taints=[{"key": "a", "effect": "NoExecute"}])], False),
    ("a node under pressure", [builders.node("w2", taints=[PRESSURE])], False),
    ("a node of another system", [builders.node("w2", labels={"kubernetes.io/os": "windows"})], False),
]


@pytest.mark.parametrize("others, room", [case[1:] for case in ROOM], ids=[case[0] for case in ROOM])
def test_room_for_the_pods_of_a_node(others: list[dict[str, Any]], room: bool) -> None:
    scene = Scene(*others, nodes=("w1",), controllers=False)
    assert (warned(scene, "w1", checks=[]) == []) is room


def test_pods_of_a_tainted_pool_may_go_to_its_other_nodes_and_to_those_without_taints() -> None:
    pool = [{"key": "pool", "value": "a", "effect": "NoSchedule"}]
    scene = Scene(builders.node("a1", taints=[*pool, PRESSURE]), builders.node("a2", taints=pool), controllers=False)
    assert warned(scene, "a1", "w1", "w2") == [
        "no node is left for the pods of w1, w2 (a2 has taints or another operating system), "
        "so they will wait until one is available again; take fewer nodes at once"
    ]
    assert warned(scene, "a1", "a2", "w1") == []


def test_it_says_what_it_waits_for_and_how_it_ended() -> None:
    scene = Scene(builders.node("w3", ready=False), owned("w4", "disk-exchange"))
    scene.agenda.after(25, lambda: scene.store.mutate("Node", None, "w3", _get_ready))
    scene.agenda.after(75, lambda: scene.store.remove("Node", None, "w4"))
    owner = "w1: waiting: node w4 is under maintenance by another owner (disk-exchange since 2026-11-30T10:00:00Z)"
    wait = (
        ". Wait for disk-exchange to finish; if that has happened already, uncordon w4 in that name (cordon_owner, "
        "in the role node_drain_cordon_owner), "
        "or list it in ignore_nodes (node_patch_gate_ignore_nodes)"
    )
    assert heard(scene, wait_timeout=600)[1:] == [
        (30.2, owner + wait),
        (50.0, owner + "; 9 m 10 s of 10 m left"),
        (80.0, "w1: may be taken out after 1 m 20 s"),
    ]


def test_a_gate_that_does_not_wait_has_nothing_to_tell() -> None:
    assert heard(Scene(builders.node("w3", ready=False))) == []
    assert heard(Scene(), wait_timeout=600) == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_right_that_is_gone_for_a_moment_ends_no_wait(status: int) -> None:
    scene = Scene(builders.node("w3", ready=False))
    scene.faults.add({"path": "/nodes", "status": status, "after": 1, "times": 3})
    scene.agenda.after(60, lambda: scene.store.mutate("Node", None, "w3", _get_ready))
    assert asked(scene, wait_timeout=300)["open"]


def test_a_right_that_is_gone_for_good_ends_the_wait() -> None:
    scene = Scene(builders.node("w3", ready=False))
    scene.faults.add({"path": "/nodes", "status": 403, "after": 1, "times": 0})
    with pytest.raises(Forbidden):
        asked(scene, wait_timeout=300)
    assert len(scene.requests("GET", "/nodes")) == 7


def test_the_wait_at_the_gate_counts_from_the_tasks_begin() -> None:
    scene = Scene(builders.node("w3", ready=False))
    begun = scene.clock.began = scene.clock.monotonic()
    scene.agenda.advance(20)
    assert not asked(scene, wait_timeout=30)["open"]
    assert scene.clock.monotonic() - begun == 30


def test_an_answer_that_does_not_come_makes_the_wait_at_the_gate_no_longer() -> None:
    scene = Scene(builders.node("w3", ready=False))
    begun = scene.clock.monotonic()
    scene.faults.add({"path": "/nodes", "delay": 60, "after": 2, "times": 0})
    assert not asked(scene, wait_timeout=12, wait_sleep=5)["open"]
    assert scene.clock.monotonic() - begun <= 13


def _get_ready(node: dict[str, Any]) -> None:
    for condition in node["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition["status"] = "True"
