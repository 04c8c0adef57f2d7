# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every controller works with."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ..agenda import Agenda, timestamp
from ..objects import Object
from ..store import Store
from .events import Recorder
from .index import Index

# A controller's ear: (ADDED|MODIFIED|DELETED, new, old).
Listener = Callable[[str, Object, "Object | None"], None]


@dataclass
class World:
    """Store, clock and index, and the draws of chance that controllers make (the same in every run)."""

    store: Store
    agenda: Agenda
    index: Index
    chance: random.Random = field(default_factory=lambda: random.Random("kubesim controllers"))

    def __post_init__(self) -> None:
        self._recorder = Recorder(self.store, self.agenda)

    def record(self, about: Object, reason: str, message: str, component: str, field: str = "") -> None:
        """Record a Normal event."""
        self._recorder.record(about, "Normal", reason, message, component, field)

    def warn(self, about: Object, reason: str, message: str, component: str, field: str = "") -> None:
        """Record a Warning event."""
        self._recorder.record(about, "Warning", reason, message, component, field)

    @property
    def now(self) -> float:
        """The simulated time, seconds since the epoch."""
        return self.agenda.now

    def stamp(self) -> str:
        """Write the simulated time as objects carry it."""
        return timestamp(self.agenda.now)

    def change(self, obj: Object, change: Callable[[Object], None]) -> Object | None:
        """Change the object if it is still the one of that uid; return what is stored then."""
        meta = obj["metadata"]
        found = self.store.get(obj["kind"], meta.get("namespace"), meta["name"])
        if found is None or found["metadata"]["uid"] != meta["uid"]:
            return None
        return self.store.mutate(obj["kind"], meta.get("namespace"), meta["name"], change)

    def report(self, obj: Object, status: Object) -> None:
        """Write the object's status if it is another one and the object still the one of that uid."""
        meta = obj["metadata"]
        found = self.store.get(obj["kind"], meta.get("namespace"), meta["name"])
        if found is not None and found.get("status") != status:
            self.change(obj, lambda changed: changed.update(status=status))

    def delete(self, obj: Object) -> None:
        """Begin the object's deletion if it is still the one of that uid."""
        meta = obj["metadata"]
        self.store.delete(obj["kind"], meta.get("namespace"), meta["name"], uid=meta["uid"])
