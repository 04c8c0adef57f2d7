# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add up for how long a node has been seen well."""

from __future__ import annotations

from .objects import Obj, condition_of, part, uid_of


class Soak:
    """The time for which a node was well without a break.

    It is the time between looks that found the node well. A look without an answer proves nothing either way: the time
    around it does not count, and what counted before is kept. lasted: seconds; begun: how often it began.
    """

    def __init__(self) -> None:
        self.lasted = 0.0
        self.begun = 0
        self._looked: float | None = None
        self._life: tuple[str, str] = ("", "")
        self._ready_since: object = None

    def well(self, node: Obj, now: float) -> None:
        """Take note that the node was found well; begin anew if it shows that it was not so all the time.

        Time stamps of the node are only compared with one another, so that its clock may be wrong.
        """
        life = (uid_of(node), str(part(node, "status", "nodeInfo").get("bootID") or ""))
        ready_since = condition_of(node, "Ready").get("lastTransitionTime")
        # Only after a gap, because some kubelets write a new time with each report.
        if life != self._life or (self._looked is None and ready_since != self._ready_since):
            self.broken()
            self.begun += 1
        if self._looked is not None:
            self.lasted += now - self._looked
        self._looked, self._life, self._ready_since = now, life, ready_since

    def unanswered(self) -> None:
        """Take note that a look told nothing."""
        self._looked = None

    def broken(self) -> None:
        """Take note that the node was found not to be well."""
        self.lasted, self._looked = 0.0, None
