# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow the pods of one node while it is drained. Takes in what was heard, says what is to be done; asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..api.list_watch import Changed, Listed
from ..api.retry import backoff
from ..cluster.eviction import ACCEPTED, Outcome
from ..cluster.pods import owner_text
from ..cluster.volumes import Volume
from ..errors import MaintenanceError
from ..objects import Obj, controller_of, deletion_time, full_name, identity_of, is_terminating, mapping_at
from .filters import BLOCK, EVICT, SKIP, DaemonSetKey, Facts, PodOptions, Verdict, daemonset_of, judge, sort_key
from .pod import BLOCKED, DUE, TRYING, UNKNOWN, PodState, may_be_done
from .pod_cache import ListToken, PodCache

# How far a node's drain is.
WAITING = "waiting"
DRAINING = "draining"
CHECKING = "checking"
DETACHING = "detaching"
DRAINED = "drained"
FAILED = "failed"

# How often a controller may put a pod on the cordoned node before that is slowed down, and the longest pause then.
FREE_RETURNS = 2
LONGEST_RETURN = 30.0


@dataclass
class Evicted:
    """A pod that this task made go. seconds: from its first eviction to its end."""

    drain: PodState
    seconds: float


@dataclass
class NodeState:
    """One node: what is on it, what went, what stays. Times are seconds of the monotonic clock, keys of pods are uids.

    daemonsets: whether each DaemonSet exists, shared by all nodes of the task; claimed: this task cordoned it; resumed:
    an earlier run of the same owner did; kept_by: who keeps it cordoned in spite of an uncordon; closed_uid: its uid
    when it was found or made cordoned, as another node may take its name; volumes: what is attached and should not be,
    None until that was looked up; landed: a pod has landed since the cordon; peek_at: when to look at the node for that
    next; recordons: how often its cordon was put back; check_at: when the check at its end is due if not at once;
    doubts: answers in a row that were doubted; unconfirmed: only one look has told so; departed: pods that were going
    when they were seen last (with pod_selectors, some may only have lost a label); others: pods that these leave out.
    """

    name: str
    node: Obj
    choices: PodOptions
    grace: int | None
    daemonsets: dict[DaemonSetKey, bool | None]
    cordoned_before: bool = False
    cordoned: bool = False
    rolled_back: bool = False
    claimed: bool = False
    resumed: bool = False
    kept_by: str = ""
    owners: tuple[object, object] | None = None  # their annotation before this task's changes and after them
    closed_uid: str = ""
    volumes: list[Volume] | None = None
    others: int = 0
    timed_out: bool = False
    phase: str = WAITING
    error: MaintenanceError | None = None
    warnings: list[str] = field(default_factory=list)
    started_at: float = 0.0
    ended_at: float = 0.0
    pods: dict[str, PodState] = field(default_factory=dict)
    skipped: dict[str, tuple[Obj, Verdict]] = field(default_factory=dict)
    evicted: list[Evicted] = field(default_factory=list)
    warned: dict[str, tuple[Obj, Verdict]] = field(default_factory=dict)
    listed: bool = False
    filled: bool = False  # there was something to move when the drain began
    landed: bool = False
    peek_at: float = 0.0
    recordons: int = 0
    check_at: float | None = None
    doubts: int = 0
    unconfirmed: bool = False
    cache: PodCache = field(default_factory=PodCache)
    departed: dict[str, PodState] = field(default_factory=dict)
    _early: dict[str, PodState] = field(default_factory=dict)  # gone before the answer to their eviction came
    _touched: bool = False
    # How often what each controller put on the node after the cordon has gone and come back.
    _returns: dict[str, int] = field(default_factory=dict)

    def begin(self, now: float) -> None:
        """Begin to drain the node: what was seen before the cordon is old, pods may have landed until then."""
        self.phase, self.listed, self.started_at, self.filled = DRAINING, False, now, bool(self.pods)
        self.cache.begin()

    def take(self, news: Listed | Changed, now: float, wall: float, mark: ListToken | None = None) -> None:
        """Take in a list of the node's pods or a change. mark: that of the moment when the list was asked for."""
        if isinstance(news, Listed):
            self.listed = self.cache.take_list(news, mark) or self.listed
            self.review(now, wall)
            return
        uid = identity_of(news.obj)
        if not self.cache.take_change(news):
            return
        if news.type != "DELETED":
            self._judge(uid, news.obj, now, wall)
            return
        self.skipped.pop(uid, None)
        if uid in self.pods:
            self._gone(self.pods.pop(uid), now)

    def still_here(self, pods: list[Obj], now: float, wall: float) -> bool:
        """Wait again for pods that are going and only lost the label that chose them; tell whether there are any."""
        found = False
        for pod in pods:
            drain = self.departed.get(identity_of(pod))
            if drain is not None and identity_of(pod) not in self._early:
                self.evicted = [end for end in self.evicted if end.drain is not drain]
                if is_terminating(pod) or drain.accepted:
                    self.cache.keep(pod)
                    self.pods[identity_of(pod)] = drain
                    self._judge(identity_of(pod), pod, now, wall)
                    found = True
        return found

    def review(self, now: float, wall: float) -> None:
        """Judge every pod anew: time passes, and what was looked up may have come."""
        seen = self.cache.pods
        for uid in [uid for uid in self.pods if uid not in seen]:
            self._gone(self.pods.pop(uid), now)
        self.skipped = {uid: entry for uid, entry in self.skipped.items() if uid in seen}
        for uid, pod in seen.items():
            self._judge(uid, pod, now, wall)

    def _judge(self, uid: str, pod: Obj, now: float, wall: float) -> None:
        verdict = judge(pod, self.choices, Facts(wall, self.daemonsets))
        if verdict.action == BLOCK and uid in self.pods and self.pods[uid].under_way:
            # It goes already: that its controller has let it go meanwhile does not matter any more.
            verdict = Verdict(EVICT)
        if verdict.action == SKIP:
            self.skipped[uid] = (pod, verdict)
            self.pods.pop(uid, None)
            return
        self.skipped.pop(uid, None)
        self._keep(uid, pod, verdict, now, wall)

    def _keep(self, uid: str, pod: Obj, verdict: Verdict, now: float, wall: float) -> None:
        if verdict.warnings:
            self.warned[uid] = (pod, verdict)
        if self.listed and self.phase == DRAINING and uid not in self.pods and verdict.action == EVICT:
            self.landed = True
            self.pods[uid] = self._late(pod, now)
        drain = self.pods.setdefault(uid, PodState(pod))
        key = daemonset_of(pod)
        if key is not None and key not in self.daemonsets:
            drain.pod, drain.state = pod, UNKNOWN
        elif verdict.action == BLOCK:
            drain.pod, drain.state, drain.verdict = pod, BLOCKED, verdict
        elif verdict.action == EVICT:
            drain.seen(pod, verdict, self.grace, now, wall)

    def _late(self, pod: Obj, now: float) -> PodState:
        """Follow a pod that landed after the cordon.

        What tolerates the cordon comes back each time. To evict it as often as it does would never end, and hurt.
        """
        before = [other.returns for other in self.pods.values() if other.under_way and _maker(other.pod) == _maker(pod)]
        drain = PodState(pod, returns=max([self._returns.get(_maker(pod), 0), *before]) + 1)
        if drain.returns > FREE_RETURNS:
            drain.put_off(now + backoff(drain.returns - FREE_RETURNS, 1.0, LONGEST_RETURN))
            maker = owner_text(pod) or full_name(pod)
            text = "pods of %s come back to %s although it is cordoned: they tolerate that" % (maker, self.name)
            if text not in self.warnings:
                self.warnings.append(text)
        return drain

    def _gone(self, drain: PodState, now: float) -> None:
        self._returns[_maker(drain.pod)] = max(drain.returns, self._returns.get(_maker(drain.pod), 0))
        if is_terminating(drain.pod) or drain.under_way:
            self.departed[identity_of(drain.pod)] = drain
        if drain.state == TRYING:
            self._early[identity_of(drain.pod)] = drain
        elif drain.accepted or drain.doubtful:
            self.evicted.append(Evicted(drain, max(0.0, now - drain.first_at)))

    def put_back(self) -> None:
        """Note that somebody lifted the cordon and that it is put back, which is done once."""
        self.recordons += 1
        self.warnings.append("%s was uncordoned by somebody else during its drain, and cordoned again" % self.name)

    def lookups(self) -> set[DaemonSetKey]:
        """Return the DaemonSets whose existence decides about a pod and is not known yet."""
        keys = (daemonset_of(pod) for pod in self.cache.pods.values())
        return {key for key in keys if key is not None and key not in self.daemonsets}

    def due(self) -> Iterator[PodState]:
        """Yield the pods to be evicted now, in the order that people read them in."""
        if not self.listed:
            return
        yield from self.sorted_pods(DUE)

    def blocked(self) -> list[PodState]:
        """Return the pods that the options do not allow to go."""
        return self.sorted_pods(BLOCKED)

    def sorted_pods(self, *states: str) -> list[PodState]:
        """Return the pods in any of these states (all without), sorted."""
        chosen = [drain for drain in self.pods.values() if not states or drain.state in states]
        return sorted(chosen, key=lambda drain: sort_key(drain.pod))

    def settled(self) -> bool:
        """Tell whether every pod is gone, left on purpose, or past hope."""
        return self.listed and not self._early and all(drain.settled for drain in self.pods.values())

    def answered(self, uid: str, outcome: Outcome, now: float, longest: float, jitter: float) -> None:
        """Take in the answer to an eviction; the pod may have gone before the answer came."""
        self._touched = self._touched or outcome.kind == ACCEPTED or may_be_done(outcome)
        early = self._early.pop(uid, None)
        if early is not None:
            early.answered(outcome, now, longest, jitter)
            self._gone(early, now)
        elif uid in self.pods:
            self.pods[uid].answered(outcome, now, longest, jitter)

    def next_skip(self, wall: float) -> float | None:
        """Return in how many seconds the next terminating pod is not worth waiting for any more."""
        limit = self.choices.skip_wait_for_delete_timeout
        ends = [deletion_time(drain.pod) for drain in self.pods.values()]
        left = [end + limit - wall for end in ends if end is not None]
        return max(0.0, min(left)) + 0.05 if limit > 0 and left else None

    @property
    def touched(self) -> bool:
        """Tell whether this task made a pod of the node go, or tried and may have."""
        return self._touched or bool(self.evicted)

    @property
    def over(self) -> bool:
        """Tell whether the node's drain has ended."""
        return self.phase in (DRAINED, FAILED)


def _maker(pod: Obj) -> str:
    """Return what tells the pods of one controller from those of others."""
    return str(mapping_at(controller_of(pod)).get("uid") or full_name(pod))
