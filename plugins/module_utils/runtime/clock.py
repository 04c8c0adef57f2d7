# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clocks and deadlines. Nothing else in the collection reads a clock."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

# Longer than any drain, and still a timeout that every platform's wait calls accept.
FOREVER = 86400.0 * 365

# Seconds by which two clocks may differ and still count as the same.
AGREED = 10.0

# Check once more this long before the deadline: what no watch has reported yet must not fail a task.
FINAL_CHECK_SECONDS = 1.0
# What is still done after the deadline must not make the task much longer than it was allowed to be.
CLEANUP_SECONDS = 0.8


class Clock:
    """The clock of this machine. Unit tests replace it by one that drives the simulated cluster too.

    began: when the task began, on the monotonic clock; None: when its deadline is made.
    """

    began: float | None = None

    def monotonic(self) -> float:
        """Return seconds that never jump; only differences mean something."""
        return time.monotonic()

    def wall(self) -> float:
        """Return seconds since 1970, to compare with time stamps of the API server."""
        return time.time()

    def stamp(self) -> str:
        """Return the time of day as the API writes it (RFC 3339, UTC, whole seconds)."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.wall()))

    def sleep(self, seconds: float) -> None:
        """Do nothing for C(seconds)."""
        time.sleep(seconds)

    def jitter(self) -> float:
        """Return a factor near 1, so that clients that were rejected together do not retry together."""
        return 0.8 + 0.4 * random.random()


class ServerClock(Clock):
    """A clock whose time of day is the API server's, for comparing it with time stamps; all else is that of C(clock).

    ahead: returns by how many seconds the server's clock is ahead.
    """

    def __init__(self, clock: Clock, ahead: Callable[[], float]) -> None:
        self._clock = clock
        self._ahead = ahead

    def monotonic(self) -> float:
        """Return seconds that never jump."""
        return self._clock.monotonic()

    def wall(self) -> float:
        """Return the server's seconds since 1970."""
        return self._clock.wall() + self._ahead()

    def sleep(self, seconds: float) -> None:
        """Do nothing for C(seconds)."""
        self._clock.sleep(seconds)

    def jitter(self) -> float:
        """Return a factor near 1."""
        return self._clock.jitter()


def clock_lead(date: Any, now: float, before: float) -> float:
    """Return by how many seconds the clock of a C(Date) header (RFC 9110) is ahead; before: the lead known so far."""
    try:
        lead = parsedate_to_datetime(date).timestamp() - now
    except (TypeError, ValueError, AttributeError, OverflowError):
        return before
    # The header has whole seconds, and a response may have taken some to arrive.
    return lead if abs(lead) > AGREED else 0.0


class Deadline:
    """The moment by which some work has to end. 0 seconds mean no limit, as in kubectl's C(--timeout)."""

    def __init__(self, clock: Clock, seconds: float, began: float | None = None) -> None:
        """Begin now, or at that moment of the monotonic clock."""
        self._clock = clock
        self.seconds = seconds
        self._end = (clock.monotonic() if began is None else began) + (seconds if seconds > 0 else FOREVER)

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self._end - self._clock.monotonic())

    def expired(self) -> bool:
        """Return whether no time is left."""
        return self._clock.monotonic() >= self._end

    @property
    def unlimited(self) -> bool:
        """Return whether there is no limit."""
        return self.seconds <= 0


class LastLook:
    """When to check once more, shortly before a deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._taken = deadline.unlimited

    def due(self) -> bool:
        """Return whether it is time, true only once."""
        if self._taken or self._deadline.remaining() > FINAL_CHECK_SECONDS:
            return False
        self._taken = True
        return True

    def wakes(self) -> list[float]:
        """Return in how many seconds it is due, [] if it was due already or there is no deadline."""
        return [] if self._taken else [self._deadline.remaining() - FINAL_CHECK_SECONDS]
