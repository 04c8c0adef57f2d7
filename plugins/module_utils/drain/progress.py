# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell how a task on some nodes gets on: the node's name, then what is new there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..cluster.budgets import budget_facts, is_deadlocked, remedy_for
from ..cluster.eviction import AGAIN, REFUSED
from ..objects import Obj, condition_of, full_name, identity_of, is_ready, namespace_of
from ..runtime.clock import Deadline
from ..text import abbreviate, count_noun, format_duration, group_by_text
from .node import NodeState, Phase
from .pod import PodState, State

# Nodes of which one line tells. The others have the next line.
MOST_NODES = 4


class DrainProgress:
    """What there is to tell of the nodes; see progress.Source. budget_of: tells the budget that holds a pod.

    Warnings are no lines: the result carries them, and Ansible shows them at the task's end.
    """

    def __init__(
        self,
        nodes: list[NodeState],
        deadline: Deadline,
        budget_of: Callable[[PodState], Obj | None],
    ) -> None:
        self._waiting = [NodeLines(node, budget_of) for node in nodes]
        self._nodes = nodes
        self._deadline = deadline

    def changes(self, detail: bool) -> str:
        """Return what is new on some of the nodes; nodes of which the same is to be said stand together."""
        said: dict[str, list[str]] = {}
        told = []
        for lines in self._waiting:
            if len(said) == MOST_NODES:
                break
            text = "; ".join(lines.changes(detail))
            if text:
                said.setdefault(text, []).append(lines.node.name)
                told.append(lines)
        # Who was heard waits behind the others.
        self._waiting = [lines for lines in self._waiting if lines not in told] + told
        return ". ".join("%s: %s" % (abbreviate(names), text) for text, names in said.items())

    def summary(self) -> str:
        """Return how far the nodes are that are being drained, and how much time is left."""
        active = [node for node in self._nodes if node.phase not in (Phase.WAITING, Phase.DRAINED, Phase.FAILED)]
        parts = ["%s: %s" % (node.name, standing(node)) for node in active[:MOST_NODES]]
        parts += ["%s more" % count_noun(len(active) - MOST_NODES, "node")] if len(active) > MOST_NODES else []
        for phase, words in ((Phase.DRAINED, "drained"), (Phase.FAILED, "failed"), (Phase.WAITING, "to come")):
            count = sum(1 for node in self._nodes if node.phase == phase)
            parts += ["%s %s" % (count_noun(count, "node"), words)] if count else []
        if not self._deadline.unlimited:
            left, whole = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
            parts.append("%s of %s left" % (left, whole))
        return "; ".join(parts)


