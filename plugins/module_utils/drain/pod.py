# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow one pod from the first look at it to its end. Every step is a value of time and of what was heard."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..api.retry import backoff, next_delay
from ..cluster.eviction import ACCEPTED, AGAIN, FAILED, GONE, REFUSED, Outcome
from ..objects import Obj, deletion_time, int_field, is_finished, is_ready, is_terminating, mapping_at
from ..reasons import Reason
from .filters import Verdict

# Where a pod stands.
UNKNOWN = "unknown"  # whether it may go depends on a DaemonSet that is being looked up
BLOCKED = "blocked"  # the options do not allow it
DUE = "due"  # to be evicted now
TRYING = "trying"  # its eviction is under way
HELD = "held"  # refused by a budget
PAUSED = "paused"  # to be asked for again after a passing fault
LEAVING = "leaving"  # being deleted
LOST = "lost"  # refused for good

# Statuses that leave open whether a request was carried out; 0: no answer came, 2xx: one that cannot be read.
_UNDECIDED = (0, *range(200, 300), 408, *range(500, 600))


@dataclass
class PodState:
    """One pod on its way out. Times are seconds of the monotonic clock.

    state: one of the constants above; attempts: evictions sent; accepted: one of them was taken; doubtful: one may have
    been, although its good answer never came; first_at: when the first was sent; retry_at: when the next one is;
    not_before: the end of the wait that the server asked for; outcome: what the last answer meant; asked_version: the
    budget's version when the last eviction was sent, None before the first; booked: the budget's books have the
    eviction; shortened: a running grace period was shortened; weighed: whether a budget decides about it was looked
    up, guard: that budget; returns: how many pods in a row its controller has put on the cordoned node; granted: the
    account is known to have the right to remove it; doubts: answers in a row that were odd after that.
    """

    pod: Obj
    state: str = DUE
    verdict: Verdict | None = None
    attempts: int = 0
    faults: int = 0
    accepted: bool = False
    accepted_at: float = 0.0
    doubtful: bool = False
    first_at: float = 0.0
    retry_at: float = 0.0
    not_before: float = 0.0
    outcome: Outcome | None = None
    asked_version: str | None = None
    booked: bool = False
    shortened: bool = False
    weighed: bool = False
    guard: str = ""
    returns: int = 0
    granted: bool = False
    doubts: int = 0

    @property
    def settled(self) -> bool:
        """Tell whether nothing more will be done or waited for."""
        return self.state in (BLOCKED, LOST)

    @property
    def under_way(self) -> bool:
        """Tell whether an eviction is being sent, or was taken or may have been."""
        return self.state == TRYING or self.accepted or self.doubtful

    @property
    def budget(self) -> str:
        """Return the name of the budget that refused last or is known to decide, "" if none is."""
        return (self.outcome.budget if self.outcome is not None else "") or self.guard

    def seen(self, pod: Obj, verdict: Verdict, grace: int | None, now: float, wall: float) -> None:
        """Take in how the pod looks now, and that it may go."""
        before, self.pod, self.verdict = self.pod, pod, verdict
        if self.state == TRYING:
            return
        if is_terminating(pod):
            self.accepted = self.accepted or self.doubtful
            self.state = DUE if self._to_be_shortened(grace, wall) else LEAVING
        elif self.state in (BLOCKED, UNKNOWN):
            self.state = DUE
        elif self.state == HELD and (is_ready(before) != is_ready(pod) or is_finished(pod)):
            # Budgets treat it in another way now.
            self.state, self.retry_at = DUE, now

    def _to_be_shortened(self, grace: int | None, wall: float) -> bool:
        # The server shortens a running grace period only when told to anew.
        end = deletion_time(self.pod)
        running = int_field(mapping_at(self.pod, "metadata").get("deletionGracePeriodSeconds"))
        wanted = grace is not None and grace < running and end is not None and end - wall > grace
        return wanted and not self.shortened and not self.accepted

    def hold_for(self, budget: str, until: float) -> None:
        """Send no eviction before the budget has room, or before that moment if nothing is heard of it."""
        self.state, self.guard, self.retry_at = HELD, budget, until

    def put_off(self, until: float) -> None:
        """Send no eviction before that moment."""
        self.state, self.retry_at = PAUSED, until

    def make_due(self) -> None:
        """Have the pod asked for again as soon as there is a worker for it."""
        self.state = DUE

    def sent(self, now: float, version: str) -> None:
        """Note that an eviction is under way."""
        self.shortened = self.shortened or is_terminating(self.pod)
        self.attempts += 1
        self.first_at = self.first_at or now
        self.state, self.asked_version = TRYING, version

    def answered(self, outcome: Outcome, now: float, longest: float, jitter: float) -> None:
        """Take in what the answer meant; C(longest) bounds the pause before the next try."""
        # It may have been carried out all the same, whatever the next one is answered.
        self.doubtful = self.doubtful or may_be_done(outcome)
        outcome = self.outcome = self._weighed(outcome)
        self.faults = self.faults + 1 if outcome.kind in (AGAIN, REFUSED) else 0
        if outcome.kind == ACCEPTED:
            self.state, self.accepted, self.accepted_at, self.booked = LEAVING, True, now, False
        elif outcome.kind == FAILED:
            self.state = LOST
        else:
            # GONE too: the pods of the node are looked at again, and if it is still there it is asked for again.
            self.state = HELD if outcome.kind == REFUSED else PAUSED
            first = 1.0 if outcome.kind in (REFUSED, GONE) else 0.5
            pause = backoff(max(1, self.faults), first, longest) * jitter
            self.not_before = now + (outcome.pause or 0.0)
            self.retry_at = max(now + min(pause, longest), self.not_before)
        if self.state in (HELD, PAUSED) and is_terminating(self.pod):
            self.state = LEAVING

    def _weighed(self, outcome: Outcome) -> Outcome:
        """Return what an answer means: whether it denies a right, or the whole API, that was there a moment ago.

        Where no answer came for good (status 0), there was one before, to the list of the pods.
        """
        denied = outcome.reason == Reason.FORBIDDEN or outcome.status == 404
        odd = outcome.kind == FAILED and (outcome.status == 0 or (denied and self.granted))
        self.doubts = self.doubts + 1 if odd else 0
        pause = next_delay(self.doubts) if odd else None
        return outcome if pause is None else replace(outcome, kind=AGAIN, pause=pause)


def may_be_done(outcome: Outcome) -> bool:
    """Tell whether an eviction may have been carried out although no good answer came."""
    return outcome.kind == AGAIN and outcome.status in _UNDECIDED
