# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that do not pass: they end the task in time, and cost few requests until then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout, exchange
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Expired, TooManyRequests
from drain.situations import app
from kubesim import builders
from stage import Scene, drained


def test_a_list_whose_pages_are_forgotten_each_time_is_asked_for_ever_more_seldom() -> None:
    scene = Scene(*[obj for n in range(5) for obj in app("web%d" % n)])
    scene.faults.add({"path": "continue=", "status": 410, "times": 0})
    with pytest.raises(Expired):
        scene.run(delete_options={"chunk_size": 2, "wait_timeout": 60})
    assert scene.seconds <= 60
    assert len(scene.cluster.requests) < 40


def test_a_list_that_is_refused_as_too_old_is_asked_for_again() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"method": "GET", "path": "fieldSelector", "status": 410, "after": 1, "times": 2})
    result = scene.run()
    assert (result["failed"], drained(result)) == (False, ["web-0"])


def test_a_server_that_asks_for_a_long_wait_before_its_first_answer_is_given_up_in_time() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": "/nodes/w1", "status": 429, "headers": {"Retry-After": "600"}, "times": 0})
    with pytest.raises(TooManyRequests):
        scene.run()
    assert (scene.seconds, len(scene.cluster.requests)) == (30, 2)


def test_an_answer_that_comes_byte_by_byte_is_given_up_in_time() -> None:
    scene = Scene()

    class Dripping:
        status, headers, closed = 200, {}, False  # type: ignore[var-annotated]

        def read1(self, amount: int) -> bytes:
            scene.agenda.advance(1)
            return b" "

        def close(self) -> None:
            self.closed = True

    answer = Dripping()

    def request(*_arguments: Any, **_settings: Any) -> Dripping:
        return answer

    connection: Any = SimpleNamespace(
        base_url="https://x", pool=SimpleNamespace(request=request), bounded=lambda seconds, job: job()
    )
    with pytest.raises(ResponseTimeout):
        exchange(connection, "GET", "/", {}, None, 5, scene.clock.monotonic)
    assert (scene.seconds, answer.closed) == (5, True)


@pytest.mark.parametrize("task", ["run", "follow"])
def test_what_it_took_to_get_credentials_is_part_of_the_tasks_time(task: str) -> None:
    scene = Scene(*app("web", term=600), builders.deployment("web", 1, never_ready=True))
    scene.clock.began = scene.clock.monotonic() - 4
    if task == "run":
        scene.run(delete_options={"wait_timeout": 10})
    else:
        scene.follow(name=["web"], wait_timeout=10, fail_early="off")
    assert scene.seconds == 6
