# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow one pod from the first list that shows it to its end. Pure: time and responses are passed in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from ..api.retry import Retries, backoff
from ..cluster.eviction import ACCEPTED, BLOCKED_BY_PDB, FAILED, GONE, RETRY, Outcome
from ..objects import (
    Obj,
    controller_of,
    deletion_time,
    full_name,
    identity_of,
    int_field,
    is_finished,
    is_ready,
    is_terminating,
    mapping_at,
    namespace_of,
)
from ..reasons import Reason
from .filters import Verdict


class State(str, Enum):
    """What the drain does about a pod next."""

    UNKNOWN = "unknown"  # wait until its DaemonSet, on whose existence the verdict depends, has been read
    BLOCKED = "blocked"  # nothing: the options do not allow its eviction
    DUE = "due"  # evict it now
    TRYING = "trying"  # wait for the response to its eviction
    HELD = "held"  # wait until its disruption budget allows a disruption
    PAUSED = "paused"  # evict it at retry_at, after a transient error
    LEAVING = "leaving"  # wait until it is gone: it is being deleted
    LOST = "lost"  # nothing: its eviction failed for good


# Statuses that leave open whether a request was carried out; 0: no response, 2xx: an unreadable one.
_UNDECIDED = (0, *range(200, 300), 408, *range(500, 600))


