# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Summarize a drain in a sentence or two: what went wrong and what to do, also for hundreds of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..objects import full_name
from ..reasons import Reason
from ..text import MAX_NAMES, abbreviate, count_noun, end_sentence, group_by_text
from .cordon_messages import cordon_message
from .node import NodeState, Phase
from .preflight_budgets import BudgetWait


class Ended(Protocol):
    """What the sentences are made from, see result.Report."""

    state: str
    nodes: list[NodeState]
    refused: bool
    cancelled: str
    refusals: list[str]
    account: str
    budget_waits: list[BudgetWait]
    check_mode: bool
    seconds: float


Pending = Mapping[str, list[dict[str, Any]]]


def message_of(end: Ended, pending: Pending) -> str:
    """Return the task's C(msg)."""
    if not end.nodes:
        return "No node matches, which allow_empty permits."
    if end.refused:
        return _refusal(end, end.nodes)
    if end.state != "drain":
        return cordon_message(end.nodes, end.state, end.check_mode)
    failed = [node for node in end.nodes if node.phase == Phase.FAILED]
    if failed:
        return (f"The task was {end.cancelled}. " if end.cancelled else "") + _failed(failed, end, pending)
    return _would_drain(end, pending) if end.check_mode else _drained(end.nodes)


def _failed(nodes: list[NodeState], end: Ended, pending: Pending) -> str:
    parts = [_not_drained(node, pending[node.name], end) + _cordon_left(node, end) for node in nodes[:MAX_NAMES]]
    others = nodes[MAX_NAMES:]
    if others:
        verb = "would not be" if end.check_mode else "was not" if len(others) == 1 else "were not"
        parts.append(f"{count_noun(len(others), 'more node')} {verb} drained: {_names(others)} (see nodes).")
    return " ".join(parts)


def _refusal(end: Ended, nodes: list[NodeState]) -> str:
    # Missing rights come first: nothing else can be tried before they are granted.
    parts = [end_sentence(f"{refusal}: grant it that right") for refusal in end.refusals]
    blocked = [pod for node in nodes for pod in node.blocked() if pod.verdict]
    if blocked:
        where = abbreviate(node.name for node in nodes if node.blocked())
        reasons = group_by_text([(full_name(pod.obj), pod.verdict.message) for pod in blocked if pod.verdict])
        parts.append(f"{count_noun(len(blocked), 'pod')} on {where} cannot be evicted: {end_sentence(reasons)}")
    text = "Nothing was changed, because " + " Also, ".join(parts)
    if end.refusals or any(pod.verdict and pod.verdict.reason == Reason.FORBIDDEN for pod in blocked):
        text += f" The rights were checked at {end.account}; the guide on access rights lists what a task needs."
    return text


def _not_drained(node: NodeState, pending: list[dict[str, Any]], end: Ended) -> str:
    limit = f" within {int(end.seconds)} s" if node.timed_out else ""
    text = f"Node {node.name} {'would not be' if end.check_mode else 'was not'} drained{limit}"
    # Pods that were not listed since the cordon may be outdated: the error says more.
    if node.error is not None and not (node.timed_out and pending and node.listed):
        return f"{text}: {end_sentence(node.error.message)}"
    attached = [volume.text() for volume in node.volumes or [] if not volume.detached]
    if attached:
        count = count_noun(len(attached), "volume") + (" is" if len(attached) == 1 else " are")
        return (
            f"{text}: its pods are gone, but {count} still attached: {abbreviate(attached)};"
            " check what its storage driver waits for."
        )
    if not pending:
        return text + (": no time was left for the final check, so run the task again." if node.timed_out else ".")
    verb = "is" if len(pending) == 1 else "are"
    return f"{text}: {count_noun(len(pending), 'pod')} {verb} left: {end_sentence(pending_text(pending))}"


def _cordon_left(node: NodeState, end: Ended) -> str:
    if node.cordon.rolled_back:
        return " It is schedulable again."
    return " It stays cordoned." if node.cordon.cordoned and not end.check_mode else ""


def _drained(nodes: list[NodeState]) -> str:
    gone = sum(len(node.evicted) for node in nodes)
    seconds = max(node.ended_at for node in nodes) - min(node.started_at for node in nodes)
    text = f"Drained {_names(nodes)}: {count_noun(gone, 'pod')} gone in {seconds:.0f} s"
    skipped = sum(len(node.skipped) for node in nodes)
    text += f", {skipped} skipped" if skipped else ""
    return text + _others_on(nodes) + "."


def _others_on(nodes: list[NodeState]) -> str:
    others = sum(node.others for node in nodes)
    if others == 1:
        return ", 1 pod that does not match pod_selectors stays"
    return f", {others} pods that do not match pod_selectors stay" if others else ""


def _would_drain(end: Ended, pending: Pending) -> str:
    gone = sum(len(node.evicted) for node in end.nodes)
    waiting = sum(wait.waiting for wait in end.budget_waits)
    count = f"{gone - waiting} of {count_noun(gone, 'pod')}" if waiting else count_noun(gone, "pod")
    text = f"Would drain {_names(end.nodes)}: {count} would be evicted now"
    for wait in end.budget_waits[:MAX_NAMES]:
        text += f", {wait.waiting} would wait for PDB {wait.budget} ({wait.at_a_time} at a time)"
    others = sum(wait.waiting for wait in end.budget_waits[MAX_NAMES:])
    text += f", {others} for other PDBs" if others else ""
    text += _others_on(end.nodes)
    left = [pod for node in end.nodes for pod in pending[node.name]]
    if not left:
        return text + "."
    return f"{text}, {count_noun(len(left), 'pod')} would be blocked: {end_sentence(pending_text(left))}"


def pending_text(pending: list[dict[str, Any]]) -> str:
    """Return which pods are left and why, grouped by reason, the largest groups first."""
    # Messages contain figures that differ from pod to pod, so group by reason and budget.
    names: dict[tuple[str, str], list[str]] = {}
    messages: dict[tuple[str, str], str] = {}
    for pod in pending:
        key = (pod["reason"], (pod["pdb"] or {}).get("name") or _without_digits(pod["message"]))
        messages.setdefault(key, pod["message"])
        names.setdefault(key, []).append(f"{pod['namespace']}/{pod['name']}")
    ranked = sorted(names.items(), key=lambda entry: -len(entry[1]))
    text = "; ".join(f"{abbreviate(group)}: {messages[key].rstrip('.')}" for key, group in ranked[:MAX_NAMES])
    more = sum(len(group) for _key, group in ranked[MAX_NAMES:])
    return text + (f"; {count_noun(more, 'pod')} more for other reasons (see pending_pods)" if more else "")


def _without_digits(text: str) -> str:
    return "".join(letter for letter in text if not letter.isdigit())


def eviction_warnings(node: NodeState) -> list[str]:
    """Return what the evictions of a node cost, one sentence for each kind of loss."""
    names: dict[str, list[str]] = {}
    for pod, verdict in node.warned.values():
        for warning in verdict.warnings:
            names.setdefault(warning, []).append(full_name(pod))
    return [f"{node.name}: {abbreviate(sorted(group))}: {warning}" for warning, group in sorted(names.items())]


def _names(nodes: list[NodeState]) -> str:
    return abbreviate(node.name for node in nodes)
