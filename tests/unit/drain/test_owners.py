# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordons that belong to somebody."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from drain.situations import EVICTION, app, no_budget, status
from kubesim.api.messages import Request, Response
from stage import Scene

KEY = "kubeops.maintenance/cordon-owners"


def book(scene: Scene) -> dict[str, Any] | None:
    text = scene.store.get("Node", None, "w1")["metadata"].get("annotations", {}).get(KEY)
    return json.loads(text) if text else None


def annotate(scene: Scene, text: str | None, unschedulable: bool = True) -> None:
    def change(node: dict[str, Any]) -> None:
        node["metadata"].setdefault("annotations", {})[KEY] = text
        node["spec"]["unschedulable"] = unschedulable

    scene.store.mutate("Node", None, "w1", change)


def test_the_owner_is_recorded_with_what_it_found() -> None:
    scene = Scene()
    result = scene.run(state="cordon", cordon_owner="patch")
    assert (result["changed"], scene.cordoned()) == (True, True)
    assert book(scene) == {"patch": {"since": "2026-09-21T14:13:22Z", "prior_unschedulable": False}}


def test_an_owners_uncordon_opens_the_node_and_leaves_no_trace() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="patch")
    result = scene.run(state="uncordon", cordon_owner="patch")
    assert (result["changed"], scene.cordoned(), book(scene)) == (True, False, None)


def test_the_node_opens_only_when_the_last_owner_leaves() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="a")
    scene.run(state="cordon", cordon_owner="b")
    first = scene.run(state="uncordon", cordon_owner="a")
    assert (first["changed"], scene.cordoned(), list(book(scene) or {})) == (True, True, ["b"])
    assert first["msg"] == "Node w1 stays cordoned, by cordon owner b since 2026-09-21T14:13:22Z."
    scene.run(state="uncordon", cordon_owner="b")
    assert (scene.cordoned(), book(scene)) == (False, None)


def test_a_cordon_that_was_there_before_the_first_owner_stays() -> None:
    scene = Scene()
    scene.run(state="cordon")
    scene.run(state="cordon", cordon_owner="a")
    scene.run(state="cordon", cordon_owner="b")
    scene.run(state="uncordon", cordon_owner="b")
    result = scene.run(state="uncordon", cordon_owner="a")
    assert (scene.cordoned(), book(scene)) == (True, None)
    assert result["msg"] == (
        "Node w1 stays cordoned, by somebody who left no owner. To make w1 schedulable, uncordon without cordon_owner."
    )


def test_who_owns_nothing_changes_nothing_and_learns_whose_it_is() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="a")
    scene.cluster.requests.clear()
    result = scene.run(state="uncordon", cordon_owner="b")
    assert (result["failed"], result["changed"], scene.cordoned()) == (False, False, True)
    assert (scene.requests("PATCH"), result["pending_nodes"]) == ([], ["w1"])
    assert "cordon owner a" in result["msg"]


@pytest.mark.parametrize("text, words", [("{", "is not JSON"), ("[1]", "is not a JSON map")])
def test_a_broken_book_counts_as_somebody_elses_cordon(text: str, words: str) -> None:
    scene = Scene()
    annotate(scene, text)
    result = scene.run(state="cordon", cordon_owner="a")
    assert (result["failed"], words in result["warnings"][0]) == (False, True)
    scene.run(state="uncordon", cordon_owner="a")
    assert scene.cordoned()


@pytest.mark.parametrize("entry", [None, 1, "x", [], {}])
def test_an_odd_entry_of_another_owner_is_kept(entry: Any) -> None:
    scene = Scene()
    annotate(scene, json.dumps({"odd": entry}))
    scene.run(state="cordon", cordon_owner="a")
    scene.run(state="uncordon", cordon_owner="a")
    assert (book(scene), scene.cordoned()) == ({"odd": entry}, True)


def test_a_book_that_another_tool_pruned_counts_as_a_foreign_cordon() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="a")
    annotate(scene, None)
    result = scene.run(state="uncordon", cordon_owner="a")
    assert (result["changed"], result["failed"], scene.cordoned()) == (False, False, True)