@dataclass
class PodState:
    """One pod that has to leave its node. Times are seconds of the monotonic clock, 0.0 before the first."""

    obj: Obj  # as it was judged last
    state: State = State.DUE
    verdict: Verdict | None = None  # what the filters say; None before the first judgement
    attempts: int = 0  # evictions sent
    faults: int = 0  # responses in a row that were a refusal of its budget or a transient error
    accepted: bool = False  # an eviction was accepted
    accepted_at: float = 0.0  # when the last response came that accepted one
    maybe_accepted: bool = False  # one may have been carried out, although no success was received
    first_at: float = 0.0  # when the first eviction was sent
    retry_at: float = 0.0  # when the next one is sent, if HELD or PAUSED
    not_before: float = 0.0  # end of the server's Retry-After
    outcome: Outcome | None = None  # what the last response meant
    asked_version: str | None = None  # resourceVersion of the budget when the last eviction was sent
    counted: bool = False  # the budget's disruptedPods have counted the eviction
    shortened: bool = False  # an eviction was sent to shorten a running grace period
    budget_checked: bool = False  # BudgetQueue.hold was called
    guard: str = ""  # name of the budget that selects it, as far as is known
    returns: int = 0  # pods in a row that its controller has put on the cordoned node
    granted: bool = False  # preflight saw that the account has the right to remove it
    suspect: Retries = field(default_factory=Retries)  # denials in spite of that right; see _unless_suspect

    @property
    def uid(self) -> str:
        """Return what tells the pod from all others."""
        return identity_of(self.obj)

    @property
    def namespace(self) -> str:
        """Return its namespace."""
        return namespace_of(self.obj)

    @property
    def controller_uid(self) -> str:
        """Return what the pods of one controller have in common."""
        return str(mapping_at(controller_of(self.obj)).get("uid") or full_name(self.obj))

    @property
    def settled(self) -> bool:
        """Return whether nothing more will be done or waited for."""
        return self.state in (State.BLOCKED, State.LOST)

    @property
    def in_flight(self) -> bool:
        """Return whether an eviction is being sent, or was or may have been accepted."""
        return self.state == State.TRYING or self.accepted or self.maybe_accepted

    @property
    def budget(self) -> str:
        """Return the name of the budget that refused last or is known to decide, "" if none is."""
        return (self.outcome.budget if self.outcome is not None else "") or self.guard

    def update(self, obj: Obj, verdict: Verdict, grace: int | None, now: float, wall: float) -> None:
        """Store the pod's latest object, which the filters allow to be evicted."""
        before, self.obj, self.verdict = self.obj, obj, verdict
        if self.state == State.TRYING:
            return
        if is_terminating(obj):
            self.accepted = self.accepted or self.maybe_accepted
            self.state = State.DUE if self._needs_shortening(grace, wall) else State.LEAVING
        elif self.state in (State.BLOCKED, State.UNKNOWN):
            self.state = State.DUE
        elif self.state == State.HELD and (is_ready(before) != is_ready(obj) or is_finished(obj)):
            # Budgets treat it in another way now.
            self.state, self.retry_at = State.DUE, now

    def _needs_shortening(self, grace: int | None, wall: float) -> bool:
        # The server shortens a running grace period only if another eviction says so.
        end = deletion_time(self.obj)
        running = int_field(mapping_at(self.obj, "metadata").get("deletionGracePeriodSeconds"))
        wanted = grace is not None and grace < running and end is not None and end - wall > grace
        return wanted and not self.shortened and not self.accepted

    def hold_for(self, budget: str, until: float) -> None:
        """Send no eviction before the budget allows it, or before that moment if no event of the budget comes."""
        self.state, self.guard, self.retry_at = State.HELD, budget, until

    def pause_until(self, until: float) -> None:
        """Send no eviction before that moment."""
        self.state, self.retry_at = State.PAUSED, until

    def make_due(self) -> None:
        """Have the pod evicted as soon as eviction_concurrency allows."""
        self.state = State.DUE

    def record_attempt(self, now: float, version: str) -> None:
        """Record that an eviction is sent. version: the budget's resourceVersion."""
        self.shortened = self.shortened or is_terminating(self.obj)
        self.attempts += 1
        self.first_at = self.first_at or now
        self.state, self.asked_version = State.TRYING, version

    def on_eviction_response(self, outcome: Outcome, now: float, max_delay: float, jitter: float) -> None:
        """Go on as the response demands. max_delay: bounds the pause before the next attempt, in seconds."""
        # It may have been carried out whatever the response to the next attempt is.
        self.maybe_accepted = self.maybe_accepted or may_be_accepted(outcome)
        outcome = self.outcome = self._unless_suspect(outcome)
        self.faults = self.faults + 1 if outcome.kind in (RETRY, BLOCKED_BY_PDB) else 0
        if outcome.kind == ACCEPTED:
            self.state, self.accepted, self.accepted_at, self.counted = State.LEAVING, True, now, False
        elif outcome.kind == FAILED:
            self.state = State.LOST
        else:
            # GONE too: the node's pods are listed again, and if the pod is still there it is evicted again.
            self.state = State.HELD if outcome.kind == BLOCKED_BY_PDB else State.PAUSED
            first = 1.0 if outcome.kind in (BLOCKED_BY_PDB, GONE) else 0.5
            pause = backoff(max(1, self.faults), first, max_delay) * jitter
            self.not_before = now + (outcome.retry_after or 0.0)
            self.retry_at = max(now + min(pause, max_delay), self.not_before)
        if self.state in (State.HELD, State.PAUSED) and is_terminating(self.obj):
            self.state = State.LEAVING

    def _unless_suspect(self, outcome: Outcome) -> Outcome:
        """Return the outcome, as a transient error if it denies a right, or the whole API, that was there just before.

        Where no response came for good (status 0), there was one before, to the list of the pods.
        """
        denied = outcome.reason == Reason.FORBIDDEN or outcome.status == 404
        suspect = outcome.kind == FAILED and (outcome.status == 0 or (denied and self.granted))
        if not suspect:
            self.suspect.reset()
            return outcome
        delay = self.suspect.next_delay()
        return outcome if delay is None else replace(outcome, kind=RETRY, retry_after=delay)


@dataclass
class Evicted:
    """A pod that this task evicted and that is gone."""

    pod: PodState
    seconds: float  # from its first eviction to its end


def may_be_accepted(outcome: Outcome) -> bool:
    """Return whether an eviction may have been carried out although no success was received."""
    return outcome.kind == RETRY and outcome.status in _UNDECIDED
