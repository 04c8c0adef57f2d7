# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Doubt an answer that would end a task in its middle, and that another answer may correct."""

from __future__ import annotations

from ..errors import ApiError, InvalidConfiguration, MaintenanceError, ServerFault, TooManyRequests, Unreachable
from ..runtime.clock import backoff

# How often an answer is doubted that would stay the same if it were true; the first pause before asking again, and the
# longest: a right that is really gone ends the task in about 20 s.
MAX_RETRIES = 5
FIRST_DELAY = 1.0
MAX_DELAY = 5.0


def retry_delay(error: MaintenanceError, doubts: int) -> float | None:
    """Return after how many seconds to ask again in spite of an error that is for good as a rule; None if it counts.

    An API server that has just come up may know no rights, no objects, and not who vouches for tokens, for a moment.
    What renews credentials, resolves names or answers with a certificate worked before, too. doubts: errors in a row.
    """
    odd = isinstance(error, (ApiError, InvalidConfiguration)) or (isinstance(error, Unreachable) and error.final)
    return next_delay(doubts) if odd else None


def next_delay(doubts: int) -> float | None:
    """Return after how many seconds to ask again when so many answers in a row were doubted; None: they count."""
    return backoff(doubts, FIRST_DELAY, MAX_DELAY) if doubts <= MAX_RETRIES else None


def is_transient(error: MaintenanceError, doubts: int) -> bool:
    """Tell whether an error that a task gets which waits, and was answered before, is no reason to wait no more.

    The API server may be away while a node of the control plane reboots. doubts: errors in a row.
    """
    passing = isinstance(error, (ServerFault, TooManyRequests, Unreachable))
    return passing or retry_delay(error, doubts) is not None


class Retries:
    """Count transient errors in a row."""

    def __init__(self, limit: int = MAX_RETRIES) -> None:
        self._limit = limit
        self._errors = 0

    def delay_after(self, error: MaintenanceError) -> float | None:
        """Count an error. Return the seconds to wait before the next try, None if the error counts."""
        self._errors += 1
        return retry_delay(error, self._errors) if self._errors <= self._limit else None

    def reset(self) -> None:
        """Start counting again, after a request that succeeded."""
        self._errors = 0
