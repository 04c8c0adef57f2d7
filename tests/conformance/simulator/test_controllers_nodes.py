# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints and readiness of nodes, and what becomes of pods of a node that is gone."""

from __future__ import annotations

import pytest
from controlled_cluster import ControlledCluster

from kubesim.builders import node, pod
from kubesim.errors import ApiStatus


def taints(sim: ControlledCluster, name: str = "node-1") -> list[tuple[str, str]]:
    return [(taint["key"], taint["effect"]) for taint in sim.get("Node", name)["spec"].get("taints", [])]


def readiness(sim: ControlledCluster) -> tuple[str, str]:
    return sim.condition("Node", "node-1", "Ready")


def test_a_cordoned_node_gets_the_taint() -> None:
    sim = ControlledCluster()
    sim.cordon("node-1")
    sim.agenda.advance(0.1)
    assert taints(sim) == [("node.kubernetes.io/unschedulable", "NoSchedule")]


def test_an_uncordoned_node_loses_the_taint_and_keeps_others() -> None:
    other = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    sim = ControlledCluster(node("node-1", unschedulable=True, taints=[other]))
    sim.cordon("node-1", False)
    sim.agenda.advance(0.1)
    assert sim.get("Node", "node-1")["spec"]["taints"] == [other]


def test_a_recorded_node_keeps_its_readiness() -> None:
    sim = ControlledCluster(node("node-1", ready=False))
    sim.agenda.advance(3600)
    assert readiness(sim) == ("False", "KubeletNotReady")


def test_a_node_that_is_not_ready_gets_taints() -> None:
    sim = ControlledCluster(node("node-1", ready=False))
    assert taints(sim) == [
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
    ]


def test_a_rebooting_node_is_not_ready_at_once() -> None:
    sim = ControlledCluster()
    sim.controllers.reboot("node-1", down=5)
    assert readiness(sim) == ("False", "KubeletNotReady")


def test_a_rebooted_node_is_ready_with_another_boot_id() -> None:
    sim = ControlledCluster()
    before = sim.get("Node", "node-1")["status"]["nodeInfo"]["bootID"]
    sim.controllers.reboot("node-1", down=5)
    sim.agenda.advance(4.9)
    assert readiness(sim)[0] == "False"
    sim.agenda.advance(0.2)
    assert readiness(sim) == ("True", "KubeletReady")
    assert sim.get("Node", "node-1")["status"]["nodeInfo"]["bootID"] != before
    assert taints(sim) == []


@pytest.mark.parametrize(("version", "expected"), [("v1.36.3", "v1.36.3"), (None, "v1.36.2")])
def test_a_reboot_may_bring_another_kubelet(version: str | None, expected: str) -> None:
    sim = ControlledCluster()
    sim.controllers.reboot("node-1", 1, version)
    sim.agenda.advance(2)
    assert sim.get("Node", "node-1")["status"]["nodeInfo"]["kubeletVersion"] == expected


def test_a_reboot_keeps_a_cordon() -> None:
    sim = ControlledCluster(node("node-1", unschedulable=True))
    sim.controllers.reboot("node-1", 1)
    sim.agenda.advance(2)
    assert taints(sim) == [("node.kubernetes.io/unschedulable", "NoSchedule")]


def test_a_failed_node_is_unknown_in_every_condition() -> None:
    sim = ControlledCluster()
    sim.controllers.fail("node-1")
    conditions = sim.get("Node", "node-1")["status"]["conditions"]
    assert {(c["status"], c["reason"]) for c in conditions} == {("Unknown", "NodeStatusUnknown")}


def test_a_failed_node_recovers() -> None:
    sim = ControlledCluster(pod("web"))
    sim.controllers.fail("node-1")
    sim.agenda.advance(60)
    assert sim.ready() == []
    sim.controllers.recover("node-1")
    sim.agenda.advance(0.1)
    assert (readiness(sim)[0], sim.ready(), taints(sim)) == ("True", ["web"], [])


def test_a_failed_node_that_reboots_is_back() -> None:
    sim = ControlledCluster()
    sim.controllers.fail("node-1")
    sim.controllers.reboot("node-1", down=2)
    sim.agenda.advance(2.1)
    assert readiness(sim)[0] == "True"


def test_nothing_is_evicted_by_taint() -> None:
    sim = ControlledCluster(pod("web"))
    sim.controllers.fail("node-1")
    sim.agenda.advance(3600)
    assert len(sim.pods()) == 1


def test_an_unknown_node_cannot_reboot() -> None:
    with pytest.raises(ApiStatus, match='nodes "node-9" not found'):
        ControlledCluster().controllers.reboot("node-9", 1)


def test_pods_of_a_vanished_node_are_collected() -> None:
    sim = ControlledCluster(pod("web"))
    sim.store.delete("Node", None, "node-1")
    sim.agenda.advance(39)
    assert sim.names("Pod") == ["web"]
    sim.agenda.advance(2)
    assert sim.names("Pod") == []
