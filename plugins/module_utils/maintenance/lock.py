# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a lock on the cluster, so that two runs of maintenance never overlap."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..api.rest import Rest
from ..api.retry import is_transient
from ..cluster.leases import LeaseStore
from ..errors import Conflict, Failed, InvalidOptions, MaintenanceError
from ..objects import Obj, int_field
from ..option_checks import check_at_least
from ..runtime.clock import Clock, Deadline
from ..runtime.playbook_process import Run, has_ended
from ..runtime.progress import SILENT, Progress
from ..text import format_duration
from .lease_terms import Claimant, Hold, hold_of, is_due, taken
from .progress import WaitProgress, pause

LONGEST_CHANGE = 60.0
# Seconds: less than this is no time, whatever is left of a float.
SHORTEST = 0.01
_MOST_CONFLICTS = 20
_REHEARSED = {"took": "would take", "renewed": "would renew", "released": "would release"}


@dataclass(frozen=True)
class LockTask:
    """What a task asks for; options of the same names, as documented. wanted: whether to hold the lock."""

    claimant: Claimant
    name: str
    namespace: str
    wanted: bool = True
    steal: bool = False
    wait_timeout: int = 0
    wait_sleep: float = 5.0
    check_mode: bool = False


def task_from(params: Mapping[str, Any], check_mode: bool, run: Run | None) -> LockTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    check_at_least("duration", params.get("duration"), 1, "seconds")
    check_at_least("wait_timeout", params.get("wait_timeout"), 0, "seconds, 0 to try once")
    check_at_least("wait_sleep", params.get("wait_sleep"), 0, "seconds")
    for option in ("name", "namespace", "holder"):
        if not str(params.get(option) or "").strip():
            raise InvalidOptions(f"the option {option} is empty")
    return LockTask(
        Claimant(str(params["holder"]).strip(), int_field(params.get("duration"), 3600), run),
        str(params["name"]).strip(),
        str(params["namespace"]).strip(),
        params.get("state") != "absent",
        bool(params.get("steal")),
        int_field(params.get("wait_timeout")),
        max(1.0, float(int_field(params.get("wait_sleep"), 5))),
        check_mode,
    )


