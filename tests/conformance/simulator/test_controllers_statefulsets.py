# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""StatefulSets: order, identity, revisions."""

from __future__ import annotations

from typing import Any

from controlled_cluster import ControlledCluster

from kubesim.builders import pod, stateful_set
from kubesim.objects import Object


def images(sim: ControlledCluster) -> dict[str, str]:
    return {found["metadata"]["name"]: found["spec"]["containers"][0]["image"] for found in sim.pods()}


def rolled(**options: Any) -> ControlledCluster:
    """A StatefulSet of three whose image was changed just now."""
    sim = ControlledCluster(stateful_set("kv", 3, image="kv:1", **options))
    sim.set_image("StatefulSet", "kv", "kv:2")
    return sim


def test_pods_start_one_after_the_other() -> None:
    sim = ControlledCluster()
    sim.store.load([stateful_set("kv", 3, start=1)])
    seen = []
    for _step in range(3):
        sim.agenda.advance(0.9)
        seen.append(sim.names("Pod"))
    assert seen == [["kv-0"], ["kv-0", "kv-1"], ["kv-0", "kv-1", "kv-2"]]


def test_parallel_pods_start_together() -> None:
    sim = ControlledCluster()
    sim.store.load([stateful_set("kv", 3, policy="Parallel")])
    sim.agenda.advance(0.1)
    assert sim.names("Pod") == ["kv-0", "kv-1", "kv-2"]


def test_a_pod_carries_its_identity() -> None:
    sim = ControlledCluster(stateful_set("kv", 1))
    found = sim.get("Pod", "kv-0")
    assert (found["spec"]["hostname"], found["spec"]["subdomain"]) == ("kv-0", "kv")
    assert found["metadata"]["labels"] == {
        "app": "kv",
        "apps.kubernetes.io/pod-index": "0",
        "controller-revision-hash": sim.names("ControllerRevision")[0],
        "statefulset.kubernetes.io/pod-name": "kv-0",
    }


def test_a_settled_set_reports_one_revision() -> None:
    sim = ControlledCluster(stateful_set("kv", 3))
    name = sim.names("ControllerRevision")[0]
    assert sim.status("StatefulSet", "kv") == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "currentRevision": name,
        "updateRevision": name,
        "collisionCount": 0,
        "availableReplicas": 3,
    }


def test_an_evicted_pod_comes_back_under_its_name_after_it_is_gone() -> None:
    sim = ControlledCluster(stateful_set("kv", 3, term=2))
    before = sim.get("Pod", "kv-1")["metadata"]["uid"]
    sim.delete("kv-1")
    sim.agenda.advance(1.9)
    assert sim.get("Pod", "kv-1")["metadata"]["uid"] == before
    sim.agenda.advance(1)
    assert sim.get("Pod", "kv-1")["metadata"]["uid"] != before


def test_a_failed_pod_is_replaced() -> None:
    sim = ControlledCluster(stateful_set("kv", 1))
    sim.store.mutate("Pod", "default", "kv-0", lambda obj: obj["status"].update(phase="Failed"))
    sim.agenda.advance(1)
    assert sim.ready() == ["kv-0"]


def test_a_rolling_update_goes_from_the_highest_number_down() -> None:
    sim = rolled(term=1)
    seen = []
    for _step in range(4):
        sim.agenda.advance(1.1)
        seen.append("".join(image[-1] for _name, image in sorted(images(sim).items())))
    assert seen == ["112", "12", "22", "222"]


def test_a_finished_update_makes_the_new_revision_current() -> None:
    sim = rolled()
    sim.agenda.advance(10)
    status = sim.status("StatefulSet", "kv")
    assert status["currentRevision"] == status["updateRevision"]
    assert (len(sim.names("ControllerRevision")), status["currentReplicas"]) == (2, 3)


def test_a_partition_keeps_lower_numbers() -> None:
    sim = rolled(partition=2)
    sim.agenda.advance(10)
    status = sim.status("StatefulSet", "kv")
    assert images(sim) == {"kv-0": "kv:1", "kv-1": "kv:1", "kv-2": "kv:2"}
    assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)


