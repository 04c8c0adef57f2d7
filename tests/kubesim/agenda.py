# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator's only clock: what is due at which second."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from datetime import datetime, timezone

TEST_EPOCH = 1_790_000_000.0


class Handle:
    """Something on the agenda; cancelling it twice, or after it ran, does nothing."""

    __slots__ = ("when", "what", "cancelled")

    def __init__(self, when: float, what: Callable[[], None]) -> None:
        self.when = when
        self.what = what
        self.cancelled = False

    def cancel(self) -> None:
        """Strike the item off the agenda."""
        self.cancelled = True


class Agenda:
    """Run callables at points of simulated time (seconds since the epoch)."""

    def __init__(self, now: float | None = None) -> None:
        self.now: float = time.time() if now is None else now
        self.started: float = self.now
        self.on_change: Callable[[], None] | None = (
            None  # the server sleeps until next_due(): it must know of earlier items
        )
        self._items: list[tuple[float, int, Handle]] = []
        self._order = itertools.count()

    def at(self, when: float, what: Callable[[], None]) -> Handle:
        """Run `what` at `when`; a time already past means as soon as the clock is advanced."""
        handle = Handle(max(when, self.now), what)
        heapq.heappush(self._items, (handle.when, next(self._order), handle))
        if self.on_change is not None:
            self.on_change()
        return handle

    def after(self, seconds: float, what: Callable[[], None]) -> Handle:
        """Run `what` in `seconds`."""
        return self.at(self.now + seconds, what)

    def clear(self) -> None:
        """Strike everything off the agenda."""
        self._items.clear()

    def next_due(self) -> float | None:
        """Return when the next item is due, None when nothing is planned."""
        while self._items and self._items[0][2].cancelled:
            heapq.heappop(self._items)
        return self._items[0][0] if self._items else None

    def advance_to(self, when: float) -> None:
        """Run everything due until `when`, in order of time and then of insertion, and leave the clock at `when`."""
        while True:
            due = self.next_due()
            if due is None or due > when:
                break
            handle = heapq.heappop(self._items)[2]
            self.now = max(self.now, handle.when)
            handle.cancelled = True
            handle.what()
        self.now = max(self.now, when)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self.advance_to(self.now + seconds)


def timestamp(seconds: float) -> str:
    """Write a time as the API does: RFC 3339, UTC, whole seconds."""
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    """Read an RFC 3339 time (with or without fractions) as seconds since the epoch; ValueError when it is none."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
