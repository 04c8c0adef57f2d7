# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the pods to be evicted with the disruption budgets that select them.

A budget that looks deadlocked only warns unless C(preflight=strict), because database and storage operators move
their pods and budgets once a node is cordoned (https://github.com/rook/rook/issues/12262).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..cluster.budgets import (
    NamespaceBudgets,
    disruptions_allowed,
    exempts_unready,
    is_deadlocked,
    is_subject_to_budgets,
    remedies_for,
)
from ..objects import Obj, full_name, is_ready, name_of, namespace_of
from ..reasons import Reason
from ..text import abbreviate, count_noun
from .filters import BLOCK, Verdict
from .node import NodeState
from .pod import PodState, State

# The budgets of each namespace that could be read.
BudgetsByNamespace = Mapping[str, NamespaceBudgets]


class BudgetWait(NamedTuple):
    """A budget that allows fewer disruptions than it has pods to evict.

    waiting: pods that it does not allow now; at_a_time: disruptions that it allows.
    """

    budget: str
    waiting: int
    at_a_time: int


def budget_waits(pods: Iterable[PodState], budgets: BudgetsByNamespace) -> list[BudgetWait]:
    """Return the budgets because of which some of these pods wait, although each of them alone may be evicted."""
    groups: dict[str, tuple[int, int]] = {}
    for pod in pods:
        selecting = _budgets_of(pod, budgets)
        if len(selecting) == 1 and is_subject_to_budgets(pod.obj) and _needs_disruption(pod, selecting[0]):
            name = full_name(selecting[0])
            # The dry run was allowed for each of them, whatever disruptionsAllowed was before.
            groups[name] = (max(1, disruptions_allowed(selecting[0])), groups.get(name, (0, 0))[1] + 1)
    return [
        BudgetWait(name, count - allowed, allowed)
        for name, (allowed, count) in sorted(groups.items())
        if count > allowed
    ]


def check_budgets(nodes: list[NodeState], budgets: BudgetsByNamespace, strict: bool) -> list[str]:
    """Block the pods that their budgets can never allow, and return warnings about the others, for all nodes together.

    strict: also block the pods of budgets that look deadlocked.
    """
    groups: dict[tuple[str, str], tuple[Obj, list[PodState]]] = {}
    for pod in _subject_pods(nodes):
        selecting = _budgets_of(pod, budgets)
        if len(selecting) > 1:
            block(pod, Reason.PDB_MULTIPLE, _multiple(selecting))
        elif selecting:
            key = (namespace_of(selecting[0]), full_name(selecting[0]))
            groups.setdefault(key, (selecting[0], []))[1].append(pod)
    return [text for _key, group in sorted(groups.items()) for text in _check_budget(*group, strict)]


def block(pod: PodState, reason: Reason, message: str) -> None:
    """Mark a pod as one that the preflight does not allow to be evicted."""
    pod.state, pod.verdict = State.BLOCKED, Verdict(BLOCK, reason, message)


def _subject_pods(nodes: list[NodeState]) -> list[PodState]:
    return [pod for node in nodes for pod in node.sorted_pods(State.DUE) if is_subject_to_budgets(pod.obj)]


def _budgets_of(pod: PodState, budgets: BudgetsByNamespace) -> list[Obj]:
    namespace = namespace_of(pod.obj)
    return budgets[namespace].of(pod.obj) if namespace in budgets else []


def _needs_disruption(pod: PodState, budget: Obj) -> bool:
    """Return whether the pod can be evicted only when the budget allows a disruption."""
    return is_ready(pod.obj) or not exempts_unready(budget)


def _check_budget(budget: Obj, pods: list[PodState], strict: bool) -> list[str]:
    name, allowed = full_name(budget), disruptions_allowed(budget)
    bound = [pod for pod in pods if _needs_disruption(pod, budget)]
    unready = [pod for pod in bound if not is_ready(pod.obj)]
    if is_deadlocked(budget):
        for pod in bound if strict else []:
            pod.guard = name_of(budget)
            text = f"blocked by PDB {name}, which never allows a disruption: {remedies_for(budget)}"
            block(pod, Reason.PDB_DEADLOCK, text)
        return _deadlock(name, bound, remedies_for(budget))
    if unready and allowed == 0:
        verb = "is" if len(unready) == 1 else "are"
        return [
            f"PDB {name} blocks {count_noun(len(unready), 'pod')} that {verb} not Ready, until its other pods are"
            f" healthy ({_names(unready)})"
        ]
    return [_too_few(name, allowed, len(bound))] if allowed < len(bound) else []


def _multiple(budgets: list[Obj]) -> str:
    names = " and ".join(sorted(full_name(budget) for budget in budgets))
    return (
        f"selected by PDBs {names}, and the API server evicts no pod of two PDBs: delete one of them or change its"
        " selector, or set delete_options.disable_eviction to bypass both"
    )


def _deadlock(name: str, bound: list[PodState], remedy: str) -> list[str]:
    if not bound:
        return []
    return [
        f"PDB {name} looks deadlocked: all its pods are healthy and none may be evicted, so"
        f" {count_noun(len(bound), 'pod')} will stay: {remedy} ({_names(bound)})"
    ]


def _too_few(name: str, allowed: int, pods: int) -> str:
    if allowed == 0:
        return f"PDB {name} allowed no disruption for {count_noun(pods, 'pod')} when the drain started"
    return f"PDB {name} allows {allowed} of {pods} evictions at a time: the others wait until those pods run elsewhere"


def _names(pods: list[PodState]) -> str:
    return abbreviate(full_name(pod.obj) for pod in pods)
