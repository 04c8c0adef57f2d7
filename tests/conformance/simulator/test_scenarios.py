# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters to begin with are at rest, and stay so when they are loaded."""

from __future__ import annotations

from collections import Counter

import pytest

from kubesim import scenarios
from kubesim.agenda import TEST_EPOCH, Agenda
from kubesim.controllers.wiring import Controllers
from kubesim.objects import Object, is_pod_ready
from kubesim.store import Store


def kinds(objects: list[Object]) -> dict[str, int]:
    return dict(Counter(obj["kind"] for obj in objects))


def homes(objects: list[Object]) -> dict[str, int]:
    return dict(Counter(obj["spec"]["nodeName"] for obj in objects if obj["kind"] == "Pod"))


def test_the_demo_has_what_it_promises() -> None:
    found = kinds(scenarios.demo(TEST_EPOCH))
    assert found == {
        "Node": 5,
        "Namespace": 2,
        "Pod": 40,
        "Deployment": 2,
        "ReplicaSet": 2,
        "StatefulSet": 1,
        "DaemonSet": 1,
        "ControllerRevision": 2,
        "Job": 1,
        "PodDisruptionBudget": 3,
        "CSINode": 5,
    }


def test_everything_of_the_demo_is_ready_but_what_is_finished() -> None:
    unready = [
        obj["metadata"]["name"] for obj in scenarios.demo(TEST_EPOCH) if obj["kind"] == "Pod" and not is_pod_ready(obj)
    ]
    assert unready == ["migration"]


def test_every_budget_of_the_demo_has_room() -> None:
    budgets = [obj for obj in scenarios.demo(TEST_EPOCH) if obj["kind"] == "PodDisruptionBudget"]
    assert {b["metadata"]["name"]: b["status"]["disruptionsAllowed"] for b in budgets} == {
        "web": 3,
        "api": 2,
        "orders": 1,
    }


@pytest.mark.parametrize("name", ["demo", "full-node", "budget", "drained"])
def test_a_loaded_scenario_stays_at_rest(name: str) -> None:
    agenda = Agenda(TEST_EPOCH)
    store = Store(agenda)
    Controllers(store, agenda)
    store.load(scenarios.scenario(name, TEST_EPOCH))
    loaded = store.resource_version
    agenda.advance(60)
    assert store.resource_version == loaded


def test_the_full_node_is_full() -> None:
    assert homes(scenarios.bench_full_node(pods=20, now=TEST_EPOCH)) == {"worker-1": 20}


def test_the_bench_budget_allows_what_is_asked_for() -> None:
    budget = next(o for o in scenarios.bench_budget(12, 4, now=TEST_EPOCH) if o["kind"] == "PodDisruptionBudget")
    assert budget["status"]["disruptionsAllowed"] == 4


def test_the_rollout_bench_has_many_deployments() -> None:
    assert kinds(scenarios.bench_deployments(10, TEST_EPOCH))["Deployment"] == 10


def test_no_uid_is_drawn_again_by_the_cluster_that_loads_a_scenario() -> None:
    objects = scenarios.demo(TEST_EPOCH)
    fresh = Store(Agenda(TEST_EPOCH))
    assert not {obj["metadata"]["uid"] for obj in objects} & {fresh.new_uid() for _draw in range(500)}


def test_an_unknown_scenario_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no scenario 'x'; there are budget, demo, deployments, drained, full-node"):
        scenarios.scenario("x")


def rolling(count: int, finish: int) -> tuple[Agenda, Store]:
    agenda = Agenda(TEST_EPOCH)
    store = Store(agenda)
    Controllers(store, agenda)
    store.load(scenarios.scenario(f"rolling:count={count},finish_seconds={finish}", TEST_EPOCH))
    return agenda, store


def finished(store: Store) -> int:
    conditions = [c for deployment in store.list("Deployment") for c in deployment["status"]["conditions"]]
    return sum(c["reason"] == "NewReplicaSetAvailable" for c in conditions)


def test_rolling_deployments_finish_together_at_the_second_asked_for() -> None:
    agenda, store = rolling(6, 5)
    agenda.advance(4.9)
    assert finished(store) == 0
    agenda.advance(0.3)
    assert finished(store) == 6


def test_rolling_deployments_have_old_and_new_pods() -> None:
    images = Counter(pod["spec"]["containers"][0]["image"] for pod in rolling(6, 5)[1].list("Pod"))
    assert images == {"registry.example/app:1": 6, "registry.example/app:2": 6}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("none", "no scenario 'none'; there are budget, demo, deployments, drained, full-node, rolling"),
        ("demo:count=3", "scenario 'demo' has no number among count"),
    ],
)
def test_a_scenario_that_there_is_not_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        scenarios.scenario(name, TEST_EPOCH)
    assert str(caught.value) == complaint
