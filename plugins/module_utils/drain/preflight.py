# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at budgets, rights and nodes before the first change: what can never work, and what will take its time.

A budget that looks deadlocked only warns unless C(preflight=strict), because database and storage operators move
their pods and budgets once a node is cordoned (https://github.com/rook/rook/issues/12262).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..cluster.budgets import BudgetBook, is_consulted, is_deadlocked, lets_unready_go, room_in, ways_out_of
from ..objects import Obj, condition_of, full_name, is_ready, name_of, namespace_of
from ..reasons import Reason
from ..text import abbreviate, count_noun
from .filters import BLOCK, Verdict
from .node import NodeState
from .pod import PodState, State

# A budget of a namespace: (namespace, name).
BudgetKey = tuple[str, str]

_TWO = (
    "selected by %s, and the API server evicts no pod of two budgets:"
    " delete one of them or change its selector, or set delete_options.disable_eviction to bypass both"
)


@dataclass
class BudgetFindings:
    """What was found. refusals and forecasts are sentences; pods that cannot go are blocked where they stand."""

    refusals: list[str] = field(default_factory=list)
    forecasts: list[str] = field(default_factory=list)


class Queue(NamedTuple):
    """Pods that go only as their budget lets them. waiting: how many have no room now; room: how many go at a time."""

    budget: str
    waiting: int
    room: int


def queues_of(drains: Iterable[PodState], books: Mapping[str, BudgetBook]) -> list[Queue]:
    """Return the budgets that let only some of these pods go now, of which each alone may go."""
    groups: dict[str, tuple[int, int]] = {}
    for drain in drains:
        budgets = books[namespace_of(drain.obj)].of(drain.obj) if namespace_of(drain.obj) in books else []
        if len(budgets) == 1 and is_consulted(drain.obj) and _is_bound(drain, budgets[0]):
            name = full_name(budgets[0])
            # One has been let through, whatever the budget looked like before.
            groups[name] = (max(1, room_in(budgets[0])), groups.get(name, (0, 0))[1] + 1)
    return [Queue(name, pods - room, room) for name, (room, pods) in sorted(groups.items()) if pods > room]


def look_at_budgets(nodes: list[NodeState], books: Mapping[str, BudgetBook], strict: bool) -> BudgetFindings:
    """Compare the pods of all nodes together with the budgets of their namespaces."""
    findings = BudgetFindings()
    groups: dict[BudgetKey, tuple[Obj, list[PodState]]] = {}
    for drain in _guarded_pods(nodes):
        budgets = books[namespace_of(drain.obj)].of(drain.obj) if namespace_of(drain.obj) in books else []
        if len(budgets) > 1:
            names = " and ".join(sorted(full_name(budget) for budget in budgets))
            _block(drain, Reason.PDB_MULTIPLE, _TWO % names)
        for budget in budgets if len(budgets) == 1 else []:
            key = (namespace_of(budget), full_name(budget))
            groups.setdefault(key, (budget, []))[1].append(drain)
    for _key, (budget, drains) in sorted(groups.items()):
        _look_at(budget, drains, strict, findings)
    return findings


def _guarded_pods(nodes: list[NodeState]) -> list[PodState]:
    return [drain for node in nodes for drain in node.sorted_pods(State.DUE) if is_consulted(drain.obj)]


def _look_at(budget: Obj, drains: list[PodState], strict: bool, findings: BudgetFindings) -> None:
    name, room = full_name(budget), room_in(budget)
    bound = [drain for drain in drains if _is_bound(drain, budget)]
    unready = [drain for drain in bound if not is_ready(drain.obj)]
    if is_deadlocked(budget):
        for drain in bound if strict else []:
            drain.guard = name_of(budget)
            _block(
                drain,
                Reason.PDB_DEADLOCK,
                "held by disruption budget %s, which lets none of its healthy pods go: %s"
                % (name, ways_out_of(budget)),
            )
        findings.forecasts += _deadlock(name, bound, ways_out_of(budget))
    elif unready and room == 0:
        findings.forecasts.append(
            "disruption budget %s holds %s that %s not Ready, until other pods of that budget are healthy (%s)"
            % (name, count_noun(len(unready), "pod"), "is" if len(unready) == 1 else "are", _names(unready))
        )
    elif room < len(bound):
        findings.forecasts.append(_short(name, room, len(bound)))


def _is_bound(drain: PodState, budget: Obj) -> bool:
    """Tell whether a pod needs its budget's room."""
    return is_ready(drain.obj) or not lets_unready_go(budget)


def _deadlock(name: str, bound: list[PodState], remedy: str) -> list[str]:
    if not bound:
        return []
    return [
        "disruption budget %s looks deadlocked: all its pods are healthy and none may go, so %s will stay: %s (%s)"
        % (name, count_noun(len(bound), "pod"), remedy, _names(bound))
    ]


def _short(name: str, room: int, pods: int) -> str:
    if room == 0:
        return "disruption budget %s had no room for %s when the drain began" % (name, count_noun(pods, "pod"))
    return "disruption budget %s lets %d of %d pods go at a time: the others wait until those run elsewhere" % (
        name,
        room,
        pods,
    )


def block_for_right(drains: list[PodState], right: str) -> None:
    """Block pods that the account has no right to remove."""
    for drain in drains:
        _block(drain, Reason.FORBIDDEN, "the account may not %s: grant it that right" % right)


def _block(drain: PodState, reason: str, message: str) -> None:
    drain.state, drain.verdict = State.BLOCKED, Verdict(BLOCK, reason, message)


def node_warning(node: NodeState) -> str:
    """Return what a node's own state means for its drain, "" for a healthy node."""
    ready = condition_of(node.obj, "Ready")
    if not ready or is_ready(node.obj):
        return ""
    return "node %s is not Ready (%s): pods that are evicted there end only when its kubelet is back" % (
        node.name,
        ready.get("reason") or ready.get("status"),
    )


def _names(drains: list[PodState]) -> str:
    return abbreviate(full_name(drain.obj) for drain in drains)
