# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why a pod is still on its node: a reason, and a sentence with what to do."""

from __future__ import annotations

from typing import Any

from ..cluster.budgets import budget_facts, disruptions_allowed, is_deadlocked, remedies_for, unread_budget_facts
from ..cluster.eviction import Outcome
from ..cluster.pods import reference
from ..objects import Obj, deletion_time, int_field, is_ready, is_terminating, mapping_at, namespace_of, strings_at
from ..reasons import Reason
from .pod import PodState, State

# A kubelet needs a moment after the grace period to take volumes and network down.
OVERDUE_AFTER = 5.0

_UNTIL_ALLOWED = "it is evicted as soon as the PDB allows it"
_UNTIL_SYNCED = "if that lasts, check whether kube-controller-manager is running"
# What to do precedes the messages of webhooks and API servers, which end with or without a full stop.
_BEFORE = {
    Reason.PDB_MULTIPLE: "selected by more than one PDB, so delete one or change its selector",
    Reason.WEBHOOK_DENIED: "do as the webhook or policy requires, or ask its owner",
    Reason.API_ERROR: "find out what sends this response, because a retry would get the same",
}
_NOT_READY = (
    "; its node is not Ready, and only its kubelet can end the pod: bring the node back,"
    " or stop waiting for the pod with delete_options.skip_wait_for_delete_timeout"
)
_STUCK = ": check what its node's kubelet and container runtime wait for"
_SLOW = ": give the task more time (delete_options.wait_timeout)"


def pending_pod(pod: PodState, budget: Obj | None, node: Obj, now: float) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod; now: seconds since 1970."""
    reason, message = why(pod, budget, node, now)
    meta = mapping_at(pod.obj, "metadata")
    return dict(
        reference(pod.obj),
        phase=mapping_at(pod.obj, "status").get("phase") or "",
        reason=reason,
        message=message,
        attempts=pod.attempts,
        last_status=pod.outcome.status if pod.outcome is not None else 0,
        pdb=budget_facts(budget) if budget is not None else _unread_budget(pod),
        finalizers=strings_at(pod.obj, "metadata", "finalizers"),
        deletion_timestamp=meta.get("deletionTimestamp") or "",
        overdue_seconds=max(0, int(now - (deletion_time(pod.obj) or now))),
    )


def gone_pod(pod: PodState, message: str) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod that is gone and has left a volume attached."""
    entry = pending_pod(pod, None, {}, 0.0)
    return dict(entry, phase="", reason=Reason.VOLUME_ATTACHED, message=message, overdue_seconds=0)


def why(pod: PodState, budget: Obj | None, node: Obj, now: float) -> tuple[Reason, str]:
    """Return the reason, and the text to put after the pod's name and a colon."""
    if pod.state == State.BLOCKED and pod.verdict is not None and pod.verdict.reason is not None:
        return pod.verdict.reason, pod.verdict.message
    if is_terminating(pod.obj):
        return _terminating(pod.obj, node, now)
    if pod.accepted:
        text = "evicted, and not marked as deleted yet: the API server is behind, so run the task again"
        return Reason.TERMINATING, text
    if budget is not None and _waits_for(budget, pod):
        return _blocked_by(pod, budget)
    return _not_tried(pod) if pod.outcome is None else _after(pod.outcome, pod)


def _waits_for(budget: Obj, pod: PodState) -> bool:
    if pod.outcome is not None:
        return pod.outcome.reason == Reason.PDB_NO_BUDGET
    return bool(pod.guard) and disruptions_allowed(budget) == 0


def _not_tried(pod: PodState) -> tuple[Reason, str]:
    if pod.attempts:
        text = "no response to its eviction before the time was up: run the task again once the API server is well"
        return Reason.API_ERROR, text
    if pod.state == State.PAUSED:
        text = (
            "not tried any more, because its controller recreates such pods although the node is cordoned:"
            " scale it down, or keep it off this node"
        )
        return Reason.NOT_TRIED, text
    text = "not tried before the time was up: raise delete_options.wait_timeout or eviction_concurrency"
    return Reason.NOT_TRIED, text