@dataclass
class NodeLines:
    """One node, and what has been said of it. Uids stand for pods. budget_of: tells the budget that holds a pod."""

    node: NodeState
    budget_of: Callable[[PodState], Obj | None] = lambda drain: None
    _cordoned: bool = field(init=False)
    _phase: str = Phase.WAITING
    _begun: bool = False
    _leaving: set[str] = field(default_factory=set)
    _gone: int = 0
    _holders: dict[str, object] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)
    _faults: set[str] = field(default_factory=set)
    _recordons: int = 0
    _attached: int | None = None

    def __post_init__(self) -> None:
        self._cordoned = self.node.cordon.cordoned

    def changes(self, detail: bool) -> list[str]:
        """Return what is new, and hold it for said."""
        found = [*self._cordoning(), *self._beginning()]
        if self.node.phase != Phase.WAITING:
            found += [*self._went(detail), *self._left(detail), *self._refused(), *self._failures()]
        found += [*self._ending(), *self._looks(detail)]
        self._phase = self.node.phase
        return found

    def _cordoning(self) -> Iterable[str]:
        if self.node.cordon.cordoned != self._cordoned:
            self._cordoned = self.node.cordon.cordoned
            yield "cordoned" if self._cordoned else "uncordoned"
        if self.node.cordon.recordons != self._recordons:
            self._recordons = self.node.cordon.recordons
            yield "somebody else uncordoned it, cordoned again"

    def _beginning(self) -> Iterable[str]:
        if self._begun or self.node.phase == Phase.WAITING or not self.node.listed:
            return
        self._begun = True
        reasons: dict[str, int] = {}
        for _pod, verdict in self.node.skipped.values():
            reasons[verdict.reason] = reasons.get(verdict.reason, 0) + 1
        before = "cordoned already; " if self.node.cordon.cordoned_before else ""
        # What is not ended there would be waited for in silence.
        before += "" if is_ready(self.node.obj) or not condition_of(self.node.obj, "Ready") else "not Ready; "
        text = before + "%s to go" % count_noun(_all(self.node), "pod")
        if reasons:
            kinds = ", ".join("%d %s" % (number, reason) for reason, number in sorted(reasons.items()))
            text += ", %d left on purpose (%s)" % (len(self.node.skipped), kinds)
        yield text

    def _went(self, detail: bool) -> Iterable[str]:
        gone = self.node.evicted[self._gone :]
        self._gone += len(gone)
        self._leaving -= {identity_of(end.pod.obj) for end in gone}
        if gone:
            count = "%s gone (%d of %d)" % (count_noun(len(gone), "pod"), self._gone, _all(self.node))
            yield "%s: %s" % (count, _names((end.pod for end in gone), detail))

    def _left(self, detail: bool) -> Iterable[str]:
        leaving = {
            uid: drain for uid, drain in self.node.pods.items() if drain.state == State.LEAVING and drain.accepted
        }
        fresh = [drain for uid, drain in leaving.items() if uid not in self._leaving]
        self._leaving = set(leaving)
        if fresh:
            yield "%s accepted: %s" % (count_noun(len(fresh), "eviction"), _names(fresh, detail))

    def _refused(self) -> Iterable[str]:
        words: dict[str, tuple[object, str]] = {}
        for drain in _held(self.node):
            found = self._words_of(drain)
            if found is not None:
                words.setdefault(_budget(drain), found)
        told, self._holders = self._holders, {budget: about for budget, (about, _text) in words.items()}
        counts = _by_budget(self.node)
        for budget, (about, text) in words.items():
            if told.get(budget) != about:
                yield "%s held by %s (%s)" % (count_noun(counts[budget], "pod"), budget, text.rstrip("."))

    def _words_of(self, drain: PodState) -> tuple[object, str] | None:
        """Return what a budget asks for, and that in words with figures, which change all the time."""
        budget = self.budget_of(drain)
        if budget is not None:
            facts = budget_facts(budget)
            wanted, pods = facts["desired_healthy"], facts["expected_pods"]
            text = "%d of %d healthy, %d must stay" % (facts["current_healthy"], pods, wanted)
            return (wanted, pods), text + (": " + remedy_for(budget) if is_deadlocked(budget) else "")
        refused = drain.outcome is not None and drain.outcome.kind == REFUSED
        return (drain.outcome.message, drain.outcome.message) if refused and drain.outcome is not None else None

    def _failures(self) -> Iterable[str]:
        lost = [
            drain
            for drain in self.node.sorted_pods(State.LOST, State.BLOCKED)
            if identity_of(drain.obj) not in self._lost
        ]
        self._lost |= {identity_of(drain.obj) for drain in lost}
        if lost:
            yield "cannot go: " + group_by_text([(full_name(drain.obj), _why_not(drain)) for drain in lost])
        again = [
            d
            for d in self.node.sorted_pods(State.PAUSED, State.TRYING)
            if d.outcome is not None and d.outcome.kind == AGAIN
        ]
        faults = {drain.outcome.message for drain in again if drain.outcome is not None}
        fresh, self._faults = sorted(faults - self._faults), faults
        if fresh:
            yield "trying again: %s (%s)" % (_names(again, detail=False), abbreviate(fresh))

    def _ending(self) -> Iterable[str]:
        node = self.node
        attached = [volume for volume in node.volumes or [] if not volume.detached]
        if node.phase == Phase.DETACHING and len(attached) != self._attached and attached:
            self._attached = len(attached)
            yield "%s still attached: %s" % (
                count_noun(len(attached), "volume"),
                abbreviate(v.text() for v in attached),
            )
        if node.phase == self._phase:
            return
        took = format_duration(node.ended_at - node.started_at)
        if node.phase == Phase.DRAINED:
            yield "drained in %s, %s gone" % (took, count_noun(len(node.evicted), "pod"))
        elif node.phase == Phase.FAILED and node.error is not None:
            yield "failed: %s" % node.error.message
        elif node.phase == Phase.FAILED:
            limit = " within %s" % took if node.timed_out else ""
            yield "not drained%s, %s left" % (limit, count_noun(len(node.pods), "pod"))

    def _looks(self, detail: bool) -> Iterable[str]:
        if detail and self.node.phase == Phase.CHECKING and self._phase != Phase.CHECKING:
            yield "looking at it once more"


def standing(node: NodeState) -> str:
    """Return how far a node is that is being drained."""
    leaving = len(node.sorted_pods(State.LEAVING))
    parts = ["%d of %s gone" % (len(node.evicted), count_noun(_all(node), "pod"))]
    parts += ["%d leaving" % leaving] if leaving else []
    parts += ["%d held by %s" % (number, budget) for budget, number in list(_by_budget(node).items())[:3]]
    attached = [volume for volume in node.volumes or [] if not volume.detached]
    parts += ["%s still attached" % count_noun(len(attached), "volume")] if attached else []
    return ", ".join(parts)


def _all(node: NodeState) -> int:
    return len(node.evicted) + len(node.pods)


def _held(node: NodeState) -> list[PodState]:
    """Return the pods that wait for a budget, also while it is asked once more."""
    return [
        d
        for d in node.sorted_pods(State.HELD, State.TRYING)
        if d.state == State.HELD or (d.outcome and d.outcome.kind == REFUSED)
    ]


def _by_budget(node: NodeState) -> dict[str, int]:
    counts: dict[str, int] = {}
    for drain in _held(node):
        counts[_budget(drain)] = counts.get(_budget(drain), 0) + 1
    return counts


def _budget(drain: PodState) -> str:
    return "%s/%s" % (namespace_of(drain.obj), drain.budget) if drain.budget else "a disruption budget"


def _why_not(drain: PodState) -> str:
    if drain.state == State.BLOCKED:
        return drain.verdict.message if drain.verdict is not None else ""
    return drain.outcome.message.rstrip(".") if drain.outcome is not None else ""


def _names(drains: Iterable[PodState], detail: bool) -> str:
    names = sorted(full_name(drain.obj) for drain in drains)
    return ", ".join(names) if detail else abbreviate(names)
