# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole tasks on answers in which fields are absent, null, of another type or huge: each ends in time with a result or
with a sentence, and leaves the pods of other nodes alone.

Each case is drawn from a seed, which a failure names.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError
from drain.situations import agent, app
from kubesim import builders
from stage import Scene

SEEDS = range(20)
LIMIT = 30
ODD: list[Any] = [
    None, "", 0, -1, 10**30, 1e308, True, [], {}, "x" * 5000, [None], [[]], {"a": None}, "\ud83d", "9" * 50, 3.0,
    "0001-01-01T00:00:00Z", [{"type": None}], "\x00",
]  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every field and entry of a document, as what holds it and its key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


class OddPool:
    """A connection's pool whose answers and events are made odd, some more and some less often."""

    def __init__(self, pool: Any, draw: random.Random) -> None:
        self._pool, self._draw, self._share = pool, draw, draw.choice([0.05, 0.3, 0.8])

    def request(self, method: str, url: str, **settings: Any) -> Any:
        answer = self._pool.request(method, url, **settings)
        stream = answer.stream
        if "watch=true" in url:
            answer.stream = lambda amount: (self._events(chunk) for chunk in stream(amount))
        else:
            answer.data = self._odd(answer.data)
        return answer

    def _events(self, chunk: bytes) -> bytes:
        return b"".join(self._odd(line) + b"\n" for line in chunk.split(b"\n") if line)

    def _odd(self, data: bytes) -> bytes:
        if self._draw.random() >= self._share:
            return data
        document = json.loads(data)
        for _time in range(self._draw.randint(1, 4)):
            found = list(places(document))
            holder, key = self._draw.choice(found) if found else ([None], 0)
            if isinstance(holder, dict) and self._draw.random() < 0.2:
                del holder[key]
            else:
                holder[key] = copy.deepcopy(self._draw.choice(ODD))
        return json.dumps(document).encode()


def ended(scene: Scene, result: dict[str, Any] | MaintenanceError) -> tuple[bool, bool]:
    """Return whether a task ended in time, and whether its result can be written."""
    text = json.dumps(result) if isinstance(result, dict) else result.message
    return scene.seconds <= LIMIT + 1.1, bool(text.encode())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drain_ends_on_odd_answers(seed: int) -> None:
    draw = random.Random(seed)
    guarded = draw.choice(["web", "nobody"])
    budget = builders.budget("b", selector={"app": guarded}, min_available=1)
    scene = Scene(*app("web", term=3), *app("db", term=2), *app("other", node="w2"), *agent(), budget)
    scene.connection.pool = OddPool(scene.connection.pool, draw)  # type: ignore[assignment]
    result: dict[str, Any] | MaintenanceError
    try:
        result = scene.run(
            check_mode=draw.random() < 0.15,
            pod_selectors=draw.choice([None, None, ["app"]]),
            wait_volume_detach=draw.random() < 0.3,
            preflight=draw.choice(["standard", "skip", "strict"]),
            cordon_owner=draw.choice([None, "me"]),
            on_failure=draw.choice(["keep_cordon", "uncordon"]),
            delete_options={
                "ignore_daemonsets": True,
                "force": True,
                "delete_emptydir_data": True,
                "wait_timeout": LIMIT,
                "skip_wait_for_delete_timeout": draw.choice([0, 0, 5]),
            },
        )
    except MaintenanceError as exc:
        result = exc
    assert (ended(scene, result), "other-0" in scene.pods("w2")) == ((True, True), True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rollout_is_followed_to_an_end_on_odd_answers(seed: int) -> None:
    draw = random.Random(seed)
    scene = Scene(
        builders.deployment("web", 2, start=2.0),
        builders.stateful_set("db", 2, start=1.0),
        builders.daemon_set("agent"),
        builders.deployment("bad", 1, never_ready=True),
    )
    scene.connection.pool = OddPool(scene.connection.pool, draw)  # type: ignore[assignment]
    kinds = {"web": "Deployment", "db": "StatefulSet", "agent": "DaemonSet", "bad": "Deployment"}
    result: dict[str, Any] | MaintenanceError
    try:
        result = scene.follow(
            workloads=[{"kind": kind, "name": name, "namespace": "default"} for name, kind in kinds.items()],
            wait_timeout=LIMIT,
            fail_early=draw.choice(["off", "tolerant", "strict"]),
            fail_early_window=8,
            semantics=draw.choice(["kubectl", "strict"]),
        )
    except MaintenanceError as exc:
        result = exc
    assert ended(scene, result) == (True, True)
