# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide what is tried again, how often, and after how many seconds. Every retry of the collection uses this file.

Requests repeat what certainly is transient by themselves, within their deadline (rest.py). What is left is for tasks
that follow a cluster for minutes: errors that usually are permanent, but may be transient while an API server restarts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import (
    ApiError,
    Conflict,
    InvalidConfiguration,
    MaintenanceError,
    ServerFault,
    TooManyRequests,
    Unreachable,
)

Value = TypeVar("Value")

# How often an error is retried that would stay the same if it were permanent; the delay before the first retry, and
# the longest one: a right that is really gone ends the task in about 20 s.
MAX_RETRIES = 5
FIRST_DELAY = 1.0
MAX_DELAY = 5.0

# An object that changes that often between a read and a write is being fought over.
MAX_CONFLICTS = 20


def backoff(attempt: int, first: float, longest: float) -> float:
    """Return the delay after an attempt (1 is the first): doubled each time, up to the longest."""
    return min(longest, first * 2.0 ** min(attempt - 1, 30))


class Retries:
    """Count transient errors in a row."""

    def __init__(self, limit: int = MAX_RETRIES) -> None:
        self._limit = limit
        self.count = 0

    def delay_after(self, error: MaintenanceError) -> float | None:
        """Count an error; return the seconds to wait before the next try, None if the error is to be reported."""
        delay = self.next_delay()
        return delay if is_transient(error) else None

    def next_delay(self) -> float | None:
        """Count an error that may be transient; return the seconds to wait, None if it came too often in a row."""
        self.count += 1
        return backoff(self.count, FIRST_DELAY, MAX_DELAY) if self.count <= self._limit else None

    def tolerates(self, error: MaintenanceError) -> bool:
        """Count an error; return whether a waiting task should keep polling after it.

        Only for a task that has had a good response before. The API server may be away for long while a node of the
        control plane reboots.
        """
        delay = self.delay_after(error)
        return delay is not None or isinstance(error, (ServerFault, TooManyRequests, Unreachable))

    def reset(self) -> None:
        """Start again from zero, after a good response."""
        self.count = 0


def retry_on_conflict(
    change: Callable[[], Value], reread: Callable[[], object], attempts: int = MAX_CONFLICTS
) -> Value:
    """Return what C(change) returns; after each Conflict read the object again and repeat it.

    Raise the last Conflict after that many attempts.
    """
    for _attempt in range(attempts - 1):
        try:
            return change()
        except Conflict:
            reread()
    return change()


def is_transient(error: MaintenanceError) -> bool:
    """Return whether an error may pass that is permanent as a rule.

    An API server that has just started may not know its roles, its objects and its token reviewers yet. A host name
    that resolved before, a certificate that was trusted and credentials that could be renewed may come back, too.
    """
    return isinstance(error, (ApiError, InvalidConfiguration)) or (isinstance(error, Unreachable) and error.final)
