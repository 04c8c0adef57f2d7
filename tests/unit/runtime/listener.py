# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reads the lines of a task."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import Progress


class Hands(Clock):
    """A clock that a test moves, and that sleeps in no time."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return 1_790_000_000.0 + self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Listener:
    """Keeps what a Progress tells, with the seconds since the beginning."""

    def __init__(self, clock: Clock, **settings: Any) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self.entries: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.progress = Progress(clock, self._take, **settings)

    def _take(self, entry: dict[str, Any]) -> bool:
        self.entries.append(entry)
        self.times.append(round(self._clock.monotonic() - self._began, 2))
        return True

    @property
    def texts(self) -> list[str]:
        return [entry["text"] for entry in self.entries]

    @property
    def timed(self) -> list[tuple[float, str]]:
        return list(zip(self.times, self.texts, strict=True))


def most_in_a_second(times: list[float]) -> int:
    """Return the largest number of moments in any span of one second."""
    return max(sum(1 for other in times if 0 <= other - time < 0.999) for time in times)
