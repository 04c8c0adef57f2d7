# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments and ReplicaSets."""

from __future__ import annotations

from controlled_cluster import ControlledCluster

from kubesim.builders import deployment, pod, replica_set
from kubesim.objects import Object


def replicas(sim: ControlledCluster) -> list[int]:
    """The sizes of all ReplicaSets by revision."""
    sets = sim.store.list("ReplicaSet")
    sets.sort(key=lambda found: int(found["metadata"]["annotations"]["deployment.kubernetes.io/revision"]))
    return [found["spec"]["replicas"] for found in sets]


def images(sim: ControlledCluster) -> list[str]:
    return sorted(found["spec"]["containers"][0]["image"] for found in sim.pods())


def revision(sim: ControlledCluster) -> str:
    return str(sim.get("Deployment", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"])


def test_a_deployment_is_available() -> None:
    sim = ControlledCluster(deployment("web", 3))
    assert sim.status("Deployment", "web") == {
        "observedGeneration": 1,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "terminatingReplicas": 0,
    }
    assert sim.condition("Deployment", "web", "Available") == ("True", "MinimumReplicasAvailable")
    assert sim.condition("Deployment", "web", "Progressing") == ("True", "NewReplicaSetAvailable")


def test_its_replica_set_carries_hash_and_revision() -> None:
    sim = ControlledCluster(deployment("web", 3))
    found = sim.store.list("ReplicaSet")[0]
    name_hash = found["metadata"]["labels"]["pod-template-hash"]
    assert found["metadata"]["name"] == f"web-{name_hash}"
    assert found["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": name_hash}
    assert found["metadata"]["annotations"] == {
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
        "deployment.kubernetes.io/revision": "1",
    }


def test_a_deleted_pod_is_replaced_at_once() -> None:
    sim = ControlledCluster(deployment("web", 3))
    sim.delete(sim.pods()[0])
    sim.agenda.advance(0.1)
    assert len(sim.pods()) == 3


def test_a_terminating_pod_is_counted_apart() -> None:
    sim = ControlledCluster(deployment("web", 3, term=10))
    sim.delete(sim.pods()[0])
    sim.agenda.advance(1)
    status = sim.status("Deployment", "web")
    assert (status["replicas"], status["terminatingReplicas"]) == (3, 1)


def test_a_failed_pod_is_replaced() -> None:
    sim = ControlledCluster(deployment("web", 1))
    name = sim.pods()[0]["metadata"]["name"]
    sim.store.mutate("Pod", "default", name, lambda obj: obj["status"].update(phase="Failed"))
    sim.agenda.advance(1)
    assert [found["status"]["phase"] for found in sim.pods()].count("Running") == 1


def test_a_new_image_rolls_all_pods() -> None:
    sim = ControlledCluster(deployment("web", 4))
    sim.set_image("Deployment", "web", "app:2")
    sim.agenda.advance(10)
    assert (images(sim), replicas(sim), revision(sim)) == (["app:2"] * 4, [0, 4], "2")
    assert sim.condition("Deployment", "web", "Progressing") == ("True", "NewReplicaSetAvailable")


def test_a_rollout_keeps_within_surge_and_unavailability() -> None:
    sim = ControlledCluster(deployment("web", 4, max_surge=1, max_unavailable=1))
    sim.set_image("Deployment", "web", "app:2")
    for _step in range(100):
        sim.agenda.advance(0.05)
        assert len(sim.pods()) <= 5
        assert len(sim.ready()) >= 3


def test_a_recreate_starts_after_the_last_old_pod_is_gone() -> None:
    sim = ControlledCluster(deployment("web", 2, strategy="Recreate", term=3))
    sim.set_image("Deployment", "web", "app:2")
    sim.agenda.advance(2.9)
    assert (sim.pods(), replicas(sim)) == ([], [0])
    sim.agenda.advance(1)
    assert images(sim) == ["app:2"] * 2


def test_an_old_template_is_rolled_back_to_its_replica_set() -> None:
    sim = ControlledCluster(deployment("web", 2))
    first = sim.names("ReplicaSet")
    for image in ("app:2", "registry.example/app:1"):
        sim.set_image("Deployment", "web", image)
        sim.agenda.advance(10)
    assert (len(sim.names("ReplicaSet")), revision(sim)) == (2, "3")
    found = sim.get("ReplicaSet", first[0])["metadata"]["annotations"]
    assert found["deployment.kubernetes.io/revision-history"] == "1"


def test_a_paused_deployment_scales_and_does_not_roll() -> None:
    sim = ControlledCluster(deployment("web", 2, paused=True))
    assert sim.names("ReplicaSet") == []
    sim.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(paused=False))
    sim.agenda.advance(2)
    sim.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(paused=True, replicas=3))
    sim.set_image("Deployment", "web", "app:2")
    sim.agenda.advance(5)
    assert images(sim) == ["registry.example/app:1"] * 3
    assert sim.condition("Deployment", "web", "Progressing") == ("Unknown", "DeploymentPaused")


