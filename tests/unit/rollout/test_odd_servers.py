# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers, and what stands before them, that answer oddly for long: no loop gets hot, no wait is in vain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.responses import unexpected_response
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout, events_in
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    Expired,
    InvalidOptions,
    ServerFault,
    Unreachable,
)
from rollout.situations import COMPLETE, deployment, granted, later, progressing, rule, status, still
from stage import Scene

BOOKMARK = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "5"}}}
OLD_NEWS = {"type": "MODIFIED", "object": {"metadata": {"name": "web", "uid": "uid-web", "resourceVersion": "1"}}}
A_LIST = r"deployments\?(?!.*watch)"


class Blanks:
    """A watch that sends the same bytes for ever."""

    def __init__(self, chunk: bytes = b" \n") -> None:
        self._chunk = chunk

    def stream(self, amount: int) -> Iterator[bytes]:
        while True:
            yield self._chunk


def unfinished(**fields: Any) -> Scene:
    return still(deployment(updatedReplicas=1, replicas=2, **fields))


@pytest.mark.parametrize(
    "fault",
    [
        {"watch": "expire"},
        {"watch": "end"},
        {"status": 410},
        {"status": 500},
        {"reset": "before"},
        {"status": 200, "body_text": json.dumps(BOOKMARK) + "\n"},
        {"status": 200, "body_text": json.dumps(OLD_NEWS) + "\n"},
        {"status": 200, "body_text": "[" * 100_000 + "\n"},
    ],
    ids=["expired", "ended", "gone", "broken", "reset", "bookmark", "old news", "nested"],
)
def test_a_watch_that_never_works_costs_few_requests_and_hides_nothing(fault: dict[str, Any]) -> None:
    scene = unfinished()
    scene.faults.add({"path": "watch=true", "times": 0, **fault})
    later(scene, 60, status(**COMPLETE))
    assert scene.follow(name=["web"], fail_early="off")["done"]
    assert scene.seconds <= 66
    assert len(scene.cluster.requests) <= 3 * 60


def test_where_the_way_does_not_let_a_watch_pass_lists_come_instead() -> None:
    scene = unfinished()
    scene.faults.add({"path": "watch=true", "status": 405, "times": 0})
    later(scene, 12, status(**COMPLETE))
    result = scene.follow(name=["web"], fail_early="off")
    assert (result["done"], "cannot be watched" in result["warnings"][0]) == (True, True)


@pytest.mark.parametrize(
    "faults, error",
    [
        ([{"path": "continue=x", "status": 410, "times": 0}], Expired),
        ([], ServerFault),
    ],
    ids=["second page forgotten", "the same page for ever"],
)
def test_a_list_that_has_no_end_costs_few_requests(faults: list[dict[str, Any]], error: type[Exception]) -> None:
    scene = unfinished()
    page = {"kind": "DeploymentList", "items": [], "metadata": {"continue": "x"}}
    scene.faults.add(*faults, {"path": A_LIST, "json": page, "times": 0})
    with pytest.raises(error):
        scene.follow(name=["web"], wait_timeout=60)
    assert len(scene.cluster.requests) <= 60


def test_other_json_for_a_list_does_not_mean_that_everything_is_gone() -> None:
    scene = unfinished()
    scene.faults.add(
        {"path": "watch=true", "watch": "expire"}, {"path": A_LIST, "json": {"login": "please"}, "after": 1, "times": 2}
    )
    later(scene, 10, status(**COMPLETE))
    assert scene.follow(name=["web"], fail_early="off")["done"]


def test_a_server_that_knows_no_lists_is_told_at_once() -> None:
    scene = unfinished()
    scene.faults.add({"path": A_LIST, "json": {"login": "please"}, "times": 0})
    with pytest.raises(ServerFault) as caught:
        scene.follow(name=["web"])
    assert "the response to a list request is not a list" in caught.value.message
    assert scene.seconds == 0


@pytest.mark.parametrize("wait_timeout", [0, 600])
def test_nobody_waits_for_a_hint(wait_timeout: int) -> None:
    scene = unfinished()
    scene.faults.add({"path": "namespaces/default$", "status": 503, "times": 0})
    with pytest.raises(InvalidOptions) as caught:
        scene.follow(name=["wev"], wait_timeout=wait_timeout)
    assert caught.value.message.endswith("did you mean web?")
    assert scene.seconds == 0


def test_credentials_that_run_out_end_looks_within_half_a_minute() -> None:
    scene = unfinished()
    granted(scene, rule(["get"]))
    scene.faults.add({"path": "deployments/web", "status": 401, "after": 3, "times": 0})
    result = scene.follow(name=["web"], fail_early="off", wait_timeout=300)
    assert scene.seconds <= 10 + 5 + 17
    assert "cannot be read: the API server does not accept the credentials" in result["workloads"][0]["failure"]


def test_one_look_ends_where_nothing_confirms_a_failure() -> None:
    scene = unfinished(conditions=progressing("ProgressDeadlineExceeded", "False"))
    scene.faults.add({"path": "deployments/web", "status": 400, "times": 0})
    result = scene.follow(name=["web"], watch=False, wait_timeout=0)
    assert (result["workloads"][0]["failure"], scene.seconds) == ('deployment "web" exceeded its progress deadline', 2)


def test_a_watch_that_a_proxy_keeps_open_with_blanks_is_not_trusted_for_long() -> None:
    now = iter(float(second) for second in range(1000))
    events = events_in(Blanks(), 30.0, lambda: next(now), "https://api.test")
    with pytest.raises(ResponseTimeout):
        list(events)


def test_an_event_without_an_end_is_no_event() -> None:
    with pytest.raises(ServerFault) as caught:
        list(events_in(Blanks(b"x" * 65536), 30.0, lambda: 0.0, "https://api.test"))
    assert caught.value.message == "the watch sent an event without an end"


def test_a_redirect_is_told_without_the_login_in_it() -> None:
    fault = unexpected_response(302, {"Location": "https://u:s3cret@login.test/x?t=s3cret"}, b"")
    assert "(HTTP 302 to https://login.test/x, " in fault.message


def test_the_reason_why_nothing_was_heard_is_told() -> None:
    scene = unfinished()
    scene.faults.add({"reset": "before", "times": 0})
    with pytest.raises(Unreachable):
        scene.follow(name=["web"], wait_timeout=10)
    assert scene.seconds <= 11
