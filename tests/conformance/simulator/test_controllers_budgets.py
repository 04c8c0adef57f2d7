# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the disruption controller says of budgets, and which violations it notes."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim.agenda import timestamp
from kubesim.builders import budget, daemon_set, deployment, pod, stateful_set
from kubesim.objects import Object


def numbers(sim: ControlledCluster, name: str = "web") -> tuple[int, int, int, int]:
    """Return expected, desired, healthy and allowed."""
    status = sim.status("PodDisruptionBudget", name)
    keys = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    return tuple(status[key] for key in keys)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"min_available": 2}, (5, 2, 5, 3)),
        ({"min_available": 5}, (5, 5, 5, 0)),
        ({"min_available": 9}, (5, 9, 5, 0)),
        ({"min_available": "50%"}, (5, 3, 5, 2)),
        ({"max_unavailable": 1}, (5, 4, 5, 1)),
        ({"max_unavailable": 0}, (5, 5, 5, 0)),
        ({"max_unavailable": 9}, (5, 0, 5, 5)),
        ({"max_unavailable": "30%"}, (5, 3, 5, 2)),
    ],
)
def test_numbers_and_percentages(rule: dict[str, Any], expected: tuple[int, int, int, int]) -> None:
    assert numbers(ControlledCluster(deployment("web", 5), budget("web", **rule))) == expected


@pytest.mark.parametrize(
    ("rule", "condition"),
    [({"max_unavailable": 1}, ("True", "SufficientPods")), ({"max_unavailable": 0}, ("False", "InsufficientPods"))],
)
def test_the_condition_says_whether_there_is_room(rule: dict[str, Any], condition: tuple[str, str]) -> None:
    sim = ControlledCluster(deployment("web", 2), budget("web", **rule))
    assert sim.condition("PodDisruptionBudget", "web", "DisruptionAllowed") == condition


def test_a_budget_over_nothing_allows_nothing() -> None:
    assert numbers(ControlledCluster(budget("web", min_available=0))) == (0, 0, 0, 0)


def test_an_empty_selector_takes_the_whole_namespace() -> None:
    sim = ControlledCluster(deployment("a", 2), stateful_set("b", 1), budget("web", selector={}, max_unavailable=1))
    assert numbers(sim) == (3, 2, 3, 1)


def test_match_expressions_select() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}
    sim = ControlledCluster(deployment("a", 2), deployment("c", 2), budget("web", selector=selector, min_available=1))
    assert numbers(sim)[0] == 2


def test_bare_pods_count_for_a_number() -> None:
    pods = [pod(f"web-{number}", labels={"app": "web"}) for number in range(3)]
    assert numbers(ControlledCluster(*pods, budget("web", min_available=2))) == (3, 2, 3, 1)


def test_bare_pods_have_no_scale() -> None:
    pods = [pod(f"web-{number}", labels={"app": "web"}) for number in range(3)]
    assert numbers(ControlledCluster(*pods, budget("web", max_unavailable=1))) == (0, 0, 3, 0)


def test_a_daemon_set_has_no_scale() -> None:
    sim = ControlledCluster(daemon_set("web"), budget("web", max_unavailable=1))
    found = sim.get("PodDisruptionBudget", "web")["status"]
    assert found["conditions"][0]["reason"] == "SyncFailed"
    assert found["conditions"][0]["message"] == "daemonsets.apps does not implement the scale subresource"
    assert found["disruptionsAllowed"] == 0


def test_the_scale_counts_and_not_the_pods() -> None:
    sim = ControlledCluster(deployment("web", 10, affinity=None), budget("web", max_unavailable=1), nodes=0)
    assert numbers(sim) == (10, 9, 0, 0)


def test_a_changed_scale_is_heard_of() -> None:
    sim = ControlledCluster(deployment("web", 4), budget("web", min_available="50%"))
    sim.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(replicas=8))
    sim.agenda.advance(2)
    assert numbers(sim) == (8, 4, 8, 4)