def test_a_task_that_comes_between_reading_and_writing_is_not_overwritten() -> None:
    scene = Scene()
    other = json.dumps({"other": {"since": "x", "prior_unschedulable": False}})
    scene.faults.add(
        {
            "method": "PATCH",
            "path": "/nodes/w1",
            "pass": True,
            "mutate": [
                {
                    "method": "PATCH",
                    "path": "/api/v1/nodes/w1",
                    "content_type": "application/merge-patch+json",
                    "body": {"metadata": {"annotations": {KEY: other}}, "spec": {"unschedulable": True}},
                }
            ],
        }
    )
    result = scene.run(state="cordon", cordon_owner="a")
    assert (result["failed"], sorted(book(scene) or {})) == (False, ["a", "other"])


@pytest.mark.parametrize("mine, others, cordoned", [(["a", "b"], None, False), (["a"], ["b"], True)])
def test_an_owner_that_goes_or_comes_at_the_same_moment_is_no_fault(
    mine: list[str], others: list[str] | None, cordoned: bool
) -> None:
    scene = Scene()
    entry = {"since": "x", "prior_unschedulable": False}
    annotate(scene, json.dumps(dict.fromkeys(mine, entry)))
    after = {"metadata": {"annotations": {KEY: json.dumps(dict.fromkeys(others, entry)) if others else None}}}
    patch = {
        "method": "PATCH",
        "path": "/api/v1/nodes/w1",
        "content_type": "application/merge-patch+json",
        "body": dict(after, spec={"unschedulable": True if others else None}),
    }
    # The node is read for the second time when it has been changed.
    scene.faults.add({"method": "GET", "path": "/nodes/w1", "after": 1, "pass": True, "mutate": [patch]})
    result = scene.run(state="uncordon", cordon_owner="a")
    assert (result["failed"], result["changed"], scene.cordoned()) == (False, True, cordoned)
    assert ("stays cordoned, by cordon owner b" in result["msg"]) is cordoned


def test_a_lost_answer_does_not_hide_that_the_node_was_changed() -> None:
    scene = Scene()
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1", "reset": "after"})
    assert scene.run(state="cordon", cordon_owner="a")["changed"] is True


def test_a_second_cordon_of_the_same_owner_changes_nothing() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="a")
    assert scene.run(state="cordon", cordon_owner="a")["changed"] is False


def test_a_cordon_that_somebody_lifted_is_put_back_by_its_owner() -> None:
    scene = Scene()
    scene.run(state="cordon", cordon_owner="a")
    before = book(scene)
    scene.run(state="uncordon")
    result = scene.run(state="cordon", cordon_owner="a")
    assert (result["changed"], scene.cordoned(), book(scene)) == (True, True, before)


def test_a_drain_that_goes_on_where_its_owner_stopped_says_so() -> None:
    scene = Scene(*app("web"))
    scene.run(state="cordon", cordon_owner="a")
    assert scene.run(cordon_owner="a")["nodes"][0]["resumed"] is True
    assert scene.run(cordon_owner="b")["nodes"][0]["resumed"] is False


@pytest.mark.parametrize("others", [False, True])
def test_a_failed_drain_takes_back_its_own_claim_only(others: bool) -> None:
    scene = Scene(*app("db"))
    if others:
        scene.run(state="cordon", cordon_owner="other")
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0})
    result = scene.run(cordon_owner="a", on_failure="uncordon", delete_options={"wait_timeout": 10})
    assert (result["failed"], scene.cordoned(), list(book(scene) or {})) == (True, others, ["other"] if others else [])
    assert result["nodes"][0]["rolled_back"] is not others


def test_check_mode_writes_no_book() -> None:
    scene = Scene()
    result = scene.run(state="cordon", cordon_owner="a", check_mode=True)
    assert (result["changed"], book(scene), scene.cordoned()) == (True, None, False)


HEARTBEAT = {
    "method": "PATCH",
    "path": "/api/v1/nodes/w1/status",
    "content_type": "application/merge-patch+json",
    "body": {"status": {"images": [{"names": ["new"]}]}},
}


