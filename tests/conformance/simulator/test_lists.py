# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists: pages, selectors, versions, forms."""

from __future__ import annotations

from typing import Any

from simulated_api import MERGE, Api

from kubesim import builders

PODS = "/api/v1/pods"


def api(count: int = 5, **options: Any) -> Api:
    return Api(*(builders.pod(f"p{number}") for number in range(count)), **options)


def test_pages_show_every_object_once() -> None:
    server = api()
    first = server.get(f"{PODS}?limit=2")
    second = server.get(f"{PODS}?limit=2&continue={first['metadata']['continue']}")
    third = server.get(f"{PODS}?limit=2&continue={second['metadata']['continue']}")
    shown = [[item["metadata"]["name"] for item in page["items"]] for page in (first, second, third)]
    assert shown == [["p0", "p1"], ["p2", "p3"], ["p4"]]


def test_the_last_page_has_no_token() -> None:
    assert "continue" not in api().get(f"{PODS}?limit=5")["metadata"]


def test_remaining_items_are_counted_without_selectors() -> None:
    assert api().get(f"{PODS}?limit=2")["metadata"]["remainingItemCount"] == 3


def test_remaining_items_are_not_counted_with_selectors() -> None:
    assert "remainingItemCount" not in api().get(f"{PODS}?limit=2&fieldSelector=spec.nodeName=node-1")["metadata"]


def test_later_pages_show_the_state_of_the_first() -> None:
    server = api()
    first = server.get(f"{PODS}?limit=2")
    server.send("DELETE", "/api/v1/namespaces/default/pods/p3?gracePeriodSeconds=0")
    server.cluster.load([builders.pod("p22")])
    assert server.names(f"{PODS}?continue={first['metadata']['continue']}") == ["p2", "p3", "p4"]


def test_a_token_older_than_the_window_has_expired() -> None:
    server = api(watch_window=3)
    token = server.get(f"{PODS}?limit=2")["metadata"]["continue"]
    server.cluster.load([builders.pod(f"q{number}") for number in range(5)])
    status = server.send("GET", f"{PODS}?continue={token}").json()
    assert (status["code"], status["reason"]) == (410, "Expired")


def test_an_expired_token_comes_with_one_for_the_rest_as_it_is_now() -> None:
    server = api(watch_window=3)
    token = server.get(f"{PODS}?limit=2")["metadata"]["continue"]
    server.cluster.load([builders.pod(f"q{number}") for number in range(5)])
    fresh = server.send("GET", f"{PODS}?continue={token}").json()["metadata"]["continue"]
    assert server.names(f"{PODS}?continue={fresh}") == ["p2", "p3", "p4", "q0", "q1", "q2", "q3", "q4"]


def test_pages_follow_the_order_of_the_store_across_namespaces() -> None:
    server = Api(*(builders.pod("p", namespace) for namespace in ("a", "a-b", "b")))
    first = server.get(f"{PODS}?limit=1")
    second = server.get(f"{PODS}?limit=1&continue={first['metadata']['continue']}")
    assert [page["items"][0]["metadata"]["namespace"] for page in (first, second)] == ["a-b", "a"]


def test_a_list_of_any_version_is_not_paged() -> None:
    assert len(api().names(f"{PODS}?limit=2&resourceVersion=0")) == 5


def test_a_version_of_the_future_is_refused() -> None:
    code, message = api().refused("GET", f"{PODS}?resourceVersion=99999999")
    assert (code, message.split(",")[0]) == (504, "Timeout: Too large resource version: 99999999")


def test_an_exact_version_shows_the_past() -> None:
    server = api()
    version = server.cluster.store.resource_version
    server.cluster.load([builders.pod("late")])
    assert "late" not in server.names(f"{PODS}?resourceVersion={version}&resourceVersionMatch=Exact")


def test_selectors_are_combined() -> None:
    labelled = builders.pod("x", node_name="node-2", labels={"app": "db"})
    server = Api(builders.pod("y", node_name="node-2"), labelled, builders.pod("z", labels={"app": "db"}))
    assert server.names(f"{PODS}?fieldSelector=spec.nodeName=node-2&labelSelector=app=db") == ["x"]


def test_items_of_a_list_carry_no_kind() -> None:
    assert "kind" not in api().get(PODS)["items"][0]


def test_only_metadata_is_sent_to_those_who_ask_for_it() -> None:
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    assert set(api().get(PODS, accept=accept)["items"][0]) == {"kind", "apiVersion", "metadata"}


def test_kubectl_gets_a_table() -> None:
    table = Api(builders.node("n", unschedulable=True)).get(
        "/api/v1/nodes", accept="application/json;as=Table;v=v1;g=meta.k8s.io"
    )
    assert table["rows"][0]["cells"][:2] == ["n", "Ready,SchedulingDisabled"]


def test_a_list_written_twice_shows_changes() -> None:
    server = api(1)
    server.get(PODS)
    server.patch("/api/v1/namespaces/default/pods/p0", {"metadata": {"labels": {"new": "1"}}}, MERGE)
    assert server.get(PODS)["items"][0]["metadata"]["labels"]["new"] == "1"
