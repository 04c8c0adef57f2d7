# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that wait for a controller's attention, each at most once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from ..agenda import Agenda, Handle

# A controller answers a change within milliseconds; changes that come together are seen together.
REACTION_SECONDS = 0.005

Key = TypeVar("Key", bound=Hashable)


class WorkQueue(Generic[Key]):
    """Call `reconcile` once for each key added, `delay` seconds later; further adds until then make no difference."""

    def __init__(self, agenda: Agenda, reconcile: Callable[[Key], None], delay: float = REACTION_SECONDS) -> None:
        self._agenda = agenda
        self._reconcile = reconcile
        self._delay = delay
        self._planned: dict[Key, Handle] = {}

    def add(self, key: Key, after: float | None = None) -> None:
        """Plan a call in `after` seconds (default: the queue's delay); an earlier plan stays, a later gives way."""
        due = self._agenda.now + (self._delay if after is None else max(after, 0.0))
        planned = self._planned.get(key)
        if planned is not None:
            if planned.when <= due:
                return
            planned.cancel()
        self._planned[key] = self._agenda.at(due, partial(self._run, key))

    def discard(self, key: Key) -> None:
        """Strike a planned call for `key`, if there is one."""
        planned = self._planned.pop(key, None)
        if planned is not None:
            planned.cancel()

    def stop(self) -> None:
        """Strike every planned call."""
        for planned in self._planned.values():
            planned.cancel()
        self._planned.clear()

    def _run(self, key: Key) -> None:
        self._planned.pop(key, None)
        self._reconcile(key)
