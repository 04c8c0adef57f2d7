# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Track the pods of one node while it is drained: which are to be evicted, which are gone. Sends no requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from ..api.list_watch import Changed, Listed
from ..api.retry import Retries, backoff
from ..cluster.eviction import ACCEPTED, Outcome
from ..cluster.pods import owner_text
from ..cluster.volumes import Volume
from ..errors import MaintenanceError
from ..objects import Obj, deletion_time, full_name, identity_of, is_terminating
from .cordon_state import CordonState
from .filters import BLOCK, EVICT, SKIP, DaemonSetKey, Facts, PodOptions, Verdict, daemonset_of, judge, sort_key
from .final_check_state import FinalCheckState
from .pod import Evicted, PodState, State, may_be_accepted
from .pod_cache import ListToken, PodCache

# How often a controller may put a pod on the cordoned node before that is slowed down, and the longest pause then.
FREE_RETURNS = 2
MAX_RETURN_DELAY = 30.0


class Phase(str, Enum):
    """How far a node's drain is."""

    WAITING = "waiting"  # not started, because of max_parallel
    DRAINING = "draining"  # pods are evicted and leave
    CHECKING = "checking"  # the final check is in progress, or the node is cordoned again
    DETACHING = "detaching"  # its pods are gone, their volumes are still attached
    DRAINED = "drained"  # ended well
    FAILED = "failed"  # ended with an error, or with pods or volumes left


