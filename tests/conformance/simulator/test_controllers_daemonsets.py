# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DaemonSets: a pod per node, taints, revisions."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim.builders import daemon_set, node, pod
from kubesim.objects import Object

EVERYWHERE = [{"operator": "Exists"}]


def homes(sim: ControlledCluster) -> list[str]:
    return sorted(str(found["spec"].get("nodeName")) for found in sim.pods())


def images(sim: ControlledCluster) -> list[str]:
    return sorted(found["spec"]["containers"][0]["image"] for found in sim.pods())


def rolled(**options: Any) -> ControlledCluster:
    """A DaemonSet whose image was changed just now."""
    sim = ControlledCluster(daemon_set("agent", image="agent:1", **options))
    sim.set_image("DaemonSet", "agent", "agent:2")
    return sim


def test_every_node_gets_a_pod() -> None:
    sim = ControlledCluster(daemon_set("agent"))
    assert homes(sim) == ["node-0", "node-1", "node-2"]
    assert sim.status("DaemonSet", "agent") == {
        "currentNumberScheduled": 3,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 3,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
        "numberAvailable": 3,
    }


def test_a_new_node_gets_a_pod() -> None:
    sim = ControlledCluster(daemon_set("agent"))
    sim.load(node("node-3"))
    assert "node-3" in homes(sim)


def test_a_cordoned_node_keeps_and_gets_its_pod() -> None:
    sim = ControlledCluster(node("node-1", unschedulable=True), daemon_set("agent"))
    sim.delete(sim.pods("node-1")[0])
    sim.agenda.advance(3)
    assert homes(sim) == ["node-0", "node-1", "node-2"]


def test_a_control_plane_node_needs_a_toleration() -> None:
    sim = ControlledCluster(node("node-0", control_plane=True), daemon_set("agent"))
    assert homes(sim) == ["node-1", "node-2"]


def test_a_toleration_opens_a_control_plane_node() -> None:
    sim = ControlledCluster(node("node-0", control_plane=True), daemon_set("agent", tolerations=EVERYWHERE))
    assert homes(sim) == ["node-0", "node-1", "node-2"]


def test_a_node_selector_chooses_nodes() -> None:
    sim = ControlledCluster(node("node-2", labels={"gpu": "yes"}), daemon_set("agent", node_selector={"gpu": "yes"}))
    assert homes(sim) == ["node-2"]


def test_a_node_that_loses_its_label_loses_its_pod() -> None:
    sim = ControlledCluster(node("node-2", labels={"gpu": "yes"}), daemon_set("agent", node_selector={"gpu": "yes"}))
    sim.store.mutate("Node", None, "node-2", lambda obj: obj["metadata"]["labels"].pop("gpu"))
    sim.agenda.advance(0.1)
    assert homes(sim) == []


@pytest.mark.parametrize(("effect", "left"), [("NoSchedule", 3), ("NoExecute", 2)])
def test_a_new_taint_only_ends_pods_when_it_says_so(effect: str, left: int) -> None:
    sim = ControlledCluster(daemon_set("agent"))
    taint = {"key": "dedicated", "effect": effect}
    sim.store.mutate("Node", None, "node-1", lambda obj: obj["spec"].update(taints=[taint]))
    sim.agenda.advance(3)
    assert len(sim.pods()) == left


def test_a_pod_is_replaced_once_it_is_gone() -> None:
    sim = ControlledCluster(daemon_set("agent", term=2))
    sim.delete(sim.pods("node-1")[0])
    sim.agenda.advance(1.9)
    assert sim.pods("node-1") == []
    sim.agenda.advance(0.5)
    assert len(sim.pods("node-1")) == 1


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_finished_pod_is_replaced(phase: str) -> None:
    sim = ControlledCluster(daemon_set("agent"), nodes=1)
    name = sim.pods()[0]["metadata"]["name"]
    sim.store.mutate("Pod", "default", name, lambda obj: obj["status"].update(phase=phase))
    sim.agenda.advance(1)
    assert len(sim.ready()) == 1


