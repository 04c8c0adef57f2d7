# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drain makes of evictions that are refused."""

from __future__ import annotations

import pytest

from drain.situations import EVICTION, app, guarded, no_budget, reasons, status
from kubesim import builders
from stage import Scene, drained


def test_a_refused_eviction_is_tried_again_until_it_is_taken() -> None:
    scene = Scene(*app("db"))
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 2})
    result = scene.run(delete_options={"wait_timeout": 120})
    assert (result["failed"], result["nodes"][0]["evicted"][0]["attempts"]) == (False, 3)


def test_a_refusal_until_the_end_names_budget_and_server_words_and_counts_the_cordon_as_change() -> None:
    scene = Scene(*app("db", labels={"app": "db"}), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
    result = scene.run(delete_options={"wait_timeout": 10})
    pod = result["pending_pods"][0]
    assert (result["failed"], result["changed"], pod["last_status"]) == (True, True, 429)
    assert pod["pdb"] == {
        "name": "db-pdb",
        "disruptions_allowed": 0,
        "current_healthy": 1,
        "desired_healthy": 1,
        "expected_pods": 1,
        "unhealthy_pod_eviction_policy": "IfHealthyBudget",
        "deadlock": True,
    }
    assert result["msg"] == (
        "Node w1 was not drained within 10 s: 1 pod is left: default/db-0: blocked by PDB "
        "default/db-pdb, which never allows a disruption: add a replica or lower its minAvailable, or set "
        "delete_options.disable_eviction to bypass it. It stays cordoned."
    )


def test_a_refusal_that_is_no_budgets_waits_as_long_as_the_server_asks() -> None:
    scene = Scene(*app("db"))
    scene.faults.add({**EVICTION, "status": 429, "headers": {"Retry-After": "3"}, "json": status(429, "slow down")})
    result = scene.run()
    times = [r.at for r in scene.requests("POST", "/eviction")]
    assert not result["failed"]
    assert times[1] - times[0] >= 3.0


def test_a_pod_under_two_budgets_fails_at_once_and_the_others_go() -> None:
    scene = Scene(
        *app("two"),
        *app("free"),
        builders.budget("a", selector={"app": "two"}, min_available=0),
        builders.budget("b", selector={"app": "two"}, min_available=0),
    )
    result = scene.run(preflight="skip", delete_options={"wait_timeout": 30})
    assert (reasons(result), drained(result), result["changed"]) == ({"two-0": "pdb_multiple"}, ["free-0"], True)
    assert scene.seconds < 5


def test_pods_of_a_terminating_namespace_are_waited_for() -> None:
    scene = Scene(builders.namespace("tmp"))
    owner = builders.replica_set("web", 1, "tmp")
    scene.store.load([owner, *builders.pods_of(owner, ["w1"], term=4)])
    scene.agenda.advance(1)
    scene.store.delete("Namespace", None, "tmp")
    result = scene.run()
    assert (result["failed"], scene.pods()) == (False, [])


def test_an_eviction_forbidden_to_the_account_fails_that_pod_only() -> None:
    scene = Scene(*app("a"), *app("b"))
    scene.faults.add(
        {
            "method": "POST",
            "path": "/a-0/eviction",
            "status": 403,
            "times": 0,
            "json": status(403, "no right", "Forbidden"),
        }
    )
    result = scene.run()
    assert (reasons(result), drained(result)) == ({"a-0": "forbidden"}, ["b-0"])


def test_a_webhooks_denial_fails_that_pod_with_its_words_and_the_others_go() -> None:
    text = 'admission webhook "drain.example.com" denied the request: not now'
    scene = Scene(*app("kafka"), *app("web"))
    scene.faults.add(
        {
            "method": "POST",
            "path": "kafka-0/eviction",
            "times": 0,
            "json": status(403, text, "Forbidden"),
            "status": 403,
        }
    )
    result = scene.run()
    assert result["pending_pods"][0]["message"] == "do as the webhook or policy requires, or ask its owner: " + text
    assert drained(result) == ["web-0"]
    assert reasons(result) == {"kafka-0": "webhook_denied"}


def test_a_denial_of_every_eviction_is_quoted_once() -> None:
    text = 'admission webhook "old.example.com" denied the request: no kind "Eviction" is registered for "policy/v1"'
    scene = Scene(*[obj for n in range(40) for obj in app("web%d" % n)])
    scene.faults.add({**EVICTION, "times": 0, "json": status(403, text, "Forbidden"), "status": 403})
    result = scene.run()
    assert (len(result["pending_pods"]), result["msg"].count("old.example.com")) == (40, 1)
    assert scene.requests("DELETE") == []


def test_a_webhook_that_cannot_be_called_is_asked_again() -> None:
    fault = status(500, 'Internal error occurred: failed calling webhook "x": refused', "InternalError")
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "status": 500, "json": fault})
    assert scene.run()["failed"] is False


