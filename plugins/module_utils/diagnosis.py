# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say why a pod is still on its node: one reason of the closed set, and a sentence."""

from __future__ import annotations

from typing import Any

from .budgets import budget_facts, is_deadlocked, remedy_for, room_in, unread_facts
from .objects import Obj, deletion_time, is_ready, is_terminating, namespace_of, number, part, texts
from .pod_drain import BLOCKED, LOST, PAUSED, PodDrain
from .pods import reference

# A kubelet needs a moment after the grace period to take volumes and network down.
OVERDUE_AFTER = 5.0


def pending_pod(drain: PodDrain, budget: Obj | None, node: Obj, now: float) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod; now: seconds since 1970."""
    reason, message = why(drain, budget, node, now)
    meta = part(drain.pod, "metadata")
    outcome = drain.outcome
    return dict(
        reference(drain.pod),
        phase=part(drain.pod, "status").get("phase") or "",
        reason=reason,
        message=message,
        attempts=drain.attempts,
        last_status=outcome.status if outcome is not None else 0,
        pdb=budget_facts(budget) if budget is not None else _named_only(drain),
        finalizers=texts(drain.pod, "metadata", "finalizers"),
        deletion_timestamp=meta.get("deletionTimestamp") or "",
        overdue_seconds=max(0, int(now - (deletion_time(drain.pod) or now))),
    )


def gone_pod(drain: PodDrain, message: str) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod that is gone and has left a volume attached."""
    entry = pending_pod(drain, None, {}, 0.0)
    return dict(entry, phase="", reason="volume_attached", message=message, overdue_seconds=0)


def why(drain: PodDrain, budget: Obj | None, node: Obj, now: float) -> tuple[str, str]:
    """Return the reason and what follows the pod's name and a colon."""
    outcome = drain.outcome
    if drain.state == BLOCKED and drain.verdict is not None:
        return drain.verdict.reason, drain.verdict.message
    if is_terminating(drain.pod):
        return _leaving(drain.pod, node, now)
    if drain.accepted:
        return "terminating", "evicted, and not marked as deleted yet"
    waits = drain.guard and budget is not None and room_in(budget) == 0
    if budget is not None and (waits if outcome is None else outcome.reason == "pdb_no_budget"):
        return _held(drain, budget)
    if outcome is None and drain.attempts:
        return "api_error", "its eviction was not answered before the time was up"
    if outcome is None and drain.state == PAUSED:
        return "not_tried", "not tried any more, because such pods come back although the node is cordoned"
    if outcome is None:
        return "not_tried", "not tried before the time was up"
    if drain.state == LOST:
        return outcome.reason, _lost(outcome.reason, outcome.message)
    if outcome.reason in ("pdb_no_budget", "pdb_stale"):
        return outcome.reason, "%s: %s%s" % (_held_by(drain), outcome.message, _unready(drain.pod))
    if outcome.reason == "namespace_terminating":
        return outcome.reason, "its namespace is being deleted, and nothing can be evicted there"
    # A pod of which the API server says that it is gone, and which it lists all the same, has no other words.
    return outcome.reason or "api_error", outcome.message or "the API server knows no such pod, but still lists it"


def _held(drain: PodDrain, budget: Obj) -> tuple[str, str]:
    if is_deadlocked(budget):
        text = "%s, which lets none of its healthy pods go: %s%s" % (
            _held_by(drain),
            remedy_for(budget),
            _unready(drain.pod),
        )
        return "pdb_deadlock", text
    if drain.outcome is not None:
        return "pdb_no_budget", "%s: %s%s" % (_held_by(drain), drain.outcome.message, _unready(drain.pod))
    facts = budget_facts(budget)
    text = "%s, which needs %d healthy pods and has %d%s" % (
        _held_by(drain),
        facts["desired_healthy"],
        facts["current_healthy"],
        _unready(drain.pod),
    )
    return "pdb_no_budget", text


def _leaving(pod: Obj, node: Obj, now: float) -> tuple[str, str]:
    overdue = now - (deletion_time(pod) or now)
    finalizers = texts(pod, "metadata", "finalizers")
    # The kubelet sets the grace period to 0 when the containers have ended; what holds the pod then is not the node.
    ended = number(part(pod, "metadata").get("deletionGracePeriodSeconds"), 1) == 0
    if finalizers and (ended or overdue > OVERDUE_AFTER):
        return "finalizer", "it has ended, and finalizer %s holds it" % ", ".join(finalizers)
    dead = "" if not node or is_ready(node) else "; its node is not Ready, and only its kubelet can end the pod"
    if overdue > OVERDUE_AFTER:
        return "terminating_overdue", "terminating, %d s past its grace period%s" % (overdue, dead)
    return "terminating", "terminating, and may take %d s more%s" % (max(0, -overdue), dead)


def _lost(reason: str, message: str) -> str:
    if reason == "pdb_multiple":
        return "selected by more than one disruption budget: %s" % message
    if reason == "forbidden":
        return "the account may not evict it: %s" % message
    return message


def _held_by(drain: PodDrain) -> str:
    if not drain.budget:
        return "held by a disruption budget"
    return "held by disruption budget %s/%s" % (namespace_of(drain.pod), drain.budget)


def _unready(pod: Obj) -> str:
    return "" if is_ready(pod) else "; the pod itself is not Ready"


def _named_only(drain: PodDrain) -> dict[str, Any] | None:
    return unread_facts(drain.budget) if drain.budget else None
