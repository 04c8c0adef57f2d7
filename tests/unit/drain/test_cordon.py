# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordon and uncordon, alone and around a drain."""

from __future__ import annotations

import json

import pytest

from drain.situations import EVICTION, app, no_budget, reasons, status
from stage import Scene, drained

UNCORDON = {
    "method": "PATCH",
    "path": "/api/v1/nodes/w1",
    "body": {"spec": {"unschedulable": None}},
    "content_type": "application/merge-patch+json",
}


@pytest.mark.parametrize(
    "state, sentence",
    [
        ("cordon", "node w1 marked unschedulable."),
        ("uncordon", "node w1 already marked schedulable."),
    ],
)
def test_an_open_node(state: str, sentence: str) -> None:
    scene = Scene()
    result = scene.run(state=state)
    wanted = state == "cordon"
    assert (result["changed"], result["result"], scene.cordoned()) == (wanted, sentence, wanted)


@pytest.mark.parametrize(
    "state, sentence",
    [
        ("cordon", "node w1 already marked unschedulable."),
        ("uncordon", "node w1 marked schedulable."),
    ],
)
def test_a_cordoned_node(state: str, sentence: str) -> None:
    scene = Scene()
    scene.cluster.perform({**UNCORDON, "body": {"spec": {"unschedulable": True}}})
    result = scene.run(state=state)
    wanted = state == "uncordon"
    assert (result["changed"], result["result"], scene.cordoned()) == (wanted, sentence, not wanted)


def test_the_patches_are_those_of_kubectl() -> None:
    scene = Scene()
    scene.run(state="cordon")
    scene.run(state="uncordon")
    assert [json.loads(r.body) for r in scene.requests("PATCH")] == [
        {"spec": {"unschedulable": True}},
        {"spec": {"unschedulable": None}},
    ]


def test_nothing_is_evicted_from_a_node_that_cannot_be_cordoned() -> None:
    scene = Scene(*app("web"))
    scene.faults.add(
        {
            "method": "PATCH",
            "path": "/nodes/w1",
            "times": 0,
            "status": 403,
            "json": status(403, 'admission webhook "guard" denied the request: no', "Forbidden"),
        }
    )
    result = scene.run()
    assert (result["failed"], result["changed"], scene.requests("POST")) == (True, False, [])
    assert result["msg"] == (
        'Node w1 was not drained: it could not be cordoned: admission webhook "guard" denied the request: no.'
    )


def test_a_cordon_counts_only_once_the_node_shows_it() -> None:
    scene = Scene(*app("web"))
    open_node = dict(scene.store.get("Node", None, "w1"))
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1", "status": 200, "json": open_node, "times": 0})
    result = scene.run()
    assert (result["failed"], scene.requests("POST")) == (True, [])
    assert "is still schedulable" in result["msg"]


def test_a_node_cordoned_by_hand_is_drained_without_a_patch() -> None:
    scene = Scene(*app("a"), *app("b"), *app("c"))
    scene.cluster.perform({**UNCORDON, "body": {"spec": {"unschedulable": True}}})
    result = scene.run()
    assert (result["changed"], len(drained(result)), scene.requests("PATCH")) == (True, 3, [])
    assert result["nodes"][0]["cordoned_before"] is True


def test_a_cordon_that_somebody_lifts_is_put_back_once_and_reported() -> None:
    scene = Scene(*app("web", term=5))
    scene.agenda.after(2, lambda: scene.cluster.perform(UNCORDON))
    result = scene.run()
    assert (result["failed"], scene.cordoned()) == (False, True)
    assert result["warnings"] == ["w1 was uncordoned by somebody else during its drain, and cordoned again"]


def test_a_cordon_that_is_lifted_again_and_again_fails_the_drain() -> None:
    scene = Scene(*app("web", term=5))
    look = {"method": "GET", "path": "/api/v1/nodes/w1", "pass": True, "mutate": [UNCORDON]}
    # The third look at the node is the one after the last pod, the sixth the one after the cordon was put back.
    scene.faults.add({**look, "after": 2}, {**look, "after": 5})
    result = scene.run()
    assert (result["failed"], result["nodes"][0]["drained"], result["nodes"][0]["cordoned"]) == (True, False, False)
    assert "somebody else keeps uncordoning w1" in result["msg"]


@pytest.mark.parametrize(
    "policy, evicts, cordoned",
    [
        ("keep_cordon", False, True),
        ("uncordon", False, False),
        ("uncordon", True, False),
        ("uncordon_if_untouched", False, False),
        ("uncordon_if_untouched", True, True),
    ],
)
def test_what_becomes_of_the_tasks_own_cordon_when_the_drain_fails(policy: str, evicts: bool, cordoned: bool) -> None:
    scene = Scene(*app("db"), *(app("web") if evicts else []))
    scene.faults.add({**EVICTION, "path": "/db-0/eviction", "status": 429, "json": no_budget(), "times": 0})
    result = scene.run(on_failure=policy, delete_options={"wait_timeout": 10})
    assert (result["failed"], result["changed"], scene.cordoned()) == (True, True, cordoned)
    node = result["nodes"][0]
    assert (node["rolled_back"], node["cordoned"]) == (not cordoned, cordoned)


def test_a_cordon_that_was_there_before_is_never_lifted() -> None:
    scene = Scene(*app("db"))
    scene.cluster.perform({**UNCORDON, "body": {"spec": {"unschedulable": True}}})
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0})
    result = scene.run(on_failure="uncordon", delete_options={"wait_timeout": 10})
    assert (reasons(result), scene.cordoned()) == ({"db-0": "pdb_no_budget"}, True)


def test_lifting_the_cordon_at_the_end_keeps_to_the_limit() -> None:
    scene = Scene(*app("db"))
    scene.faults.add(
        {**EVICTION, "status": 429, "json": no_budget(), "times": 0},
        {"path": "/nodes/w1", "after": 3, "delay": 60, "times": 0, "pass": True},
    )
    result = scene.run(on_failure="uncordon", delete_options={"wait_timeout": 10})
    assert (result["failed"], scene.seconds <= 11.1) == (True, True)
    assert "could not be uncordoned after the failure" in result["warnings"][0]


def test_a_node_that_leaves_the_cluster_while_it_is_drained_counts_as_drained() -> None:
    scene = Scene(*app("web", term=3))
    scene.agenda.after(3.5, lambda: scene.store.delete("Node", None, "w1"))
    scene.agenda.after(1, lambda: scene.store.delete("Pod", "default", "web-0", grace=0))
    scene.agenda.after(0.5, lambda: scene.store.delete("Node", None, "w1"))
    result = scene.run()
    assert (result["failed"], result["warnings"]) == (False, ["node w1 left the cluster while it was drained"])


def test_lifting_the_cordon_takes_what_is_left_of_the_time() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "times": 0, "status": 403}, {"path": ".", "times": 0, "delay": 1.2, "pass": True})
    result = scene.run(on_failure="uncordon", preflight="skip")
    assert (result["nodes"][0]["rolled_back"], result["warnings"], scene.cordoned()) == (True, [], False)