def test_asking_and_waiting_share_one_limit() -> None:
    def run(limit: int) -> tuple[bool, float]:
        scene = Scene(*app("db", term=10))
        until = scene.agenda.now - scene.agenda.started + 40
        scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0, "until": until})
        failed = scene.run(delete_options={"wait_timeout": limit})["failed"]
        return failed, scene.seconds

    failed, seconds = run(30)
    assert failed and 30 <= seconds <= 31
    failed, seconds = run(90)
    assert not failed and 50 <= seconds <= 56


def test_an_unready_pod_behind_an_exhausted_budget_is_named_as_unready() -> None:
    owner = builders.replica_set("db", 2)
    scene = Scene(
        owner,
        *builders.pods_of(owner, ["w1", "w1"], never_ready=True),
        builders.budget("db-pdb", selector={"app": "db"}, max_unavailable=1),
    )
    result = scene.run(delete_options={"wait_timeout": 20})
    assert result["failed"]
    assert "the pod itself is not Ready" in result["pending_pods"][0]["message"]


def test_deleting_passes_budgets_over() -> None:
    scene = Scene(*app("db"), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
    result = scene.run(delete_options={"disable_eviction": True})
    assert (result["failed"], result["nodes"][0]["evicted"][0]["method"]) == (False, "delete")
    assert scene.requests("POST") == []


@pytest.mark.parametrize("first, then", [("im", "app"), ("app", "im")])
def test_pods_that_wait_for_each_other_go_in_any_order(first: str, then: str) -> None:
    scene = Scene(*app("a-" + first), *app("b-" + then))
    held = "%s-0/eviction" % ("a-im" if first == "im" else "b-im")
    scene.faults.add({"method": "POST", "path": held, "status": 429, "json": no_budget(), "times": 2})
    result = scene.run(delete_options={"wait_timeout": 60})
    assert (result["failed"], len(drained(result))) == (False, 2)


def test_the_next_eviction_follows_within_half_a_second_of_the_budgets_room() -> None:
    scene = Scene(*app("db"), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
    freed: list[float] = []

    def free() -> None:
        freed.append(scene.agenda.now)
        scene.store.delete("PodDisruptionBudget", "default", "db-pdb")

    scene.agenda.after(7.3, free)
    assert scene.run()["failed"] is False
    assert 0 < scene.requests("POST", "/eviction")[-1].at - freed[0] < 0.5


def test_a_budget_costs_at_most_one_refusal_per_pod_and_change() -> None:
    owner = builders.deployment("web", 12, start=1)
    scene = Scene(owner, builders.budget("web-pdb", selector={"app": "web"}, max_unavailable=2), nodes=("w1",))
    scene.store.load([builders.node("w2")])
    result = scene.run()
    refused = [r for r in scene.requests("POST", "/eviction") if r.status == 429]
    assert (result["failed"], len(drained(result))) == (False, 12)
    assert len(refused) <= 12
    assert scene.cluster.controllers.violations == []


def test_pods_ask_again_by_pauses_where_budgets_may_not_be_watched() -> None:
    scene = Scene(*app("db"), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
    scene.faults.add({"path": "poddisruptionbudgets", "status": 403, "times": 0})
    scene.run(delete_options={"wait_timeout": 20})
    times = [r.at for r in scene.requests("POST", "/eviction")]
    pauses = [round(b - a) for a, b in zip(times, times[1:], strict=False)]
    assert pauses == [1, 2, 4, 5, 5]


def test_a_budget_that_was_not_processed_yet_is_reported_as_stale() -> None:
    stale = no_budget("The disruption budget db-pdb is still being processed by the server.", retryAfterSeconds=10)
    scene = Scene(*app("db"))
    scene.faults.add({**EVICTION, "status": 429, "json": stale, "times": 0})
    result = scene.run(delete_options={"wait_timeout": 15})
    assert reasons(result) == {"db-0": "pdb_stale"}
    assert len(scene.requests("POST", "/eviction")) == 2


def test_every_pod_goes_at_once_when_the_budget_that_held_them_is_deleted() -> None:
    scene = Scene(*guarded(6))
    scene.agenda.after(7.3, lambda: scene.store.delete("PodDisruptionBudget", "default", "db-pdb"))
    result = scene.run()
    gone = [r.at - scene.started for r in scene.requests("POST", "/eviction") if r.status == 201]
    assert (result["failed"], len(gone), max(gone) < 7.8) == (False, 6, True)


def test_pods_that_a_budget_holds_are_reported_as_held_though_only_some_were_asked_for() -> None:
    scene = Scene(*guarded(6))
    result = scene.run(delete_options={"wait_timeout": 8})
    assert set(reasons(result).values()) == {"pdb_deadlock"}
    assert len(scene.requests("POST", "/eviction")) < 6