def test_a_pod_below_the_partition_comes_back_as_it_was() -> None:
    sim = rolled(partition=2)
    sim.agenda.advance(10)
    sim.delete("kv-0")
    sim.agenda.advance(3)
    assert images(sim)["kv-0"] == "kv:1"


def test_a_block_without_partition_rolls_all() -> None:
    sim = rolled(partition=None)
    sim.agenda.advance(10)
    assert set(images(sim).values()) == {"kv:2"}


def test_on_delete_waits_for_somebody() -> None:
    sim = rolled(strategy="OnDelete")
    sim.agenda.advance(10)
    assert set(images(sim).values()) == {"kv:1"}
    sim.delete("kv-2")
    sim.agenda.advance(3)
    assert images(sim)["kv-2"] == "kv:2"


def test_an_update_stops_at_a_pod_that_is_not_ready() -> None:
    sim = ControlledCluster(stateful_set("kv", 3, image="kv:1"))
    sim.store.mutate(
        "StatefulSet",
        "default",
        "kv",
        lambda o: o["spec"]["template"]["metadata"].update(annotations={"fake/noready": "1"}),
    )
    sim.agenda.advance(60)
    status = sim.status("StatefulSet", "kv")
    assert (status["readyReplicas"], status["updatedReplicas"]) == (2, 1)


def test_max_unavailable_rolls_several_at_once() -> None:
    sim = ControlledCluster(stateful_set("kv", 4, image="kv:1"))
    sim.store.mutate(
        "StatefulSet",
        "default",
        "kv",
        lambda o: o["spec"]["updateStrategy"].update(rollingUpdate={"maxUnavailable": 2}),
    )
    sim.agenda.advance(1)
    sim.set_image("StatefulSet", "kv", "kv:2")
    sim.agenda.advance(0.5)
    assert len(sim.pods()) == 2


def test_a_smaller_set_ends_its_highest_numbers_in_order() -> None:
    sim = ControlledCluster(stateful_set("kv", 3, term=1))
    sim.store.mutate("StatefulSet", "default", "kv", lambda obj: obj["spec"].update(replicas=1))
    sim.agenda.advance(0.5)
    assert [found["metadata"]["name"] for found in sim.pods()] == ["kv-0", "kv-1"]
    sim.agenda.advance(3)
    assert sim.names("Pod") == ["kv-0"]


def test_min_ready_seconds_delay_the_next_pod() -> None:
    sim = ControlledCluster()
    sim.store.load([stateful_set("kv", 2, min_ready_seconds=10)])
    sim.agenda.advance(9)
    assert sim.names("Pod") == ["kv-0"]
    sim.agenda.advance(3)
    assert sim.names("Pod") == ["kv-0", "kv-1"]


def test_each_pod_gets_its_claim() -> None:
    claiming = stateful_set("kv", 2)
    claiming["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": {}}]
    sim = ControlledCluster(claiming)
    assert sim.names("PersistentVolumeClaim") == ["data-kv-0", "data-kv-1"]
    volumes = sim.get("Pod", "kv-1")["spec"]["volumes"]
    assert volumes == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-kv-1"}}]


def recorded(owner: Object) -> Object:
    return pod("kv-0", owner=owner, labels={"app": "kv", "controller-revision-hash": "kv-7f466b9c75"})


def test_a_recorded_set_without_revisions_does_not_roll() -> None:
    owner = stateful_set("kv", 1)
    owner["status"] = {"currentRevision": "kv-7f466b9c75", "updateRevision": "kv-7f466b9c75"}
    sim = ControlledCluster(owner, recorded(owner))
    sim.agenda.advance(10)
    assert sim.get("Pod", "kv-0")["metadata"]["uid"] == recorded(owner)["metadata"]["uid"]
    assert sim.names("ControllerRevision") == ["kv-7f466b9c75"]
