# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the progress of a task on some nodes: the node's name, then what changed there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..cluster.budgets import budget_facts, is_deadlocked, remedy_for
from ..cluster.eviction import BLOCKED_BY_PDB, RETRY
from ..cluster.volumes import Volume
from ..objects import Obj, condition_of, full_name, identity_of, is_ready, namespace_of
from ..runtime.clock import Deadline
from ..text import MAX_NAMES, abbreviate, count_noun, format_duration, group_by_text
from .node import NodeState, Phase
from .pod import PodState, State

# Nodes in one line. The others have the next line.
MAX_NODES = 4


class DrainProgress:
    """The progress lines of the nodes; see progress.Source. budget_of: returns the budget that blocks a pod.

    Warnings are not reported here: the result contains them, and Ansible shows them at the task's end.
    """

    def __init__(
        self,
        nodes: list[NodeState],
        deadline: Deadline,
        budget_of: Callable[[PodState], Obj | None],
    ) -> None:
        self._queue = [NodeLines(node, budget_of) for node in nodes]
        self._nodes = nodes
        self._deadline = deadline

    def changes(self, detail: bool) -> str:
        """Return what changed on some of the nodes; nodes with the same text are grouped."""
        names: dict[str, list[str]] = {}
        reported = []
        for lines in self._queue:
            if len(names) == MAX_NODES:
                break
            text = "; ".join(lines.changes(detail))
            if text:
                names.setdefault(text, []).append(lines.node.name)
                reported.append(lines)
        # Nodes that were just reported go to the end of the queue.
        self._queue = [lines for lines in self._queue if lines not in reported] + reported
        return ". ".join(f"{abbreviate(group)}: {text}" for text, group in names.items())

    def summary(self) -> str:
        """Return the state of the nodes that are being drained, and how much time is left."""
        active = [node for node in self._nodes if node.phase not in (Phase.WAITING, Phase.DRAINED, Phase.FAILED)]
        parts = [f"{node.name}: {node_summary(node)}" for node in active[:MAX_NODES]]
        parts += [f"{count_noun(len(active) - MAX_NODES, 'node')} more"] if len(active) > MAX_NODES else []
        for phase, word in ((Phase.DRAINED, "drained"), (Phase.FAILED, "failed"), (Phase.WAITING, "waiting")):
            count = sum(1 for node in self._nodes if node.phase == phase)
            parts += [f"{count_noun(count, 'node')} {word}"] if count else []
        if not self._deadline.unlimited:
            left, whole = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
            parts.append(f"{left} of {whole} left")
        return "; ".join(parts)


