# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events: what is told about whom, and how often."""

from __future__ import annotations

from controlled_cluster import ControlledCluster

from kubesim.builders import deployment, pod, stateful_set
from kubesim.controllers.events import KEPT_SECONDS, Recorder
from kubesim.objects import Object


def told(sim: ControlledCluster, kind: str) -> list[tuple[str, str]]:
    """Return reason and message of the events about objects of a kind, in their order."""
    events = [event for event in sim.store.list("Event") if event["involvedObject"]["kind"] == kind]
    events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [(event["reason"], event["message"]) for event in events]


def test_a_pods_way_to_its_first_minute_is_told() -> None:
    sim = ControlledCluster(pod("web", node_name=None, phase="Pending"), nodes=1)
    assert told(sim, "Pod") == [
        ("Scheduled", "Successfully assigned default/web to node-0"),
        ("Pulled", 'Container image "registry.example/app:1" already present on machine'),
        ("Created", "Created container: app"),
        ("Started", "Started container app"),
    ]


def test_the_end_of_a_pod_is_told_once() -> None:
    sim = ControlledCluster(pod("web"))
    sim.delete("web")
    sim.agenda.advance(1)
    assert told(sim, "Pod") == [("Killing", "Stopping container app")]


def test_a_rollout_is_told_by_what_is_scaled() -> None:
    sim = ControlledCluster(deployment("web", 2))
    name = sim.names("ReplicaSet")[0]
    assert told(sim, "Deployment") == [("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 2")]


def test_a_stateful_set_tells_which_pod_it_made() -> None:
    sim = ControlledCluster(stateful_set("kv", 1))
    assert told(sim, "StatefulSet") == [("SuccessfulCreate", "create Pod kv-0 in StatefulSet kv successful")]


def recorder() -> tuple[ControlledCluster, Recorder, Object]:
    sim = ControlledCluster(pod("web"))
    return sim, Recorder(sim.store, sim.agenda), sim.get("Pod", "web")


def test_the_same_words_are_one_event_with_a_count() -> None:
    sim, events, about = recorder()
    for _time in range(3):
        events.record(about, "Warning", "Failed", "no", "kubelet")
        sim.agenda.advance(5)
    (event,) = sim.store.list("Event")
    assert (event["count"], event["firstTimestamp"], event["lastTimestamp"]) == (
        3,
        "2026-09-21T14:13:25Z",
        "2026-09-21T14:13:35Z",
    )


def test_an_event_names_its_object_and_who_recorded_it() -> None:
    sim, events, about = recorder()
    events.record(about, "Warning", "Failed", "no", "kubelet", "spec.containers{app}")
    (event,) = sim.store.list("Event")
    assert event["involvedObject"] == {
        "kind": "Pod",
        "name": "web",
        "uid": about["metadata"]["uid"],
        "apiVersion": "v1",
        "resourceVersion": about["metadata"]["resourceVersion"],
        "namespace": "default",
        "fieldPath": "spec.containers{app}",
    }
    assert event["source"] == {"component": "kubelet", "host": "node-1"}


def test_an_event_is_kept_for_an_hour() -> None:
    sim, events, about = recorder()
    events.record(about, "Warning", "Failed", "old", "kubelet")
    sim.agenda.advance(KEPT_SECONDS + 1)
    events.record(about, "Warning", "Failed", "new", "kubelet")
    assert [event["message"] for event in sim.store.list("Event")] == ["new"]