def _after(outcome: Outcome, pod: PodState) -> tuple[Reason, str]:
    """Return the same for a pod whose last eviction failed with this outcome."""
    # An outcome without a reason says that the pod is gone, although lists still have it.
    reason = outcome.reason or Reason.API_ERROR
    if pod.state == State.LOST or reason == Reason.FORBIDDEN:
        return reason, _failed(reason, outcome)
    if reason in (Reason.PDB_NO_BUDGET, Reason.PDB_STALE):
        until = _UNTIL_ALLOWED if reason == Reason.PDB_NO_BUDGET else _UNTIL_SYNCED
        return reason, f"{_budget_text(pod)}: {outcome.message.rstrip('.')}; {until}{_unready(pod.obj)}"
    if reason == Reason.NAMESPACE_TERMINATING:
        return reason, (
            "its namespace is being deleted, and nothing can be evicted there: check what namespace"
            f" {namespace_of(pod.obj)} waits for"
        )
    text = outcome.message or "the API server responded 404, but still lists the pod"
    return reason, f"run the task again once the API server is well: {text}"


def _failed(reason: Reason, outcome: Outcome) -> str:
    before = _BEFORE.get(reason, "")
    if reason == Reason.FORBIDDEN:
        # For 401 the message says what the login needs.
        before = "the account may not evict it" + (", so grant it that right" if outcome.status == 403 else "")
    return f"{before}: {outcome.message}" if before else outcome.message


def _blocked_by(pod: PodState, budget: Obj) -> tuple[Reason, str]:
    if is_deadlocked(budget):
        text = f"{_budget_text(pod)}, which never allows a disruption: {remedies_for(budget)}{_unready(pod.obj)}"
        return Reason.PDB_DEADLOCK, text
    if pod.outcome is not None:
        text = f"{_budget_text(pod)}: {pod.outcome.message.rstrip('.')}"
    else:
        facts = budget_facts(budget)
        healthy, required = facts["current_healthy"], facts["desired_healthy"]
        text = f"{_budget_text(pod)} ({healthy}/{facts['expected_pods']} healthy, {required} required)"
    return Reason.PDB_NO_BUDGET, f"{text}; {_until(budget)}{_unready(pod.obj)}"


def _until(budget: Obj) -> str:
    """Return what has to happen until a budget that is not deadlocked allows a disruption."""
    facts = budget_facts(budget)
    unhealthy = facts["expected_pods"] - facts["current_healthy"]
    if unhealthy <= 0:
        return _UNTIL_ALLOWED
    return f"check why {unhealthy} of its pods {'is' if unhealthy == 1 else 'are'} not healthy"


def _terminating(pod: Obj, node: Obj, now: float) -> tuple[Reason, str]:
    overdue = now - (deletion_time(pod) or now)
    finalizers = strings_at(pod, "metadata", "finalizers")
    # The kubelet sets the grace period to 0 when the containers have ended: then the node does not block it any more.
    ended = int_field(mapping_at(pod, "metadata").get("deletionGracePeriodSeconds"), 1) == 0
    if finalizers and (ended or overdue > OVERDUE_AFTER):
        return Reason.FINALIZER, (
            f"it has ended, and finalizer {', '.join(finalizers)} keeps it: check why the controller that set it does"
            " not remove it"
        )
    not_ready = "" if not node or is_ready(node) else _NOT_READY
    if overdue > OVERDUE_AFTER:
        return Reason.TERMINATING_OVERDUE, f"terminating, {int(overdue)} s past its grace period{not_ready or _STUCK}"
    return Reason.TERMINATING, f"terminating, and may take {int(max(0, -overdue))} s more{not_ready or _SLOW}"


def _budget_text(pod: PodState) -> str:
    return f"blocked by PDB {namespace_of(pod.obj)}/{pod.budget}" if pod.budget else "blocked by a PDB"


def _unready(pod: Obj) -> str:
    if is_ready(pod):
        return ""
    return "; the pod itself is not Ready, so unhealthyPodEvictionPolicy AlwaysAllow of the PDB would let it be evicted"


def _unread_budget(pod: PodState) -> dict[str, Any] | None:
    return unread_budget_facts(pod.budget) if pod.budget else None