def test_a_terminating_pod_is_not_healthy() -> None:
    sim = ControlledCluster(deployment("web", 3, term=10, start=5), budget("web", max_unavailable=1))
    sim.agenda.advance(5)
    sim.delete(sim.pods()[0])
    sim.agenda.advance(0.1)
    assert numbers(sim) == (3, 2, 2, 0)


def test_room_comes_back_when_the_replacement_is_ready() -> None:
    sim = ControlledCluster(deployment("web", 3, start=2), budget("web", max_unavailable=1))
    sim.delete(sim.pods()[0])
    sim.agenda.advance(1.9)
    assert numbers(sim)[3] == 0
    sim.agenda.advance(0.3)
    assert numbers(sim)[3] == 1


def test_the_status_follows_a_few_milliseconds_later() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", max_unavailable=1))
    sim.delete(sim.pods()[0])
    assert numbers(sim)[3] == 1
    sim.agenda.advance(0.02)
    assert numbers(sim)[3] == 0


def test_a_new_generation_is_observed() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", max_unavailable=1))
    sim.store.mutate("PodDisruptionBudget", "default", "web", lambda obj: obj["spec"].update(maxUnavailable=2))
    sim.agenda.advance(0.1)
    assert (sim.status("PodDisruptionBudget", "web")["observedGeneration"], numbers(sim)[3]) == (2, 2)


def with_disruption(sim: ControlledCluster) -> Object:
    """Book an eviction that does not happen, as one whose precondition failed."""
    name = sim.pods()[0]["metadata"]["name"]

    def book(obj: Object) -> None:
        obj["status"]["disruptionsAllowed"] -= 1
        obj["status"]["disruptedPods"] = {name: timestamp(sim.agenda.now)}

    sim.store.mutate("PodDisruptionBudget", "default", "web", book)
    return sim.pods()[0]


def test_a_recorded_eviction_counts_for_two_minutes() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", max_unavailable=1))
    with_disruption(sim)
    sim.agenda.advance(119)
    assert numbers(sim) == (3, 2, 2, 0)
    sim.agenda.advance(2)
    assert numbers(sim) == (3, 2, 3, 1)
    assert "disruptedPods" not in sim.status("PodDisruptionBudget", "web")


def test_a_recorded_eviction_is_removed_when_its_pod_is_deleted() -> None:
    sim = ControlledCluster(deployment("web", 3, term=30), budget("web", max_unavailable=1))
    sim.delete(with_disruption(sim))
    sim.agenda.advance(5)
    assert "disruptedPods" not in sim.status("PodDisruptionBudget", "web")


def test_pods_that_change_their_labels_leave_a_budget() -> None:
    sim = ControlledCluster(pod("one", labels={"app": "web"}), budget("web", min_available=0))
    sim.store.mutate("Pod", "default", "one", lambda obj: obj["metadata"].update(labels={"app": "other"}))
    sim.agenda.advance(0.1)
    assert numbers(sim)[0] == 0


def test_a_violation_is_noted_once() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", max_unavailable=1))
    for found in sim.pods()[:2]:
        sim.delete(found)
    sim.agenda.advance(5)
    noted = [{key: value for key, value in entry.items() if key != "at"} for entry in sim.controllers.violations]
    assert noted == [{"namespace": "default", "budget": "web", "healthy": 1, "desired": 2}]


def test_what_a_budget_allows_is_no_violation() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", max_unavailable=1))
    for _round in range(3):
        sim.delete(sim.pods()[0])
        sim.agenda.advance(5)
    assert sim.controllers.violations == []


def test_a_dead_node_is_no_violation() -> None:
    sim = ControlledCluster(deployment("web", 3), budget("web", min_available=3))
    sim.controllers.fail("node-1")
    sim.agenda.advance(5)
    assert (numbers(sim)[2], sim.controllers.violations) == (2, [])


def test_a_budget_that_was_never_satisfied_is_not_violated() -> None:
    sim = ControlledCluster(deployment("web", 2), budget("web", min_available=5))
    sim.delete(sim.pods()[0])
    sim.agenda.advance(5)
    assert sim.controllers.violations == []