def test_a_rolling_update_takes_one_node_at_a_time() -> None:
    sim = rolled(term=1)
    for _step in range(60):
        sim.agenda.advance(0.1)
        assert len(sim.ready()) >= 2
    assert images(sim) == ["agent:2"] * 3


def test_max_unavailable_takes_more_nodes() -> None:
    sim = rolled(max_unavailable="60%")
    sim.agenda.advance(0.1)
    assert len(sim.pods()) == 1


def test_a_surge_starts_the_new_pod_beside_the_old_one() -> None:
    sim = rolled(max_surge=1)
    sim.agenda.advance(0.1)
    assert (images(sim), len(sim.ready())) == (["agent:1"] * 3 + ["agent:2"], 3)


def test_a_surge_never_has_a_node_without_a_ready_pod() -> None:
    sim = rolled(max_surge=1)
    ready = set()
    for _step in range(100):
        sim.agenda.advance(0.1)
        ready.add(sim.status("DaemonSet", "agent")["numberReady"])
    assert (ready, images(sim)) == ({3}, ["agent:2"] * 3)


def test_a_surge_stops_at_a_pod_that_is_not_ready() -> None:
    sim = ControlledCluster(daemon_set("agent", image="agent:1", max_surge=1))
    sim.set_image("DaemonSet", "agent", "agent:missing")
    sim.agenda.advance(20)
    assert images(sim) == ["agent:1"] * 3 + ["agent:missing"]


def test_min_ready_seconds_delay_the_next_node() -> None:
    sim = ControlledCluster(daemon_set("agent", image="agent:1", min_ready_seconds=10))
    sim.agenda.advance(20)
    sim.set_image("DaemonSet", "agent", "agent:2")
    sim.agenda.advance(10)
    assert sim.status("DaemonSet", "agent")["updatedNumberScheduled"] == 1
    sim.agenda.advance(5)
    assert sim.status("DaemonSet", "agent")["updatedNumberScheduled"] == 2


def test_a_node_that_is_down_stops_the_update_of_a_set_that_tolerates_everything() -> None:
    sim = ControlledCluster(daemon_set("agent", image="agent:1", tolerations=EVERYWHERE))
    sim.controllers.fail("node-1")
    sim.set_image("DaemonSet", "agent", "agent:2")
    sim.agenda.advance(60)
    status = sim.status("DaemonSet", "agent")
    assert (status["desiredNumberScheduled"], status["numberUnavailable"]) == (3, 1)
    assert images(sim) == ["agent:1", "agent:1"]


def test_a_pod_on_a_node_that_is_down_is_misscheduled() -> None:
    # the controller tolerates not-ready and unreachable with effect NoExecute only
    sim = ControlledCluster(daemon_set("agent"))
    sim.controllers.fail("node-1")
    sim.agenda.advance(60)
    status = sim.status("DaemonSet", "agent")
    assert (status["desiredNumberScheduled"], status["numberMisscheduled"]) == (2, 1)


def test_on_delete_waits_for_somebody() -> None:
    sim = rolled(strategy="OnDelete")
    sim.agenda.advance(10)
    assert images(sim) == ["agent:1"] * 3
    assert "updatedNumberScheduled" not in sim.status("DaemonSet", "agent")


def test_a_rollback_takes_the_old_revision_again() -> None:
    sim = rolled()
    sim.agenda.advance(15)
    sim.set_image("DaemonSet", "agent", "agent:1")
    sim.agenda.advance(15)
    revisions = {found["revision"] for found in sim.store.list("ControllerRevision")}
    assert (images(sim), revisions) == (["agent:1"] * 3, {2, 3})


def recorded(owner: Object) -> list[Object]:
    labels = {"app": "agent", "controller-revision-hash": "6775445dcf"}
    return [pod(f"agent-{number}", owner=owner, labels=labels, node_name=f"node-{number}") for number in range(3)]


def test_recorded_pods_without_revision_do_not_roll() -> None:
    owner = daemon_set("agent")
    sim = ControlledCluster(owner, *recorded(owner))
    sim.agenda.advance(10)
    assert sim.names("Pod") == ["agent-0", "agent-1", "agent-2"]
    assert sim.names("ControllerRevision") == ["agent-6775445dcf"]
