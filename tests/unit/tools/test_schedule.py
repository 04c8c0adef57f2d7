# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How `make test` runs its steps side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import pytest

from schedule import side_by_side

PATIENCE = 30.0  # seconds after which a job that should have ended hangs


class Jobs:
    """Jobs that run until they are let go. started: their names, in order."""

    def __init__(self, widths: Mapping[str, int], free: int) -> None:
        self.started: list[str] = []
        self._news = threading.Condition()
        self._let_go = {name: threading.Event() for name in widths}
        self._ends = side_by_side(widths, free, self._run)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.ended: list[str] = []
        self._reader.start()

    def _run(self, name: str) -> None:
        self._note(lambda: self.started.append(name))
        self._let_go[name].wait(PATIENCE)

    def _read(self) -> None:
        for name, _result in self._ends:
            self._note(lambda name=name: self.ended.append(name))  # type: ignore[misc]

    def _note(self, change: Callable[[], None]) -> None:
        with self._news:
            change()
            self._news.notify_all()

    def end(self, name: str) -> None:
        """Let a job end, and wait until that is known."""
        self._let_go[name].set()
        with self._news:
            assert self._news.wait_for(lambda: name in self.ended, PATIENCE)

    def await_started(self, *names: str) -> None:
        """Return when just these have started, in this order where one had to wait for another."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.started) >= len(names), PATIENCE), self.started
            assert sorted(self.started) == sorted(names)


def test_jobs_start_in_order_as_far_as_there_is_room() -> None:
    jobs = Jobs({"a": 1, "b": 1, "c": 1}, 2)
    jobs.await_started("a", "b")
    jobs.end("b")
    jobs.await_started("a", "b", "c")
    jobs.end("a")
    jobs.end("c")
    assert jobs.ended == ["b", "a", "c"]


def test_no_job_overtakes_a_wide_one() -> None:
    jobs = Jobs({"a": 1, "wide": 2, "c": 1}, 2)
    jobs.await_started("a")
    jobs.end("a")
    jobs.await_started("a", "wide")
    jobs.end("wide")
    jobs.await_started("a", "wide", "c")
    jobs.end("c")


def test_a_job_that_is_too_wide_for_the_machine_has_it_for_itself() -> None:
    jobs = Jobs({"a": 1, "wide": 9, "c": 1}, 2)
    jobs.await_started("a")
    jobs.end("a")
    jobs.await_started("a", "wide")
    jobs.end("wide")
    jobs.end("c")
    assert jobs.ended == ["a", "wide", "c"]


def test_a_job_that_breaks_hides_no_other() -> None:
    problem = ValueError("broken")

    def run(name: str) -> str:
        if name == "a":
            raise problem
        return f"{name} ran"

    assert dict(side_by_side({"a": 2, "b": 2, "c": 2}, 2, run)) == {"a": problem, "b": "b ran", "c": "c ran"}


@pytest.mark.parametrize("free", [2, 4])
def test_every_job_is_run_once(free: int) -> None:
    names = [f"job-{number}" for number in range(20)]
    ran: list[str] = []
    ended = [name for name, _result in side_by_side(dict.fromkeys(names, 1), free, ran.append)]
    assert (sorted(ran), sorted(ended)) == (sorted(names), sorted(names))


def test_while_no_job_ends_it_is_said_which_ones_run() -> None:
    said: list[list[str]] = []
    go_on = threading.Event()

    def say(running: Mapping[str, float]) -> None:
        said.append(sorted(running))
        go_on.set()

    ended = [
        name
        for name, _result in side_by_side({"a": 1, "b": 1, "c": 2}, 2, lambda name: go_on.wait(PATIENCE), say, 0.01)
    ]
    assert (said[0], sorted(ended)) == (["a", "b"], ["a", "b", "c"])


def test_nothing_is_said_while_jobs_end() -> None:
    said: list[Mapping[str, float]] = []
    list(side_by_side({"a": 1, "b": 1}, 1, str, said.append, PATIENCE))
    assert said == []
