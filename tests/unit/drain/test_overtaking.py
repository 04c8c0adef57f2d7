# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""News that overtake each other: slow lists, answers that come after their effects, looks that are out of date."""

from __future__ import annotations

from typing import Any

from drain.situations import EVICTION, app, status
from kubesim import builders
from stage import ConcurrentScene, Scene, drained

UNCORDON = {
    "method": "PATCH",
    "path": "/api/v1/nodes/w1",
    "body": {"spec": {"unschedulable": None}},
    "content_type": "application/merge-patch+json",
}
PODS = {"method": "GET", "path": r"^/api/v1/pods\?(?!.*watch)"}
WATCH = {"path": "^/api/v1/pods.*watch=true"}
LOOK = {"method": "GET", "path": "/api/v1/nodes/w1"}
PUT_BACK = "w1 was uncordoned by somebody else during its drain, and cordoned again"


def attempts(result: dict[str, Any]) -> dict[str, int]:
    return {pod["name"]: pod["attempts"] for node in result["nodes"] for pod in node["evicted"]}


def test_a_slow_look_at_the_node_keeps_no_processor_busy() -> None:
    scene = ConcurrentScene(*app("a"), *app("b"), *app("c"))
    conflict = {**EVICTION, "status": 409, "json": status(409, "changed", "Conflict")}
    # The third list is the first look; a scene whose task does not let time pass raises.
    scene.faults.add({**conflict, "times": 9}, {**PODS, "after": 2, "delay": 15, "pass": True})
    assert scene.run()["failed"] is False


def test_a_list_that_was_long_under_way_brings_no_pod_back() -> None:
    scene = ConcurrentScene(*app("first", term=15), *app("second", term=40))
    conflict = status(409, "changed", "Conflict")
    scene.faults.add(
        {"method": "POST", "path": "second-0/eviction", "status": 409, "json": conflict, "delay": 4},
        # The watch is silent, so that first-0 is missed only when everything is listed anew after half a minute.
        {**WATCH, "watch": "silent"},
        # Before it was evicted, a look was asked for; it is heard of afterwards.
        {"method": "POST", "path": "first-0/eviction", "status": 503, "headers": {"Retry-After": 6}},
        {**PODS, "after": 2, "delay": 28, "pass": True},
    )
    result = scene.run()
    assert (result["failed"], len(scene.requests("POST", "first-0/eviction"))) == (False, 2)


def test_a_pod_that_lands_while_a_list_is_under_way_is_known_from_then_on() -> None:
    scene = ConcurrentScene(*app("web", term=20))
    scene.faults.add(
        {**EVICTION, "status": 409, "json": status(409, "changed", "Conflict")},
        {**PODS, "after": 2, "delay": 10, "pass": True},
        {"method": "POST", "path": "late/eviction", "status": 503, "times": 20},
    )
    scene.agenda.after(3, lambda: scene.store.load([builders.pod("late", node_name="w1", owner="Widget/late")]))
    result = scene.run(delete_options={"wait_timeout": 300, "wait_sleep": 1})
    assert (result["failed"], attempts(result)) == (False, {"late": 21, "web-0": 2})


def test_an_eviction_that_was_carried_out_unheard_counts_although_the_next_finds_no_pod() -> None:
    scene = ConcurrentScene(*app("web"))
    scene.faults.add({**EVICTION, "reset": "after"}, {**WATCH, "watch": "silent", "times": 0})
    # The second try comes when the pod has gone.
    scene.faults.add({**EVICTION, "status": 429, "headers": {"Retry-After": 3}, "json": status(429, "slow down")})
    result = scene.run()
    assert (result["failed"], drained(result)) == (False, ["web-0"])


def test_a_pod_that_is_not_waited_for_any_more_still_counts_as_a_change() -> None:
    scene = Scene(*app("web", term=60))
    scene.cluster.perform({**UNCORDON, "body": {"spec": {"unschedulable": True}}})
    options = {"terminate_grace_period": 1, "skip_wait_for_delete_timeout": 5}
    result = scene.run(delete_options=options)
    assert (result["failed"], result["changed"], drained(result)) == (False, True, [])


def test_one_uncordon_that_is_seen_twice_counts_once() -> None:
    scene = ConcurrentScene(*app("web", term=30))
    late = [builders.pod("late-%d" % n, node_name="w1", owner="Widget/late") for n in range(2)]
    scene.agenda.after(3, lambda: scene.cluster.perform(UNCORDON))
    scene.agenda.after(4, lambda: scene.store.load(late[:1]))
    scene.agenda.after(8, lambda: scene.store.load(late[1:]))
    # The look after the first pod that lands comes back when the second one has been looked after.
    scene.faults.add({**LOOK, "after": 2, "delay": 12, "pass": True})
    result = scene.run()
    assert (result["failed"], result["warnings"]) == (False, [PUT_BACK])


def test_a_cordon_that_is_lifted_before_it_was_read_back_is_put_back_once() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**LOOK, "after": 1, "pass": True, "mutate": [UNCORDON]})
    result = scene.run()
    assert (result["failed"], scene.cordoned(), result["warnings"]) == (False, True, [PUT_BACK])


def test_a_token_that_is_replaced_twice_during_one_request_is_followed() -> None:
    scene = ConcurrentScene(*app("slow"), *[obj for n in range(9) for obj in app("web%d" % n)])
    scene.faults.add({"method": "POST", "path": "slow-0/eviction", "delay": 5, "pass": True})

    def replace(old: str, new: str) -> None:
        scene.cluster.access.grant({"tokens": {new: {"user": "admin", "rules": "*"}}})
        scene.cluster.access.revoke(old)
        scene.connection.fresh_token = new

    def sent(_method: str, target: str) -> None:
        if target.endswith("/eviction") and scene.connection.fresh_token == "":
            scene.line.before = lambda method, target: None
            replace("admintoken", "one")

    # The request is sent with the first token; its answer comes when the second one is out of date, too.
    scene.line.before = sent
    scene.agenda.after(3, lambda: replace("one", "two"))
    assert scene.run()["failed"] is False


def test_what_fails_for_want_of_time_is_told_as_that_and_with_the_pods_that_are_left() -> None:
    scene = ConcurrentScene(*app("web", term=60))
    # The pods are being listed anew when the time is up.
    scene.agenda.after(5, lambda: scene.cluster.outage(60))
    scene.faults.add({**WATCH, "watch": "silent", "times": 0})
    result = scene.run(delete_options={"wait_timeout": 40})
    assert result["msg"].startswith("Node w1 was not drained within 40 s: 1 pod is left: default/web-0: evicted")


def test_a_pod_that_was_not_tried_is_not_blamed_on_a_budget_with_room() -> None:
    scene = ConcurrentScene(*app("a"), *app("b"), builders.budget("b", selector={"app": "b"}, max_unavailable=1))
    # The one eviction that may be under way is, until the end.
    scene.faults.add({"method": "POST", "path": "a-0/eviction", "status": 503, "delay": 60})
    result = scene.run(eviction_concurrency=1, delete_options={"wait_timeout": 9})
    assert {pod["name"]: pod["reason"] for pod in result["pending_pods"]} == {"a-0": "api_error", "b-0": "not_tried"}
