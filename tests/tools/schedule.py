# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run jobs side by side, so that a machine computes for one while another waits."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Result = TypeVar("Result")


def room() -> int:
    """Return how many places a machine has: one for each processor, but two on the smallest and four on large machines.

    Some jobs mostly wait, and tests that watch the clock would suffer from more.
    """
    return min(max(os.cpu_count() or 1, 2), 4)


def side_by_side(
    widths: Mapping[str, int],
    free: int,
    run: Callable[[str], Result],
    still_running: Callable[[Mapping[str, float]], None] = lambda running: None,
    interval: float = 30.0,
) -> Iterator[tuple[str, Result | Exception]]:
    """Run all jobs in threads and yield (name, result) as each ends; a job that raises yields its exception.

    widths: by name, how many of the `free` places a job takes; one that is wider than all of them takes all. Jobs
    start in the order of `widths` and never overtake one another, so that a wide one does not wait for ever.
    still_running: called with {name: seconds since its start} when no job has ended for `interval` seconds.
    """
    ended: queue.SimpleQueue[tuple[str, Result | Exception]] = queue.SimpleQueue()
    taken = {name: min(width, free) for name, width in widths.items()}
    waiting = list(taken)
    running: dict[str, float] = {}  # when each was started

    def work(name: str) -> None:
        try:
            ended.put((name, run(name)))
        except Exception as exc:
            ended.put((name, exc))

    while waiting or running:
        while waiting and taken[waiting[0]] <= free:
            name = waiting.pop(0)
            free -= taken[name]
            running[name] = time.monotonic()
            # Nothing waits for the thread of a job when the program is interrupted.
            threading.Thread(target=work, args=(name,), name=name, daemon=True).start()
        try:
            name, result = ended.get(timeout=interval)
        except queue.Empty:
            still_running({name: time.monotonic() - began for name, began in running.items()})
            continue
        free += taken[name]
        del running[name]
        yield name, result