def test_scaling_is_no_rollout() -> None:
    sim = ControlledCluster(deployment("web", 2))
    sim.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(replicas=5))
    sim.agenda.advance(2)
    assert (replicas(sim), revision(sim), len(sim.ready())) == ([5], "1", 5)


def test_scaling_during_a_rollout_is_shared() -> None:
    sim = ControlledCluster(deployment("web", 10, max_surge=3, max_unavailable=2))
    sim.store.mutate(
        "Deployment",
        "default",
        "web",
        lambda o: o["spec"]["template"]["metadata"].update(annotations={"fake/noready": "1"}),
    )
    sim.agenda.advance(5)
    assert replicas(sim) == [8, 5]
    sim.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(replicas=15))
    sim.agenda.advance(0.03)
    # the example in the documentation of proportional scaling: 5 more are added 3 to 2
    assert replicas(sim) == [11, 7]


def test_a_rollout_without_progress_exceeds_its_deadline() -> None:
    sim = ControlledCluster(deployment("web", 1, deadline=10, never_ready=True))
    sim.agenda.advance(4)
    assert sim.condition("Deployment", "web", "Progressing") == ("True", "ReplicaSetUpdated")
    sim.agenda.advance(4)
    assert sim.condition("Deployment", "web", "Progressing") == ("False", "ProgressDeadlineExceeded")


def test_min_ready_seconds_delay_availability() -> None:
    sim = ControlledCluster()
    sim.store.load([deployment("web", 1, min_ready_seconds=10)])
    sim.agenda.advance(9)
    assert "availableReplicas" not in sim.status("Deployment", "web")
    sim.agenda.advance(2)
    assert sim.status("Deployment", "web")["availableReplicas"] == 1


def test_old_replica_sets_beyond_the_limit_are_deleted() -> None:
    limited = deployment("web", 1)
    limited["spec"]["revisionHistoryLimit"] = 1
    sim = ControlledCluster(limited)
    for number in (2, 3, 4):
        sim.set_image("Deployment", "web", f"app:{number}")
        sim.agenda.advance(5)
    assert len(sim.names("ReplicaSet")) == 2


def recorded(image: str = "registry.example/app:1") -> list[Object]:
    """A Deployment with the ReplicaSet and pod that a real controller made, hash included."""
    owner = deployment("web", 1, image=image)
    owned = replica_set("web-bb9d95677", 1, owner=owner, labels={"app": "web", "pod-template-hash": "bb9d95677"})
    owned["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    return [owner, owned, pod("web-bb9d95677-x", owner=owned, labels=owned["metadata"]["labels"])]


def test_recorded_objects_are_taken_over() -> None:
    sim = ControlledCluster(*recorded())
    assert (sim.names("ReplicaSet"), sim.names("Pod")) == (["web-bb9d95677"], ["web-bb9d95677-x"])


def test_recorded_objects_of_another_template_roll() -> None:
    sim = ControlledCluster(*recorded(image="app:2"))
    assert (len(sim.names("ReplicaSet")), images(sim)) == (2, ["app:2"])


def test_a_replica_set_without_deployment_keeps_its_number() -> None:
    sim = ControlledCluster(replica_set("web", 3))
    assert len(sim.ready()) == 3


def test_a_replica_set_gives_up_pods_that_are_not_ready_first() -> None:
    sim = ControlledCluster(replica_set("web", 3), pod("web-bad", labels={"app": "web"}, ready=False))
    sim.store.mutate("ReplicaSet", "default", "web", lambda obj: obj["spec"].update(replicas=2))
    sim.agenda.advance(0.1)
    assert len(sim.ready()) == len(sim.pods()) == 2


def test_a_replica_set_adopts_what_it_selects() -> None:
    sim = ControlledCluster(pod("web-0", labels={"app": "web"}), replica_set("web", 1))
    assert sim.names("Pod") == ["web-0"]
    assert sim.get("Pod", "web-0")["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet"


def test_a_pod_that_is_relabelled_is_let_go() -> None:
    sim = ControlledCluster(replica_set("web", 1))
    name = sim.pods()[0]["metadata"]["name"]
    sim.store.mutate("Pod", "default", name, lambda obj: obj["metadata"].update(labels={"app": "debug"}))
    sim.agenda.advance(1)
    assert len(sim.pods()) == 2
    assert "ownerReferences" not in sim.get("Pod", name)["metadata"]
