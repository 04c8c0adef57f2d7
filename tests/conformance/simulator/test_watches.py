# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watches: where they begin, what they show, how they end."""

from __future__ import annotations

import pytest
from simulated_api import Api

from kubesim import builders
from kubesim.objects import Object

PODS = "/api/v1/pods?watch=1"
POD = "/api/v1/namespaces/default/pods/a"


def on(node: str | None, name: str = "a") -> Object:
    return builders.pod(name, node_name=node)


def version(server: Api) -> int:
    return server.cluster.store.resource_version


def test_without_a_version_it_begins_with_what_exists() -> None:
    assert Api(on("n")).watch(PODS).seen() == [("ADDED", "a")]


def test_with_a_version_it_begins_after_it() -> None:
    server = Api(on("n"))
    start = version(server)
    server.cluster.load([on("n", "b")])
    assert server.watch(f"{PODS}&resourceVersion={start}").seen() == [("ADDED", "b")]


def test_changes_come_as_they_happen() -> None:
    server = Api(on("n"))
    watch = server.watch(f"{PODS}&resourceVersion={version(server)}")
    server.patch(POD, {"metadata": {"labels": {"x": "y"}}})
    server.send("DELETE", f"{POD}?gracePeriodSeconds=0")
    assert watch.seen() == [("MODIFIED", "a"), ("DELETED", "a")]


def test_a_dry_run_is_no_event() -> None:
    server = Api(on("n"))
    watch = server.watch(f"{PODS}&resourceVersion={version(server)}")
    server.patch(f"{POD}?dryRun=All", {"metadata": {"labels": {"x": "y"}}})
    assert watch.seen() == []


@pytest.mark.parametrize(
    ("before", "after", "event"), [(None, "n", "ADDED"), ("n", "other", "DELETED"), ("n", "n", "MODIFIED")]
)
def test_objects_that_begin_or_cease_to_match_are_added_or_deleted(before: str | None, after: str, event: str) -> None:
    server = Api(on(before))
    watch = server.watch(f"{PODS}&fieldSelector=spec.nodeName=n&resourceVersion={version(server)}")
    server.cluster.store.mutate(
        "Pod",
        "default",
        "a",
        lambda obj: obj["metadata"].update(labels={"x": "y"}) or obj["spec"].update(nodeName=after),
    )
    assert watch.seen() == [(event, "a")]


def test_a_deleted_object_is_shown_as_it_last_matched_under_the_new_version() -> None:
    server = Api(on("n"))
    watch = server.watch(f"{PODS}&fieldSelector=spec.nodeName=n&resourceVersion={version(server)}")
    server.cluster.store.mutate("Pod", "default", "a", lambda obj: obj["spec"].update(nodeName="other"))
    shown = watch.events()[0]["object"]
    assert (shown["spec"]["nodeName"], shown["metadata"]["resourceVersion"]) == ("n", str(version(server)))


def test_one_object_can_be_watched() -> None:
    server = Api(on("n"), on("n", "b"))
    assert server.watch(f"{POD}?watch=true").seen() == [("ADDED", "a")]


def test_a_version_older_than_the_window_is_an_error_event() -> None:
    server = Api(watch_window=2)
    start = version(server)
    server.cluster.load([on("n", f"p{number}") for number in range(5)])
    watch = server.watch(f"{PODS}&resourceVersion={start}")
    assert [(e["type"], e["object"]["code"], e["object"]["reason"]) for e in watch.events()] == [
        ("ERROR", 410, "Expired")
    ]


def test_an_error_event_ends_the_stream() -> None:
    assert Api().watch(f"{PODS}&resourceVersion=1").closed


def test_it_ends_after_timeout_seconds() -> None:
    server = Api()
    watch = server.watch(f"{PODS}&timeoutSeconds=10")
    server.cluster.advance(9.9)
    open_before = not watch.closed
    server.cluster.advance(0.1)
    assert (open_before, watch.closed) == (True, True)


def test_bookmarks_come_each_minute_for_those_who_allow_them() -> None:
    server = Api()
    watch = server.watch(f"{PODS}&allowWatchBookmarks=true&timeoutSeconds=300")
    server.cluster.advance(125)
    assert [event["type"] for event in watch.events()] == ["BOOKMARK", "BOOKMARK"]


def test_a_bookmark_comes_shortly_before_the_end() -> None:
    server = Api()
    watch = server.watch(f"{PODS}&allowWatchBookmarks=true&timeoutSeconds=10")
    server.cluster.advance(8)
    assert [event["type"] for event in watch.events()] == ["BOOKMARK"]


def test_a_bookmark_tells_the_version_that_a_new_watch_can_begin_at() -> None:
    server = Api()
    watch = server.watch(f"{PODS}&allowWatchBookmarks=true&timeoutSeconds=300&labelSelector=app=x")
    server.cluster.load([builders.node("n")])
    server.cluster.advance(60)
    assert watch.events()[0]["object"]["metadata"]["resourceVersion"] == str(version(server))


def test_streaming_lists_are_refused_as_the_recorded_server_did() -> None:
    watch = Api(on("n")).watch(
        f"{PODS}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    )
    assert [(event["type"], event["object"]["code"]) for event in watch.events()] == [("ERROR", 500)]


def test_streaming_lists_end_with_a_marked_bookmark() -> None:
    server = Api(on("n"), streaming_lists=True)
    watch = server.watch(f"{PODS}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
    added, bookmark = watch.events()
    marks = bookmark["object"]["metadata"]["annotations"]
    assert (added["type"], marks) == ("ADDED", {"k8s.io/initial-events-end": "true"})


def test_a_closed_stream_gets_nothing_more() -> None:
    server = Api()
    watch = server.watch(PODS)
    watch.stream.close()
    server.cluster.load([on("n")])
    assert watch.seen() == []


def test_waiting_readers_are_woken() -> None:
    server, calls = Api(), list[int]()
    watch = server.watch(PODS)
    watch.stream.on_ready = lambda: calls.append(1)
    server.cluster.load([on("n")])
    assert calls == [1]


def test_a_reset_of_the_cluster_ends_it() -> None:
    server = Api()
    watch = server.watch(PODS)
    server.cluster.reset()
    assert watch.closed