@dataclass
class NodeLines:
    """What changed on one node since the last call of changes(). Pods are remembered by uid."""

    node: NodeState
    budget_of: Callable[[PodState], Obj | None] = lambda pod: None
    _cordoned: bool = field(init=False)
    _phase: str = Phase.WAITING
    _started: bool = False
    _accepted: set[str] = field(default_factory=set)
    _gone: int = 0
    # What was last reported about each budget, without the figures that change all the time.
    _budgets: dict[str, object] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)
    _errors: set[str] = field(default_factory=set)
    _recordons: int = 0
    _attached: int | None = None

    def __post_init__(self) -> None:
        self._cordoned = self.node.cordon.cordoned

    def changes(self, detail: bool) -> list[str]:
        """Return what changed since the last call. detail: with the names of all pods."""
        found = [*self._cordon_changes(), *self._start()]
        if self.node.phase != Phase.WAITING:
            found += [*self._gone_pods(detail), *self._accepted_evictions(detail), *self._blocked_by_pdb()]
            found += [*self._failures(), *self._retries()]
        found += [*self._detaching(), *self._end(), *self._final_check(detail)]
        self._phase = self.node.phase
        return found

    def _cordon_changes(self) -> Iterable[str]:
        if self.node.cordon.cordoned != self._cordoned:
            self._cordoned = self.node.cordon.cordoned
            yield "cordoned" if self._cordoned else "uncordoned"
        if self.node.cordon.recordons != self._recordons:
            self._recordons = self.node.cordon.recordons
            yield "uncordoned by someone else, cordoned again"

    def _start(self) -> Iterable[str]:
        if self._started or self.node.phase == Phase.WAITING or not self.node.listed:
            return
        self._started = True
        skipped = Counter(str(verdict.reason) for _pod, verdict in self.node.skipped.values())
        text = "already cordoned; " if self.node.cordon.cordoned_before else ""
        # Say so: pods on a NotReady node never terminate.
        text += "" if is_ready(self.node.obj) or not condition_of(self.node.obj, "Ready") else "not Ready; "
        text += f"{count_noun(_total(self.node), 'pod')} to evict"
        if skipped:
            text += ", skipped: " + ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        yield text

    def _gone_pods(self, detail: bool) -> Iterable[str]:
        gone = self.node.evicted[self._gone :]
        self._gone += len(gone)
        self._accepted -= {identity_of(end.pod.obj) for end in gone}
        if gone:
            names = _names((end.pod for end in gone), detail)
            yield f"{count_noun(len(gone), 'pod')} gone ({self._gone} of {_total(self.node)}): {names}"

    def _accepted_evictions(self, detail: bool) -> Iterable[str]:
        accepted = {uid: pod for uid, pod in self.node.pods.items() if pod.state == State.LEAVING and pod.accepted}
        new = [pod for uid, pod in accepted.items() if uid not in self._accepted]
        self._accepted = set(accepted)
        if new:
            yield f"{count_noun(len(new), 'eviction')} accepted: {_names(new, detail)}"

    def _blocked_by_pdb(self) -> Iterable[str]:
        found: dict[str, tuple[object, str]] = {}
        for pod in _blocked_pods(self.node):
            requirement = self._requirement(pod)
            if requirement is not None:
                found.setdefault(_budget_name(pod), requirement)
        before, self._budgets = self._budgets, {budget: key for budget, (key, _text) in found.items()}
        counts = _blocked_by_budget(self.node)
        for budget, (key, text) in found.items():
            if before.get(budget) != key:
                yield f"{count_noun(counts[budget], 'pod')} blocked by {budget} ({text.rstrip('.')})"

    def _requirement(self, pod: PodState) -> tuple[object, str] | None:
        """Return what a budget requires, as a key, and as text with figures that change all the time."""
        budget = self.budget_of(pod)
        if budget is not None:
            facts = budget_facts(budget)
            required, expected = facts["desired_healthy"], facts["expected_pods"]
            text = f"{facts['current_healthy']}/{expected} healthy, {required} required"
            return (required, expected), text + (f": {remedy_for(budget)}" if is_deadlocked(budget) else "")
        if pod.outcome is not None and pod.outcome.kind == BLOCKED_BY_PDB:
            return pod.outcome.message, pod.outcome.message
        return None

    def _failures(self) -> Iterable[str]:
        lost = [
            pod for pod in self.node.sorted_pods(State.LOST, State.BLOCKED) if identity_of(pod.obj) not in self._lost
        ]
        self._lost |= {identity_of(pod.obj) for pod in lost}
        if lost:
            yield "cannot be evicted: " + group_by_text([(full_name(pod.obj), _failure_text(pod)) for pod in lost])

    def _retries(self) -> Iterable[str]:
        retried = [pod for pod in self.node.sorted_pods(State.PAUSED, State.TRYING) if _last_outcome(pod) == RETRY]
        errors = {pod.outcome.message for pod in retried if pod.outcome is not None}
        new, self._errors = sorted(errors - self._errors), errors
        if new:
            yield f"retrying: {_names(retried, detail=False)} ({abbreviate(new)})"

    def _detaching(self) -> Iterable[str]:
        attached = _attached(self.node)
        if self.node.phase == Phase.DETACHING and len(attached) != self._attached and attached:
            self._attached = len(attached)
            names = abbreviate(volume.text() for volume in attached)
            yield f"{count_noun(len(attached), 'volume')} still attached: {names}"

    def _end(self) -> Iterable[str]:
        node = self.node
        if node.phase == self._phase:
            return
        took = format_duration(node.ended_at - node.started_at)
        if node.phase == Phase.DRAINED:
            yield f"drained in {took}, {count_noun(len(node.evicted), 'pod')} gone"
        elif node.phase == Phase.FAILED and node.error is not None:
            yield f"failed: {node.error.message}"
        elif node.phase == Phase.FAILED:
            limit = f" within {took}" if node.timed_out else ""
            yield f"not drained{limit}, {count_noun(len(node.pods), 'pod')} left"

    def _final_check(self, detail: bool) -> Iterable[str]:
        if detail and self.node.phase == Phase.CHECKING and self._phase != Phase.CHECKING:
            yield "final check"


def node_summary(node: NodeState) -> str:
    """Return the state of a node that is being drained."""
    terminating = len(node.sorted_pods(State.LEAVING))
    parts = [f"{len(node.evicted)} of {count_noun(_total(node), 'pod')} gone"]
    parts += [f"{terminating} terminating"] if terminating else []
    parts += [f"{count} blocked by {budget}" for budget, count in list(_blocked_by_budget(node).items())[:MAX_NAMES]]
    attached = _attached(node)
    parts += [f"{count_noun(len(attached), 'volume')} still attached"] if attached else []
    return ", ".join(parts)


def _total(node: NodeState) -> int:
    return len(node.evicted) + len(node.pods)


def _attached(node: NodeState) -> list[Volume]:
    return [volume for volume in node.volumes or [] if not volume.detached]


def _blocked_pods(node: NodeState) -> list[PodState]:
    """Return the pods that wait for a budget, also while their eviction is retried."""
    return [
        pod
        for pod in node.sorted_pods(State.HELD, State.TRYING)
        if pod.state == State.HELD or _last_outcome(pod) == BLOCKED_BY_PDB
    ]


def _blocked_by_budget(node: NodeState) -> dict[str, int]:
    return Counter(_budget_name(pod) for pod in _blocked_pods(node))


def _last_outcome(pod: PodState) -> str:
    return pod.outcome.kind if pod.outcome is not None else ""


def _budget_name(pod: PodState) -> str:
    return f"PDB {namespace_of(pod.obj)}/{pod.budget}" if pod.budget else "a PDB"


def _failure_text(pod: PodState) -> str:
    if pod.state == State.BLOCKED:
        return pod.verdict.message if pod.verdict is not None else ""
    return pod.outcome.message.rstrip(".") if pod.outcome is not None else ""


def _names(pods: Iterable[PodState], detail: bool) -> str:
    names = sorted(full_name(pod.obj) for pod in pods)
    return ", ".join(names) if detail else abbreviate(names)
