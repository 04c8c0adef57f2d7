# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulated kubelets do to pods."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim.builders import deployment, pod
from kubesim.objects import Object, is_pod_ready


def bound(name: str = "web", **options: Any) -> Object:
    return pod(name, phase="Pending", node_name="node-1", **options)


def test_a_bound_pod_is_ready_after_a_fifth_of_a_second() -> None:
    sim = ControlledCluster()
    sim.store.load([bound()])
    sim.agenda.advance(0.19)
    assert not sim.ready()
    sim.agenda.advance(0.02)
    assert sim.ready() == ["web"]


def test_fake_start_is_the_time_until_a_pod_is_ready() -> None:
    sim = ControlledCluster()
    sim.store.load([bound(start=3)])
    sim.agenda.advance(2.9)
    assert sim.get("Pod", "web")["status"]["phase"] == "Pending"
    sim.agenda.advance(0.2)
    assert sim.ready() == ["web"]


def test_a_running_pod_says_so_of_its_containers() -> None:
    sim = ControlledCluster(bound())
    container = sim.get("Pod", "web")["status"]["containerStatuses"][0]
    assert (container["ready"], container["started"], container["restartCount"]) == (True, True, 0)


def test_a_pod_that_is_never_ready_runs_all_the_same() -> None:
    sim = ControlledCluster(bound(never_ready=True))
    found = sim.get("Pod", "web")
    assert (found["status"]["phase"], is_pod_ready(found)) == ("Running", False)


def test_fake_run_ends_a_pod_with_success() -> None:
    sim = ControlledCluster(bound(run=2))
    found = sim.get("Pod", "web")["status"]
    assert (found["phase"], found["containerStatuses"][0]["state"]["terminated"]["exitCode"]) == ("Succeeded", 0)


@pytest.mark.parametrize("term", [1.0, 7.5])
def test_a_deleted_pod_is_gone_after_fake_term(term: float) -> None:
    sim = ControlledCluster(pod("web", term=term))
    sim.delete("web")
    sim.agenda.advance(term - 0.1)
    assert sim.names("Pod") == ["web"]
    sim.agenda.advance(0.2)
    assert sim.names("Pod") == []


def test_a_deleted_pod_is_gone_after_a_second_without_annotation() -> None:
    sim = ControlledCluster(pod("web"))
    sim.delete("web")
    sim.agenda.advance(0.9)
    assert sim.names("Pod") == ["web"]
    sim.agenda.advance(0.2)
    assert sim.names("Pod") == []


def test_a_grace_of_zero_removes_a_pod_at_once() -> None:
    sim = ControlledCluster(pod("web", term=20))
    sim.delete("web", grace=0)
    assert sim.names("Pod") == []


def test_a_grace_of_zero_removes_a_pod_that_is_terminating() -> None:
    sim = ControlledCluster(pod("web", term=20))
    sim.delete("web")
    sim.agenda.advance(1)
    sim.delete("web", grace=0)
    assert sim.names("Pod") == []


def test_a_terminating_pod_stays_ready_until_its_containers_end() -> None:
    sim = ControlledCluster(pod("web", term=2))
    sim.delete("web")
    sim.agenda.advance(1.9)
    assert is_pod_ready(sim.get("Pod", "web"))


def test_a_finalizer_keeps_a_pod_whose_containers_ended() -> None:
    sim = ControlledCluster(pod("web", finalizers=["example.com/hold"]))
    sim.delete("web")
    sim.agenda.advance(60)
    found = sim.get("Pod", "web")
    assert (found["metadata"]["deletionGracePeriodSeconds"], found["status"]["phase"]) == (0, "Failed")


def test_a_pod_goes_when_its_finalizer_is_lifted_after_its_containers_ended() -> None:
    sim = ControlledCluster(pod("web", finalizers=["example.com/hold"]))
    sim.delete("web")
    sim.agenda.advance(60)
    sim.store.mutate("Pod", "default", "web", lambda obj: obj["metadata"].pop("finalizers"))
    assert sim.names("Pod") == []


def test_a_pod_recorded_while_terminating_goes_after_fake_term() -> None:
    sim = ControlledCluster()
    sim.store.load([pod("web", term=3, deleted="2026-09-21T14:00:00Z")])
    sim.agenda.advance(2.9)
    assert sim.names("Pod") == ["web"]
    sim.agenda.advance(0.2)
    assert sim.names("Pod") == []


def test_a_recorded_pod_is_left_as_it_is() -> None:
    recorded = pod("web", ready=False)
    sim = ControlledCluster(recorded)
    assert sim.get("Pod", "web")["status"] == recorded["status"]


def test_a_mirror_pod_comes_back() -> None:
    sim = ControlledCluster(pod("proxy-node-1", mirror=True))
    before = sim.get("Pod", "proxy-node-1")["metadata"]["uid"]
    sim.delete("proxy-node-1")
    sim.agenda.advance(2)
    after = sim.get("Pod", "proxy-node-1")
    assert (after["metadata"]["uid"] != before, is_pod_ready(after)) == (True, True)


def test_nothing_terminates_on_a_failed_node() -> None:
    sim = ControlledCluster(pod("web"))
    sim.controllers.fail("node-1")
    sim.delete("web")
    sim.agenda.advance(3600)
    assert sim.names("Pod") == ["web"]


def test_nothing_starts_on_a_failed_node() -> None:
    sim = ControlledCluster()
    sim.controllers.fail("node-1")
    sim.load(bound())
    assert sim.get("Pod", "web")["status"]["phase"] == "Pending"


def test_a_recovered_node_finishes_what_was_terminating() -> None:
    sim = ControlledCluster(pod("web"))
    sim.controllers.fail("node-1")
    sim.delete("web")
    sim.agenda.advance(60)
    sim.controllers.recover("node-1")
    sim.agenda.advance(1.1)
    assert sim.names("Pod") == []


def test_a_node_recorded_as_unknown_has_no_kubelet() -> None:
    sim = ControlledCluster(pod("web"))
    sim.store.mutate("Node", None, "node-1", lambda obj: obj["status"]["conditions"][-1].update(status="Unknown"))
    sim.delete("web")
    sim.agenda.advance(3600)
    assert sim.names("Pod") == ["web"]


def test_a_reboot_restarts_containers() -> None:
    sim = ControlledCluster(pod("web"))
    sim.controllers.reboot("node-1", down=5)
    sim.agenda.advance(5.5)
    container = sim.get("Pod", "web")["status"]["containerStatuses"][0]
    assert (container["restartCount"], container["ready"]) == (1, True)
    assert container["lastState"]["terminated"]["exitCode"] == 255


def test_a_reboot_fails_a_pod_that_may_not_restart() -> None:
    sim = ControlledCluster(pod("batch", restart_policy="Never"))
    sim.controllers.reboot("node-1", down=1)
    sim.agenda.advance(2)
    assert sim.get("Pod", "batch")["status"]["phase"] == "Failed"


def test_a_reboot_ends_what_was_terminating() -> None:
    sim = ControlledCluster(pod("web", term=600))
    sim.delete("web")
    sim.controllers.reboot("node-1", down=5)
    sim.agenda.advance(4.9)
    assert sim.names("Pod") == ["web"]
    sim.agenda.advance(0.2)
    assert sim.names("Pod") == []


def test_pods_are_not_ready_while_their_node_is_down() -> None:
    sim = ControlledCluster(deployment("web", 3))
    sim.controllers.reboot("node-1", down=5)
    sim.agenda.advance(1)
    assert len(sim.ready()) == 2
    sim.agenda.advance(5)
    assert len(sim.ready()) == 3
