# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which node a pod gets, and what the scheduler says when there is none."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim.builders import daemon_set, deployment, node, pod
from kubesim.objects import Object


def pending(name: str = "web", **options: Any) -> Object:
    return pod(name, phase="Pending", node_name=None, **options)


def message(sim: ControlledCluster, name: str = "web") -> str:
    conditions = sim.get("Pod", name)["status"]["conditions"]
    return str(next(c for c in conditions if c["type"] == "PodScheduled")["message"])


def home(sim: ControlledCluster, name: str = "web") -> str | None:
    node_name: str | None = sim.get("Pod", name)["spec"].get("nodeName")
    return node_name


def required(**rule: Any) -> Object:
    terms = [{"matchExpressions": [rule]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def apart(labels: dict[str, str], topology: str = "kubernetes.io/hostname") -> Object:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": topology}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_a_pod_is_bound_and_says_so() -> None:
    sim = ControlledCluster(pending(), nodes=1)
    assert (home(sim), sim.condition("Pod", "web", "PodScheduled")) == ("node-0", ("True", ""))


def test_binding_is_no_new_generation_of_the_pod() -> None:
    sim = ControlledCluster(pending())
    assert sim.get("Pod", "web")["metadata"]["generation"] == 1


def test_pods_of_a_workload_spread_over_nodes() -> None:
    sim = ControlledCluster(deployment("web", 6))
    assert [len(sim.pods(f"node-{number}")) for number in range(3)] == [2, 2, 2]


def test_a_cordoned_node_gets_no_pod() -> None:
    sim = ControlledCluster(node("node-0", unschedulable=True), pending(), nodes=1)
    assert sim.condition("Pod", "web", "PodScheduled") == ("False", "Unschedulable")


@pytest.mark.parametrize(
    ("blocked", "reason"),
    [
        (node("node-0", unschedulable=True), "1 node(s) were unschedulable"),
        (node("node-0", ready=False), "1 node(s) had untolerated taint(s)"),
        (node("node-0", control_plane=True), "1 node(s) had untolerated taint(s)"),
    ],
)
def test_the_scheduler_says_why(blocked: Object, reason: str) -> None:
    sim = ControlledCluster(blocked, pending(), nodes=1)
    rest = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert message(sim) == f"0/1 nodes are available: {reason}. no new claims to deallocate, {rest}"


@pytest.mark.parametrize(
    ("offer", "asked", "reason"),
    [({"pods": 0}, {}, "1 Too many pods"), ({}, {"cpu": "9"}, "1 Insufficient cpu")],
)
def test_the_scheduler_says_what_is_too_little(offer: Any, asked: dict[str, str], reason: str) -> None:
    sim = ControlledCluster(node("node-0", **offer), pending(requests=asked), nodes=1)
    rest = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    assert message(sim) == f"0/1 nodes are available: {reason}. no new claims to deallocate, {rest}"


def test_requests_of_other_pods_are_taken() -> None:
    placed = pod("big", node_name="node-0", requests={"memory": "20Gi"})
    sim = ControlledCluster(placed, pending(requests={"memory": "13Gi"}), nodes=1)
    assert message(sim).startswith("0/1 nodes are available: 1 Insufficient memory. ")


def test_the_scheduler_counts_nodes_by_reason() -> None:
    sim = ControlledCluster(node("node-0", unschedulable=True), pending(node_selector={"disk": "ssd"}))
    reasons = "1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector"
    assert message(sim).startswith(f"0/3 nodes are available: {reasons}. ")


def test_without_nodes_there_is_another_sentence() -> None:
    assert message(ControlledCluster(pending(), nodes=0)) == "no nodes available to schedule pods"


def test_an_uncordon_lets_a_waiting_pod_in() -> None:
    sim = ControlledCluster(node("node-0", unschedulable=True), pending(), nodes=1)
    sim.cordon("node-0", False)
    sim.agenda.advance(0.5)
    assert home(sim) == "node-0"


def test_a_pod_that_leaves_makes_room() -> None:
    sim = ControlledCluster(node("node-0", pods=1), pod("old", node_name="node-0"), pending(), nodes=1)
    sim.delete("old")
    sim.agenda.advance(2)
    assert home(sim) == "node-0"


def test_a_finished_pod_takes_no_room() -> None:
    done = pod("old", node_name="node-0", phase="Succeeded")
    assert home(ControlledCluster(node("node-0", pods=1), done, pending(), nodes=1)) == "node-0"


def test_a_node_selector_chooses() -> None:
    sim = ControlledCluster(node("node-2", labels={"disk": "ssd"}), pending(node_selector={"disk": "ssd"}))
    assert home(sim) == "node-2"


@pytest.mark.parametrize(
    "rule",
    [
        {"key": "zone", "operator": "In", "values": ["b"]},
        {"key": "zone", "operator": "Exists"},
        {"key": "size", "operator": "Gt", "values": ["3"]},
    ],
)
def test_node_affinity_chooses(rule: dict[str, Any]) -> None:
    sim = ControlledCluster(node("node-2", labels={"zone": "b", "size": "4"}), pending(affinity=required(**rule)))
    assert home(sim) == "node-2"


def test_a_toleration_opens_a_tainted_node() -> None:
    tainted = node("node-0", taints=[{"key": "dedicated", "value": "db", "effect": "NoSchedule"}])
    tolerating = pending(tolerations=[{"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}])
    assert home(ControlledCluster(tainted, tolerating, nodes=1)) == "node-0"


def test_anti_affinity_keeps_pods_of_a_workload_apart() -> None:
    sim = ControlledCluster(deployment("web", 4, affinity=apart({"app": "web"})))
    homes = sorted(str(pod["spec"].get("nodeName")) for pod in sim.pods())
    assert homes == ["None", "node-0", "node-1", "node-2"]


def test_anti_affinity_of_a_running_pod_keeps_others_away() -> None:
    lonely = pod("lonely", node_name="node-0", affinity=apart({"app": "web"}))
    sim = ControlledCluster(lonely, pending(labels={"app": "web"}), nodes=1)
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in message(sim)


def test_anti_affinity_counts_whole_zones() -> None:
    zoned = [node(f"node-{number}", labels={"zone": "ab"[number // 2]}) for number in range(3)]
    running = pod("one", node_name="node-0", labels={"app": "web"})
    sim = ControlledCluster(*zoned, running, pending(affinity=apart({"app": "web"}, "zone")))
    assert home(sim) == "node-2"


def test_a_daemon_pod_is_bound_to_its_node_though_cordoned() -> None:
    sim = ControlledCluster(node("node-1", unschedulable=True), daemon_set("agent"))
    assert len(sim.pods("node-1")) == 1
