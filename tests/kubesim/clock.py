# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real time made into simulated time."""

from __future__ import annotations

import time

from .agenda import Agenda


class Clock:
    """Map the monotonic clock to the agenda's seconds: `speed` simulated seconds pass in one real second."""

    def __init__(self, agenda: Agenda, speed: float = 1.0) -> None:
        self.agenda = agenda
        self.speed = speed
        self._real = time.monotonic()
        self._simulated = agenda.now

    def now(self) -> float:
        """Return the simulated time at which the agenda should stand."""
        return self._simulated + (time.monotonic() - self._real) * self.speed

    def catch_up(self) -> None:
        """Run what has become due."""
        self.agenda.advance_to(self.now())

    def advance(self, seconds: float) -> None:
        """Let simulated seconds pass at once."""
        self._set(self.now() + seconds)
        self.catch_up()

    def set_speed(self, speed: float) -> None:
        """Go on at another speed; ValueError unless it is positive."""
        if not speed > 0:
            raise ValueError("speed must be greater than 0")
        self._set(self.now())
        self.speed = speed

    def real_seconds(self, simulated: float) -> float:
        """Return how long to sleep for a number of simulated seconds."""
        return max(simulated, 0.0) / self.speed

    def _set(self, simulated: float) -> None:
        self._real, self._simulated = time.monotonic(), simulated
