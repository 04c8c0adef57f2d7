# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand."""

from __future__ import annotations

import pytest
from simulated_api import Api

from kubesim import builders

NODES = "/api/v1/nodes"
PODS = "/api/v1/pods?watch=1"


def api(*faults: dict[str, object]) -> Api:
    server = Api(builders.node("n"), builders.pod("a", node_name="n"), builders.pod("b", node_name="n"))
    server.cluster.faults.add(*faults)
    return server


def statuses(server: Api, count: int = 4) -> list[int]:
    return [server.send("GET", NODES).status for _time in range(count)]


def test_a_fault_strikes_once() -> None:
    assert statuses(api({"path": "/nodes", "status": 503})) == [503, 200, 200, 200]


def test_a_fault_can_strike_several_times_after_some_requests() -> None:
    assert statuses(api({"path": "/nodes", "status": 503, "after": 1, "times": 2})) == [200, 503, 503, 200]


def test_a_fault_can_last_for_ever() -> None:
    assert statuses(api({"path": "/nodes", "status": 503, "times": 0})) == [503] * 4


def test_faults_follow_one_another() -> None:
    assert statuses(api({"path": "/nodes", "status": 500}, {"path": "/nodes", "status": 429})) == [500, 429, 200, 200]


@pytest.mark.parametrize(
    ("pattern", "struck"),
    [
        ({"method": "GET"}, True),
        ({"method": "POST"}, False),
        ({"path": r"nodes\?limit=1$"}, True),
        ({"user_agent": "ansible"}, True),
        ({"user_agent": "kubectl"}, False),
        ({"body": "x"}, False),
    ],
    ids=str,
)
def test_a_fault_strikes_the_requests_that_it_describes(pattern: dict[str, str], struck: bool) -> None:
    answer = api({**pattern, "status": 500}).send("GET", f"{NODES}?limit=1", user_agent="ansible")
    assert (answer.status == 500) is struck


def test_a_body_is_searched() -> None:
    server = api({"body": "gracePeriodSeconds", "status": 500})
    assert [server.evict("a").status, server.evict("b", gracePeriodSeconds=1).status] == [201, 500]


def test_a_status_alone_is_answered_with_a_fitting_status_object() -> None:
    answer = api({"status": 504}).send("GET", NODES)
    assert (answer.json()["reason"], answer.headers["Retry-After"]) == ("Timeout", "1")


def test_a_page_of_a_load_balancer_can_be_sent() -> None:
    answer = api({"status": 502, "body_text": "<html>bad</html>"}).send("GET", NODES)
    assert (answer.headers, answer.body) == ({"Content-Type": "text/html"}, b"<html>bad</html>")


def test_json_and_headers_can_be_sent() -> None:
    answer = api({"status": 429, "json": {"code": 429}, "headers": {"Retry-After": 3}}).send("GET", NODES)
    assert (answer.json(), answer.headers["Retry-After"]) == ({"code": 429}, "3")


def test_a_struck_request_is_not_carried_out() -> None:
    server = api({"path": "eviction", "status": 500})
    server.evict("a")
    assert "deletionTimestamp" not in server.get("/api/v1/namespaces/default/pods/a")["metadata"]


@pytest.mark.parametrize(("reset", "done"), [("before", False), ("after", True)])
def test_a_connection_is_cut_before_or_after_the_work(reset: str, done: bool) -> None:
    server = api({"path": "eviction", "reset": reset})
    answer = server.evict("a")
    carried_out = "deletionTimestamp" in server.get("/api/v1/namespaces/default/pods/a")["metadata"]
    assert (answer.reset, carried_out) == (reset, done)


def test_a_delay_leaves_the_answer_as_it_is() -> None:
    answer = api({"delay": 2.5}).send("GET", NODES)
    assert (answer.status, answer.delay) == (200, 2.5)


def test_somebody_else_may_change_something_first() -> None:
    change = {"method": "PATCH", "path": f"{NODES}/n", "body": {"spec": {"unschedulable": True}}}
    server = api(
        {"path": "/nodes", "mutate": [{**change, "content_type": "application/merge-patch+json"}], "pass": True}
    )
    assert server.get(f"{NODES}/n")["spec"]["unschedulable"] is True


def test_a_fault_has_its_time() -> None:
    server = api({"status": 500, "times": 0, "from": 10, "until": 20})
    seen = []
    for _step in range(3):
        seen += statuses(server, 1)
        server.cluster.advance(10)
    assert seen == [200, 500, 200]


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown keys in fault: statsu"):
        api({"statsu": 500})


@pytest.mark.parametrize("fault", [{"reset": "now"}, {"watch": "quiet"}], ids=str)
def test_unknown_values_are_refused(fault: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="of a fault must match"):
        api(fault)


def test_faults_can_be_counted() -> None:
    server = api({"path": "/nodes", "status": 500, "after": 1})
    statuses(server, 3)
    assert [(f["matched"], f["fired"]) for f in server.cluster.faults.all()] == [(2, 1)]


def test_an_unanswered_request_is_logged_with_status_zero() -> None:
    server = api({"reset": "before"})
    server.send("GET", NODES)
    assert server.cluster.requests[-1].status == 0


def test_a_silent_watch_says_nothing() -> None:
    server = api({"watch": "silent"})
    watch = server.watch(f"{PODS}&timeoutSeconds=5")
    server.cluster.load([builders.pod("c")])
    server.cluster.advance(60)
    assert (watch.seen(), watch.closed) == ([], False)


def test_a_watch_can_fall_silent_later() -> None:
    assert api({"watch": "silent:1"}).watch(PODS).seen() == [("ADDED", "a")]


def test_a_watch_can_end_at_once() -> None:
    watch = api({"watch": "end"}).watch(PODS)
    assert (watch.seen(), watch.closed) == ([], True)


def test_a_watch_can_expire() -> None:
    watch = api({"watch": "expire"}).watch(PODS)
    assert ([event["object"]["code"] for event in watch.events()], watch.closed) == ([410], True)


def test_a_watch_can_lose_events() -> None:
    assert api({"watch": "drop:1"}).watch(PODS).seen() == [("ADDED", "b")]


def test_a_fault_of_watches_leaves_lists_alone() -> None:
    assert statuses(api({"watch": "end", "times": 0}), 1) == [200]


def test_an_outage_cuts_every_request_until_it_is_over() -> None:
    server = api()
    server.cluster.outage(5)
    during = server.send("GET", NODES).reset
    server.cluster.advance(5)
    assert (during, server.send("GET", NODES).status) == ("before", 200)


def test_an_outage_ends_watches() -> None:
    server = api()
    watch = server.watch(PODS)
    server.cluster.outage(5)
    assert watch.closed