@pytest.mark.parametrize("state", ["cordon", "uncordon"])
def test_a_kubelets_heartbeat_is_no_conflict(state: str) -> None:
    scene = Scene()
    if state == "uncordon":
        scene.run(state="cordon", cordon_owner="a")
    scene.cluster.requests.clear()
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1$", "pass": True, "mutate": [HEARTBEAT]})
    result = scene.run(state=state, cordon_owner="a")
    assert (result["failed"], result["changed"], scene.cordoned()) == (False, True, state == "cordon")
    sent = [request for request in scene.requests("PATCH", "/nodes/w1") if not request.path.endswith("/status")]
    assert [request.status for request in sent] == [200]


@pytest.mark.parametrize("state", ["cordon", "uncordon"])
@pytest.mark.parametrize("times", [1, 2, 6, 15])
def test_conflicts_with_other_writers_are_retried(state: str, times: int) -> None:
    scene = Scene()
    if state == "uncordon":
        scene.run(state="cordon", cordon_owner="a")
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1$", "status": 409, "times": times})
    result = scene.run(state=state, cordon_owner="a")
    assert (result["failed"], result["changed"], scene.cordoned()) == (False, True, state == "cordon")


def test_a_lost_response_does_not_hide_the_owner_in_the_diff() -> None:
    scene = Scene()
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1$", "reset": "after"})
    (diff,) = scene.diff(state="cordon", cordon_owner="a")
    before, after = (diff[side]["metadata"]["annotations"][KEY] for side in ("before", "after"))
    assert (before, json.loads(after)) == (None, book(scene))


def test_a_node_without_annotations_gets_an_owner() -> None:
    scene = Scene()
    scene.store.mutate("Node", None, "w1", lambda node: node["metadata"].pop("annotations", None))
    assert scene.run(state="cordon", cordon_owner="a")["changed"] is True
    assert (list(book(scene) or {}), scene.cordoned()) == (["a"], True)


def test_what_the_api_server_refuses_for_another_reason_is_said_after_two_tries() -> None:
    scene = Scene()
    refusal = status(422, "the server rejected our request due to an error in our request", "Invalid")
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1", "status": 422, "json": refusal, "times": 0})
    result = scene.run(state="cordon", cordon_owner="a")
    assert (result["failed"], result["changed"], len(scene.requests("PATCH", "/nodes/w1"))) == (True, False, 2)
    assert "the server rejected our request" in result["msg"]


def test_a_node_that_others_keep_changing_fails_after_twenty_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    numbers = itertools.count()

    def change(node: dict[str, Any]) -> None:
        node["metadata"].setdefault("annotations", {})[KEY] = json.dumps({"other": {"since": str(next(numbers))}})

    refused = status(422, "the server rejected our request due to an error in our request", "Invalid")
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1", "status": 422, "json": refused, "times": 0})
    read = scene.cluster.answer

    def changing(request: Request) -> Response:
        if request.method == "GET":
            scene.store.mutate("Node", None, "w1", change)
        return read(request)

    monkeypatch.setattr(scene.cluster, "answer", changing)
    result = scene.run(state="cordon", cordon_owner="a")
    assert "node w1 is being changed concurrently (20 conflicts in a row): try again later" in result["msg"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_the_diff_shows_the_owners_entry(check_mode: bool) -> None:
    scene = Scene()
    (diff,) = scene.diff(state="cordon", cordon_owner="a", check_mode=check_mode)
    entry = json.dumps({"a": {"prior_unschedulable": False, "since": "2026-09-21T14:13:22Z"}})
    assert diff["before"] == {"spec": {"unschedulable": False}, "metadata": {"annotations": {KEY: None}}}
    assert diff["after"] == {"spec": {"unschedulable": True}, "metadata": {"annotations": {KEY: entry}}}


def test_an_empty_owner_is_refused() -> None:
    with pytest.raises(InvalidOptions, match="cordon_owner is empty"):
        Scene().run(cordon_owner=" ")
