# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judging and replaying recorded rollouts."""

from __future__ import annotations

from typing import Any

import pytest

from golden.cases import Case, Obj
from golden.judge import AGREES, DISAGREES
from golden.rollout_judge import Told, verdict_on
from golden.rollout_play import recorded_changes
from golden_runner.recordings import NAMESPACE, case

HALF, DONE = 'Waiting for deployment "web" rollout to finish: 1 out of 2...', 'deployment "web" successfully rolled out'


def ended(code: int, *lines: str, stderr: str = "") -> Case:
    return case(exit_code=code, stdout="".join(line + "\n" for line in lines), stderr=stderr)


@pytest.mark.parametrize(
    ("recorded", "module"),
    [
        (ended(0, HALF, HALF, DONE), Told(False, (HALF, DONE))),
        (ended(0, DONE), Told(False, (DONE,))),
        (ended(1, stderr="error: no such thing\n"), Told(True, ())),
        (ended(1, HALF, stderr="error: too late\n"), Told(True, (HALF,))),
        (ended(1, HALF, stderr="error: too late\n"), Told(True, (HALF, "too late"))),
        (ended(1, stderr="Error from server (NotFound): none\n"), Told(True, ("none",))),
    ],
    ids=["fewer-lines", "one-line", "no-line", "before-the-error", "the-error-itself", "refused"],
)
def test_a_rollout_agrees_that_ends_with_the_same_line(recorded: Case, module: Told) -> None:
    assert verdict_on(recorded, module).kind == AGREES


@pytest.mark.parametrize(
    ("recorded", "module", "text"),
    [
        (ended(0, DONE), Told(True, (DONE,)), "the module failed and kubectl did not"),
        (ended(1, DONE), Told(False, (DONE,)), "kubectl failed and the module did not"),
        (ended(0, DONE), Told(False, (HALF,)), f"the last line is {HALF!r} and was {DONE!r} of kubectl"),
        (ended(0, DONE), Told(False, ()), f"the last line is None and was {DONE!r} of kubectl"),
    ],
    ids=["failed", "succeeded", "another-line", "no-line"],
)
def test_a_rollout_disagrees_that_ends_otherwise(recorded: Case, module: Told, text: str) -> None:
    verdict = verdict_on(recorded, module)
    assert (verdict.kind, verdict.text) == (DISAGREES, text)


def test_each_of_several_workloads_has_its_last_line() -> None:
    other = DONE.replace("web", "api")
    assert verdict_on(ended(0, HALF, DONE, other), Told(False, (HALF, other, DONE))).kind == AGREES


def deployment(version: int, **metadata: Any) -> Obj:
    meta = {"name": "web", "namespace": NAMESPACE, "uid": "uid-web", "resourceVersion": str(version), **metadata}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}


def watched(seconds: float, *events: Obj) -> Obj:
    return {"t": 0.0, "method": "GET", "status": 200, "events": [{"t": seconds, "event": event} for event in events]}


def answered(seconds: float, response: Obj) -> Obj:
    return {"t": seconds, "method": "GET", "status": 200, "response": response}


def test_each_version_of_an_object_is_played_once_and_at_its_time() -> None:
    exchanges = [
        answered(0.1, deployment(1)),
        watched(0.5, {"type": "ADDED", "object": deployment(1)}, {"type": "MODIFIED", "object": deployment(2)}),
        watched(0.9, {"type": "MODIFIED", "object": deployment(2)}, {"type": "DELETED", "object": deployment(3)}),
    ]
    changes = recorded_changes(case(before=[deployment(1)], exchanges=exchanges))
    assert [(change.seconds, change.gone) for change in changes] == [(0.5, False), (0.9, True)]


def test_items_of_a_list_are_played_with_their_kind() -> None:
    item = deployment(2)
    del item["kind"], item["apiVersion"]
    listed = {"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {}, "items": [item]}
    (change,) = recorded_changes(case(before=[deployment(1)], exchanges=[answered(0.3, listed)]))
    assert change.obj == deployment(2)


def test_bookmarks_and_errors_of_a_watch_are_not_played() -> None:
    error = {"type": "ERROR", "object": {"kind": "Status", "metadata": {}}}
    bookmark = {"type": "BOOKMARK", "object": deployment(9)}
    assert recorded_changes(case(before=[], exchanges=[watched(0.3, error, bookmark)])) == []
