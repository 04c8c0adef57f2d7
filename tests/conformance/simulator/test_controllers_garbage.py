# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes with its owner, and with its namespace."""

from __future__ import annotations

from typing import Any

from controlled_cluster import ControlledCluster

from kubesim.builders import budget, deployment, namespace, pod, replica_set
from kubesim.objects import Object


def test_pods_go_with_their_deployment() -> None:
    sim = ControlledCluster(deployment("web", 2))
    sim.store.delete("Deployment", "default", "web")
    sim.agenda.advance(5)
    assert (sim.names("ReplicaSet"), sim.names("Pod")) == ([], [])


def test_an_owner_that_was_never_there_proves_nothing() -> None:
    sim = ControlledCluster(pod("agent", owner="DaemonSet/agent"))
    sim.agenda.advance(60)
    assert sim.names("Pod") == ["agent"]


def test_a_pod_with_another_owner_stays() -> None:
    first, second = replica_set("one", 0), replica_set("two", 0)
    shared = pod("web", owner=first)
    other = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "two", "uid": second["metadata"]["uid"]}
    shared["metadata"]["ownerReferences"].append(other)
    shared["metadata"]["ownerReferences"][0]["controller"] = False
    sim = ControlledCluster(first, second, shared)
    sim.store.delete("ReplicaSet", "default", "one")
    sim.agenda.advance(5)
    assert [owner["name"] for owner in sim.get("Pod", "web")["metadata"]["ownerReferences"]] == ["two"]


def test_a_foreground_deletion_waits_for_the_dependents() -> None:
    sim = ControlledCluster(deployment("web", 1, term=3))
    sim.store.delete("Deployment", "default", "web", background=False)
    sim.agenda.advance(2)
    assert (sim.names("Deployment"), len(sim.names("Pod"))) == (["web"], 1)
    sim.agenda.advance(2)
    assert (sim.names("Deployment"), sim.names("ReplicaSet"), sim.names("Pod")) == ([], [], [])


def terminating(*objects: Object) -> ControlledCluster:
    """A namespace `shop` that is deleted now."""
    sim = ControlledCluster(namespace("shop"), *objects)
    sim.store.delete("Namespace", None, "shop")
    return sim


def shop_pod(**options: Any) -> Object:
    return pod("web", "shop", **options)


def test_an_empty_namespace_goes() -> None:
    sim = terminating()
    assert sim.get("Namespace", "shop")["status"]["phase"] == "Terminating"
    sim.agenda.advance(6)
    assert "shop" not in sim.names("Namespace")


def test_its_pods_are_deleted_after_some_seconds() -> None:
    sim = terminating(shop_pod(term=2))
    sim.agenda.advance(4.9)
    assert "deletionTimestamp" not in sim.get("Pod", "web", "shop")["metadata"]
    sim.agenda.advance(0.2)
    assert "deletionTimestamp" in sim.get("Pod", "web", "shop")["metadata"]


def test_it_goes_with_everything_in_it() -> None:
    sim = terminating(deployment("web", 2, "shop"), budget("web", "shop", max_unavailable=1))
    sim.agenda.advance(10)
    assert "shop" not in sim.names("Namespace")
    assert [sim.names(kind) for kind in ("Pod", "ReplicaSet", "Deployment", "PodDisruptionBudget")] == [[], [], [], []]


def test_other_things_go_after_the_pods() -> None:
    sim = terminating(shop_pod(term=5), budget("web", "shop", min_available=1))
    sim.agenda.advance(9)
    assert sim.names("PodDisruptionBudget") == ["web"]


def test_a_finalizer_in_it_holds_it() -> None:
    sim = terminating(shop_pod(finalizers=["example.com/hold"]))
    sim.agenda.advance(60)
    conditions = {c["type"]: c for c in sim.get("Namespace", "shop")["status"]["conditions"]}
    assert conditions["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    )
    sim.store.mutate("Pod", "shop", "web", lambda obj: obj["metadata"].pop("finalizers"))
    sim.agenda.advance(1)
    assert "shop" not in sim.names("Namespace")


def test_a_namespace_recorded_as_terminating_goes() -> None:
    sim = ControlledCluster(namespace("shop", terminating=True), pod("web", "shop"))
    sim.agenda.advance(5)
    assert "shop" not in sim.names("Namespace")


def test_nothing_is_made_in_a_namespace_that_goes() -> None:
    sim = terminating(deployment("web", 2, "shop", finalizers=["example.com/hold"]))
    sim.agenda.advance(60)
    assert sim.names("Pod") == []