class Lock:
    """The lock of one task."""

    def __init__(
        self, task: LockTask, clock: Clock, rest_for: Callable[[Deadline], Rest], progress: Progress = SILENT
    ) -> None:
        self._task = task
        self._clock = clock
        self._rest_for = rest_for
        self._progress = progress
        self.warnings: list[str] = []
        self._seen = self._hold(None)
        # Somebody else has been seen to hold it. Tries in a row that failed, and what to say of that.
        self._waiting = False
        self._doubts, self._away = 0, ""

    def run(self) -> dict[str, Any]:
        """Take, renew or release the lock and return the result; C(held): the holder has it now."""
        started = self._clock.monotonic()
        deadline = Deadline(self._clock, self._task.wait_timeout, self._clock.began)
        once = self._task.wait_timeout == 0
        lines = WaitProgress("lock " + self._where(), deadline)
        self._progress.follow(lines)
        while True:
            result = self._try(deadline)
            waited = self._clock.monotonic() - started
            if result is not None or once or deadline.remaining() < SHORTEST:
                if result is not None:
                    lines.ends(f"taken after {format_duration(waited)}")
                self._progress.close()
                return self._refused() if result is None else result
            self._tell(lines)
            pause(self._clock, self._progress, min(self._task.wait_sleep, deadline.remaining()))

    def _try(self, deadline: Deadline) -> dict[str, Any] | None:
        """Take or release the lock; None: somebody else holds it, or cannot be seen just now."""
        rest = self._rest_for(Deadline(self._clock, max(1.0, min(LONGEST_CHANGE, deadline.remaining()))))
        store = LeaseStore(rest, self._task.namespace, self._task.name, self._task.check_mode)
        try:
            result = self._take(store) if self._task.wanted else self._release(store)
        except MaintenanceError as exc:
            self._doubts += 1
            # Who holds the lock may be rebooting the control plane.
            if not self._waiting or not is_transient(exc, self._doubts):
                raise
            self._away = f" (as seen before: the API server does not answer now: {exc.message})"
            return None
        self._doubts, self._away, self._waiting = 0, "", result is None
        return result

    def _tell(self, lines: WaitProgress) -> None:
        held_by = _held_by(self._seen, self._task.claimant.holder)
        text = f"held by {held_by}, expires {_stamp(self._seen.expires)} unless it is renewed"
        lines.stands(text + self._away, kind=(held_by, bool(self._away)))

    def _take(self, store: LeaseStore) -> dict[str, Any] | None:
        for _attempt in range(_MOST_CONFLICTS):
            lease = store.get()
            hold = self._seen = self._hold(lease)
            if hold.ours and lease is not None and not is_due(lease, self._task.claimant, self._clock.wall()):
                return self._result(False, hold, "holds", hold.since, hold.expires)
            if not (hold.free or hold.ours or hold.ended or self._task.steal):
                return None
            body = taken(
                lease, self._task.claimant, self._clock.stamp(), self._task.name, self._task.namespace, hold.ours
            )
            try:
                if lease is None:
                    store.create(body)
                else:
                    store.change(body)
            except Conflict:
                continue
            self._warn(hold)
            since = hold.since if hold.ours else self._clock.stamp()
            expires = self._clock.wall() + self._task.claimant.duration
            return self._result(True, hold, "renewed" if hold.ours else "took", since, expires)
        raise Failed(f"others keep changing the lock {self._where()}: try again when they have finished")

    def _release(self, store: LeaseStore) -> dict[str, Any] | None:
        for _attempt in range(_MOST_CONFLICTS):
            lease = store.get()
            hold = self._hold(lease)
            if lease is None or not hold.holder:
                return self._result(False, hold, "does not hold", "", None)
            if not (hold.ours or hold.ended or self._task.steal):
                # What is not ours is nothing to release, and no failure: it may have expired in between.
                return self._result(False, hold, "does not hold", "", None)
            try:
                store.delete(lease)
            except Conflict:
                continue
            return self._result(True, hold, "released", "", None)
        raise Failed(f"others keep changing the lock {self._where()}: try again when they have finished")

    def _hold(self, lease: Obj | None) -> Hold:
        return hold_of(lease, self._task.claimant, self._clock.wall(), has_ended)

    def _warn(self, hold: Hold) -> None:
        if hold.ended:
            self.warnings.append(
                f"took over the lock {self._where()} of an earlier run of {hold.holder}, "
                "which has ended without releasing it"
            )
        elif self._task.steal and not (hold.free or hold.ours):
            self.warnings.append(f"stole the lock {self._where()} from {_held_by(hold)}")

    def _refused(self) -> dict[str, Any]:
        hold = self._seen
        text = (
            f"The lock {self._where()} is held by {_held_by(hold, self._task.claimant.holder)}{self._away}, "
            f"and expires {_stamp(hold.expires)} unless it is renewed; "
            "set steal (node_patch_lock_steal) if that holder is dead."
        )
        return {
            "changed": False,
            "msg": text,
            "held": False,
            "holder": hold.holder,
            "since": hold.since,
            "expires": _stamp(hold.expires),
        }

    def _result(self, changed: bool, hold: Hold, verb: str, since: str, expires: float | None) -> dict[str, Any]:
        held = verb in ("holds", "took", "renewed")
        claimant = self._task.claimant.holder
        said = _REHEARSED.get(verb, verb) if changed and self._task.check_mode else verb
        message = f"{claimant} {said} the lock {self._where()}"
        if not held and not changed and hold.holder:
            message += f", which is held by {_held_by(hold, claimant)}"
        # Of a lock that is not ours the result says whose it is.
        others = bool(hold.holder) and not held and not changed
        return {
            "changed": changed,
            "msg": message + ".",
            "held": held,
            "holder": claimant if held else hold.holder if others else "",
            "since": since if held else hold.since if others else "",
            "expires": _stamp(expires if held else hold.expires if others else None),
        }

    def _where(self) -> str:
        return f"{self._task.namespace}/{self._task.name}"


def _held_by(hold: Hold, claimant: str = "") -> str:
    other = "another run of " if hold.holder == claimant else ""
    return f"{other}{hold.holder} since {hold.since}"


def _stamp(moment: float | None) -> str:
    if moment is None:
        return ""
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
