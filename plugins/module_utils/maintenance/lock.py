# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a lock on the cluster, so that two runs of maintenance never overlap."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..api.rest import Rest
from ..api.retry import Retries, retry_on_conflict
from ..cluster.context import Context
from ..cluster.leases import LeaseStore
from ..errors import Conflict, Failed, InvalidOptions, MaintenanceError
from ..objects import Obj, int_field
from ..option_checks import check_at_least
from ..runtime.processes import Run, has_ended
from .lease_terms import Claimant, Hold, hold_of, is_due, taken
from .polling import Pending, Polling

# Seconds for the requests of one try.
MAX_REQUEST = 60.0
_IN_CHECK_MODE = {"took": "would take", "renewed": "would renew", "released": "would release"}


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

    def __init__(self, task: LockTask, context: Context) -> None:
        self._task = task
        self._clock = context.clock
        self._polling = Polling(context, f"lock {self._where()}", task.wait_timeout, MAX_REQUEST)
        self.warnings: list[str] = []
        self._lease: Obj | None = None
        self._held = self._hold(None)
        self._done: dict[str, Any] | None = None
        # Whether another holder was seen; what to report of errors since then.
        self._waiting = False
        self._retries, self._away = Retries(), ""

    def run(self) -> dict[str, Any]:
        """Take, renew or release the lock and return the result; C(held): the holder has it now."""
        self._polling.run(self._check, self._on_error, "taken", once=self._task.wait_timeout == 0)
        return self._done or self._refused()

    def _check(self, rest: Rest) -> Pending | None:
        """Take or release the lock; return who holds it if it is another."""
        store = LeaseStore(rest, self._task.namespace, self._task.name, self._task.check_mode)
        self._read(store)
        try:
            change = self._take if self._task.wanted else self._release
            self._done = retry_on_conflict(partial(change, store), partial(self._read, store))
        except Conflict:
            raise Failed(f"the lock {self._where()} is being changed concurrently: try again later") from None
        self._retries.reset()
        self._away, self._waiting = "", self._done is None
        return self._pending() if self._waiting else None

    def _on_error(self, error: MaintenanceError) -> Pending | None:
        # The holder of the lock may be rebooting the control plane.
        if not self._waiting or not self._retries.tolerates(error):
            return None
        self._away = f" (as seen before: the API server does not answer now: {error.message})"
        return self._pending()

    def _pending(self) -> Pending:
        held_by = _held_by(self._held, self._task.claimant.holder)
        text = f"held by {held_by}, expires {_stamp(self._held.expires)} unless it is renewed{self._away}"
        return Pending(text, self._task.wait_sleep, kind=(held_by, bool(self._away)))

    def _read(self, store: LeaseStore) -> None:
        self._lease = store.get()
        self._held = self._hold(self._lease)

    def _take(self, store: LeaseStore) -> dict[str, Any] | None:
        """Take or renew the lock as it was read; None: somebody else holds it."""
        lease, hold, task = self._lease, self._held, self._task
        if hold.ours and lease is not None and not is_due(lease, task.claimant, self._clock.wall()):
            return self._result(False, hold, "holds", hold.since, hold.expires)
        if not (hold.free or hold.ours or hold.ended or task.steal):
            return None
        body = taken(lease, task.claimant, self._clock.stamp(), task.name, task.namespace, hold.ours)
        if lease is None:
            store.create(body)
        else:
            store.change(body)
        self._warn(hold)
        since = hold.since if hold.ours else self._clock.stamp()
        expires = self._clock.wall() + task.claimant.duration
        return self._result(True, hold, "renewed" if hold.ours else "took", since, expires)

    def _release(self, store: LeaseStore) -> dict[str, Any]:
        """Release the lock as it was read. Another's lock is left alone: ours may have expired in between."""
        lease, hold = self._lease, self._held
        if lease is None or not hold.holder or not (hold.ours or hold.ended or self._task.steal):
            return self._result(False, hold, "does not hold", "", None)
        store.delete(lease)
        return self._result(True, hold, "released", "", None)

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
        hold = self._held
        text = (
            f"The lock {self._where()} is held by {_held_by(hold, self._task.claimant.holder)}{self._away}, "
            f"and expires {_stamp(hold.expires)} unless it is renewed; "
            "set steal (node_patch_lock_steal) if that holder is dead."
        )
        owner = {"holder": hold.holder, "since": hold.since, "expires": _stamp(hold.expires)}
        return {"changed": False, "msg": text, "held": False, **owner}

    def _result(self, changed: bool, hold: Hold, verb: str, since: str, expires: float | None) -> dict[str, Any]:
        held = verb in ("holds", "took", "renewed")
        claimant = self._task.claimant.holder
        verb_shown = _IN_CHECK_MODE.get(verb, verb) if changed and self._task.check_mode else verb
        message = f"{claimant} {verb_shown} the lock {self._where()}"
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