@dataclass
class NodeState:
    """One node. Times are seconds of the monotonic clock; pods are known by their uid."""

    name: str
    obj: Obj  # as it was read last
    options: PodOptions
    grace: int | None  # terminate_grace_period, None to leave it to each pod
    daemonsets: dict[DaemonSetKey, bool | None]  # whether each one exists, shared by all nodes of the task
    cordon: CordonState = field(default_factory=CordonState)
    check: FinalCheckState = field(default_factory=FinalCheckState)
    cache: PodCache = field(default_factory=PodCache)  # every pod that the API server shows on the node
    phase: Phase = Phase.WAITING  # set by enter() alone
    error: MaintenanceError | None = None  # what ended the drain, or would if time were up before the next response
    retries: Retries = field(default_factory=Retries)  # of the watch and of the final check
    timed_out: bool = False  # it failed because time was up
    started_at: float = 0.0
    ended_at: float = 0.0
    warnings: list[str] = field(default_factory=list)
    listed: bool = False  # a list since the drain started has come
    filled: bool = False  # there were pods to evict when it started
    others: int = 0  # pods that pod_selectors do not select (set by Preflight)
    pods: dict[str, PodState] = field(default_factory=dict)  # those that have to leave and have not left
    skipped: dict[str, tuple[Obj, Verdict]] = field(default_factory=dict)  # those that stay
    warned: dict[str, tuple[Obj, Verdict]] = field(default_factory=dict)  # those whose eviction costs something
    evicted: list[Evicted] = field(default_factory=list)  # those that this task evicted, in the order of their end
    departed: dict[str, PodState] = field(default_factory=dict)  # evicted or terminating when they were last seen
    volumes: list[Volume] | None = None  # still attached after the drain (set by VolumeDetach); None: not listed
    relist_at: float | None = None  # when the pods are listed again, beside the watch (set by DrainLoop)
    relisting: bool = False  # that list has been requested (set by DrainLoop)
    _early: dict[str, PodState] = field(default_factory=dict)  # gone before the response to their eviction came
    _touched: bool = False  # an eviction was accepted or may have been carried out
    _returns: dict[str, int] = field(default_factory=dict)  # by controller: PodState.returns of its last pod

    def enter(self, phase: Phase) -> None:
        """Change the phase. Nothing else assigns it."""
        self.phase = phase

    def end(
        self, phase: Phase, error: MaintenanceError | None = None, at: float | None = None, timed_out: bool = False
    ) -> None:
        """End the node's drain in DRAINED or FAILED. at: None to leave its duration as it is."""
        self.enter(phase)
        self.error, self.timed_out = error, timed_out
        self.ended_at = self.ended_at if at is None else at

    def start(self, now: float) -> None:
        """Start to drain the node. Pods that were listed before the cordon have to be listed again."""
        self.enter(Phase.DRAINING)
        self.listed, self.started_at, self.filled = False, now, bool(self.pods)
        self.cache.expect_watch()

    def update(self, event: Listed | Changed, now: float, wall: float, token: ListToken | None = None) -> None:
        """Apply a list of the node's pods or a watch event. token: of a list outside the watch."""
        if isinstance(event, Listed):
            self.listed = self.cache.apply_list(event, token) or self.listed
            self.review(now, wall)
            return
        uid = identity_of(event.obj)
        if not self.cache.apply_event(event):
            return
        if event.type != "DELETED":
            self._judge(uid, event.obj, now, wall)
            return
        self.skipped.pop(uid, None)
        if uid in self.pods:
            self._remove(self.pods.pop(uid), now)

    def restore(self, hidden: list[Obj], now: float, wall: float) -> bool:
        """Wait again for terminating pods that only lost the label that selected them, return whether there are any."""
        found = False
        for obj in hidden:
            uid = identity_of(obj)
            pod = self.departed.get(uid)
            if pod is not None and uid not in self._early:
                self.evicted = [end for end in self.evicted if end.pod is not pod]
                if is_terminating(obj) or pod.accepted:
                    self.cache.keep(obj)
                    self.pods[uid] = pod
                    self._judge(uid, obj, now, wall)
                    found = True
        return found

    def review(self, now: float, wall: float) -> None:
        """Judge every pod again: time has passed, or a DaemonSet was read."""
        present = self.cache.pods
        for uid in [uid for uid in self.pods if uid not in present]:
            self._remove(self.pods.pop(uid), now)
        self.skipped = {uid: entry for uid, entry in self.skipped.items() if uid in present}
        for uid, obj in present.items():
            self._judge(uid, obj, now, wall)

    def _judge(self, uid: str, obj: Obj, now: float, wall: float) -> None:
        verdict = judge(obj, self.options, Facts(wall, self.daemonsets))
        if verdict.action == BLOCK and uid in self.pods and self.pods[uid].in_flight:
            # Its eviction cannot be recalled, even if it has lost its controller meanwhile.
            verdict = Verdict(EVICT)
        if verdict.action == SKIP:
            self.skipped[uid] = (obj, verdict)
            self.pods.pop(uid, None)
            return
        self.skipped.pop(uid, None)
        self._track(uid, obj, verdict, now, wall)

    def _track(self, uid: str, obj: Obj, verdict: Verdict, now: float, wall: float) -> None:
        if verdict.warnings:
            self.warned[uid] = (obj, verdict)
        if self.listed and self.phase == Phase.DRAINING and uid not in self.pods and verdict.action == EVICT:
            self.check.landed = True
            self.pods[uid] = self._landed(obj, now)
        pod = self.pods.setdefault(uid, PodState(obj))
        key = daemonset_of(obj)
        if key is not None and key not in self.daemonsets:
            pod.obj, pod.state = obj, State.UNKNOWN
        elif verdict.action == BLOCK:
            pod.obj, pod.state, pod.verdict = obj, State.BLOCKED, verdict
        elif verdict.action == EVICT:
            pod.update(obj, verdict, self.grace, now, wall)

    def _landed(self, obj: Obj, now: float) -> PodState:
        """Return the state of a pod that was scheduled onto the node after the cordon.

        A pod that tolerates the cordon returns each time. To evict it as often would never end, and do harm.
        """
        pod = PodState(obj)
        key = pod.controller_uid
        before = [other.returns for other in self.pods.values() if other.in_flight and other.controller_uid == key]
        pod.returns = max([self._returns.get(key, 0), *before]) + 1
        if pod.returns > FREE_RETURNS:
            pod.pause_until(now + backoff(pod.returns - FREE_RETURNS, 1.0, MAX_RETURN_DELAY))
            owner = owner_text(obj) or full_name(obj)
            text = f"pods of {owner} come back to {self.name} although it is cordoned: they tolerate that"
            if text not in self.warnings:
                self.warnings.append(text)
        return pod

    def _remove(self, pod: PodState, now: float) -> None:
        key = pod.controller_uid
        self._returns[key] = max(pod.returns, self._returns.get(key, 0))
        if is_terminating(pod.obj) or pod.in_flight:
            self.departed[pod.uid] = pod
        if pod.state == State.TRYING:
            self._early[pod.uid] = pod
        elif pod.accepted or pod.maybe_accepted:
            self.evicted.append(Evicted(pod, max(0.0, now - pod.first_at)))

    def record_recordon(self) -> None:
        """Record that somebody else uncordoned the node and that it is cordoned again, which is done once."""
        self.cordon.recordons += 1
        self.warnings.append(f"{self.name} was uncordoned by somebody else during its drain, and cordoned again")

    def lookups(self) -> set[DaemonSetKey]:
        """Return the DaemonSets whose existence decides about a pod and is not known yet."""
        keys = (daemonset_of(obj) for obj in self.cache.pods.values())
        return {key for key in keys if key is not None and key not in self.daemonsets}

    def due(self) -> Iterator[PodState]:
        """Yield the pods to be evicted now, in the order in which they are reported."""
        if self.listed:
            yield from self.sorted_pods(State.DUE)

    def blocked(self) -> list[PodState]:
        """Return the pods that the options do not allow to be evicted."""
        return self.sorted_pods(State.BLOCKED)

    def sorted_pods(self, *states: State) -> list[PodState]:
        """Return the pods in any of these states (in any state without), sorted."""
        chosen = [pod for pod in self.pods.values() if not states or pod.state in states]
        return sorted(chosen, key=lambda pod: sort_key(pod.obj))

    def settled(self) -> bool:
        """Return whether every pod is gone, skipped, or cannot be evicted."""
        return self.listed and not self._early and all(pod.settled for pod in self.pods.values())

    def on_eviction_response(self, uid: str, outcome: Outcome, now: float, max_delay: float, jitter: float) -> None:
        """Apply the response to a pod's eviction. The pod may have gone before it came."""
        self._touched = self._touched or outcome.kind == ACCEPTED or may_be_accepted(outcome)
        early = self._early.pop(uid, None)
        if early is not None:
            early.on_eviction_response(outcome, now, max_delay, jitter)
            self._remove(early, now)
        elif uid in self.pods:
            self.pods[uid].on_eviction_response(outcome, now, max_delay, jitter)

    def next_skip(self, wall: float) -> float | None:
        """Return in how many seconds the next terminating pod will be skipped, None if no one will."""
        limit = self.options.skip_wait_for_delete_timeout
        ends = [deletion_time(pod.obj) for pod in self.pods.values()]
        left = [end + limit - wall for end in ends if end is not None]
        return max(0.0, min(left)) + 0.05 if limit > 0 and left else None

    @property
    def touched(self) -> bool:
        """Return whether this task evicted a pod of the node, or tried and may have."""
        return self._touched or bool(self.evicted)

    @property
    def over(self) -> bool:
        """Return whether the node's drain has ended."""
        return self.phase in (Phase.DRAINED, Phase.FAILED)
