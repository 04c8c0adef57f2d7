# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often budgets are asked that are followed."""

from __future__ import annotations

from collections import Counter

from drain.situations import EVICTION, app, no_budget
from kubesim import builders
from stage import ConcurrentScene, Scene

LONG = {"wait_timeout": 900}


def test_no_pod_asks_a_budget_twice_while_nothing_changes() -> None:
    owner = builders.replica_set("db", 3)
    budget = builders.budget("db", min_available=3)
    scene = Scene(owner, *builders.pods_of(owner, ["w1"] * 3), budget)
    assert scene.run(delete_options=LONG)["failed"] is True
    asked = Counter(request.path for request in scene.requests("POST", "/eviction"))
    assert set(asked.values()) == {1}


def test_a_budget_without_room_is_not_asked_at_once() -> None:
    scene = Scene(*app("db"), builders.budget("db", min_available=1))
    scene.agenda.after(4, lambda: scene.store.delete("PodDisruptionBudget", "default", "db"))
    result = scene.run()
    assert (result["failed"], [request.status for request in scene.requests("POST", "/eviction")]) == (False, [201])


def test_what_refuses_like_a_budget_with_room_is_asked_again_after_the_pause() -> None:
    scene = Scene(*app("db"), builders.budget("db", max_unavailable=1))
    text = "The disruption budget db needs 1 healthy pods and has 1 currently"
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(text), "times": 3})
    assert scene.run(delete_options={"wait_sleep": 4})["failed"] is False
    times = [request.at for request in scene.requests("POST", "/eviction")]
    assert [round(b - a) for a, b in zip(times, times[1:], strict=False)] == [4, 4, 4]


def test_a_wait_that_the_server_asks_for_ends_in_time_although_nothing_is_heard() -> None:
    scene = ConcurrentScene(*app("db"), builders.budget("db", max_unavailable=1))
    stale = no_budget("The disruption budget db is still being processed by the server.", retryAfterSeconds=10)
    scene.faults.add({**EVICTION, "status": 429, "json": stale})
    # The budget is touched at once, so that from then on there is room by all that is known.
    scene.agenda.after(
        1, lambda: scene.store.mutate("PodDisruptionBudget", "default", "db", lambda b: b["metadata"].update(labels={}))
    )
    assert scene.run()["failed"] is False
    first, second = (request.at for request in scene.requests("POST", "/eviction"))
    assert 10 <= second - first < 10.5


def test_a_right_is_reviewed_once_for_all_nodes() -> None:
    names = ["w1", "w2", "w3", "w4"]
    scene = Scene(*[obj for name in names for obj in app("on-" + name, node=name)], nodes=(*names, "w5"))
    assert scene.run(name=names)["failed"] is False
    assert len(scene.requests("POST", "accessreview")) == 2


def test_a_pod_that_needs_no_room_is_asked_for_again_after_the_pause() -> None:
    owner = builders.replica_set("db", 1)
    pods = builders.pods_of(owner, ["w1"], never_ready=True)
    scene = Scene(owner, *pods, builders.budget("db", max_unavailable=0, policy="AlwaysAllow"))
    text = "The disruption budget db needs 1 healthy pods and has 0 currently"
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(text), "times": 2})
    assert (scene.run()["failed"], scene.seconds < 15) == (False, True)
