# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say why a pod is still on its node: one reason of the closed set, and a sentence."""

from __future__ import annotations

from typing import Any

from ..cluster.budgets import budget_facts, is_deadlocked, room_in, unread_facts, ways_out_of
from ..cluster.eviction import Outcome
from ..cluster.pods import reference
from ..objects import Obj, deletion_time, int_field, is_ready, is_terminating, mapping_at, namespace_of, strings_at
from ..reasons import Reason
from ..text import count_noun
from .pod import PodState, State

# A kubelet needs a moment after the grace period to take volumes and network down.
OVERDUE_AFTER = 5.0

# What follows a budget's refusal, by reason.
_NEXT: dict[str, str] = {
    Reason.PDB_NO_BUDGET: "it goes as soon as the budget has room again",
    Reason.PDB_STALE: "if that lasts, see whether kube-controller-manager is running",
}
# What stands before the words of others, which end as they like, where the same eviction would get them again.
_BEFORE: dict[str, str] = {
    Reason.PDB_MULTIPLE: "selected by more than one disruption budget, so delete one or change its selector",
    Reason.WEBHOOK_DENIED: "see what the webhook or policy asks for, or who runs it",
    Reason.API_ERROR: "find out what gives this answer, because another try would get the same",
}
_DEAD = (
    "; its node is not Ready, and only its kubelet can end the pod: bring the node back,"
    " or stop waiting for the pod with delete_options.skip_wait_for_delete_timeout"
)
_STUCK = ": see what its node's kubelet and container runtime are waiting for"
_SLOW = ": give the task more time (delete_options.wait_timeout)"


def pending_pod(drain: PodState, budget: Obj | None, node: Obj, now: float) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod; now: seconds since 1970."""
    reason, message = why(drain, budget, node, now)
    meta = mapping_at(drain.obj, "metadata")
    outcome = drain.outcome
    return dict(
        reference(drain.obj),
        phase=mapping_at(drain.obj, "status").get("phase") or "",
        reason=reason,
        message=message,
        attempts=drain.attempts,
        last_status=outcome.status if outcome is not None else 0,
        pdb=budget_facts(budget) if budget is not None else _named_only(drain),
        finalizers=strings_at(drain.obj, "metadata", "finalizers"),
        deletion_timestamp=meta.get("deletionTimestamp") or "",
        overdue_seconds=max(0, int(now - (deletion_time(drain.obj) or now))),
    )


def gone_pod(drain: PodState, message: str) -> dict[str, Any]:
    """Return the entry of C(pending_pods) for a pod that is gone and has left a volume attached."""
    entry = pending_pod(drain, None, {}, 0.0)
    return dict(entry, phase="", reason=Reason.VOLUME_ATTACHED, message=message, overdue_seconds=0)


def why(drain: PodState, budget: Obj | None, node: Obj, now: float) -> tuple[str, str]:
    """Return the reason and what follows the pod's name and a colon."""
    outcome = drain.outcome
    if drain.state == State.BLOCKED and drain.verdict is not None:
        return drain.verdict.reason, drain.verdict.message
    if is_terminating(drain.obj):
        return _leaving(drain.obj, node, now)
    if drain.accepted:
        return (
            Reason.TERMINATING,
            "evicted, and not marked as deleted yet: the API server is behind, so run the task again",
        )
    waits = drain.guard and budget is not None and room_in(budget) == 0
    if budget is not None and (waits if outcome is None else outcome.reason == Reason.PDB_NO_BUDGET):
        return _held(drain, budget)
    if outcome is None and drain.attempts:
        text = "its eviction was not answered before the time was up: run the task again once the API server is well"
        return Reason.API_ERROR, text
    if outcome is None:
        return Reason.NOT_TRIED, _not_tried(drain)
    if drain.state == State.LOST or outcome.reason == Reason.FORBIDDEN:
        return outcome.reason, _lost(outcome)
    if outcome.reason in (Reason.PDB_NO_BUDGET, Reason.PDB_STALE):
        words = outcome.message.rstrip(".")
        return outcome.reason, "%s: %s; %s%s" % (_held_by(drain), words, _NEXT[outcome.reason], _unready(drain.obj))
    if outcome.reason == Reason.NAMESPACE_TERMINATING:
        text = "its namespace is being deleted, and nothing can be evicted there: see what namespace %s is waiting for"
        return outcome.reason, text % namespace_of(drain.obj)
    # A pod of which the API server says that it is gone, and which it lists all the same, has no other words.
    text = outcome.message or "the API server knows no such pod, but still lists it"
    return outcome.reason or Reason.API_ERROR, "run the task again once the API server is well: %s" % text


def _not_tried(drain: PodState) -> str:
    if drain.state == State.PAUSED:
        return (
            "not tried any more, because such pods come back although the node is cordoned:"
            " scale down what makes them, or keep it off this node"
        )
    return "not tried before the time was up: raise delete_options.wait_timeout or eviction_concurrency"


def _held(drain: PodState, budget: Obj) -> tuple[str, str]:
    if is_deadlocked(budget):
        text = "%s, which lets none of its healthy pods go: %s%s" % (
            _held_by(drain),
            ways_out_of(budget),
            _unready(drain.obj),
        )
        return Reason.PDB_DEADLOCK, text
    facts = budget_facts(budget)
    words = "%s, which needs %d healthy pods and has %d"
    text = words % (_held_by(drain), facts["desired_healthy"], facts["current_healthy"])
    if drain.outcome is not None:
        text = "%s: %s" % (_held_by(drain), drain.outcome.message.rstrip("."))
    return Reason.PDB_NO_BUDGET, "%s; %s%s" % (text, _until(budget), _unready(drain.obj))


def _until(budget: Obj) -> str:
    """Return what has to happen until a budget has room that is not deadlocked."""
    facts = budget_facts(budget)
    unhealthy = facts["expected_pods"] - facts["current_healthy"]
    if unhealthy <= 0:
        return _NEXT[Reason.PDB_NO_BUDGET]
    return "see why %s of it %s not healthy" % (count_noun(unhealthy, "pod"), "is" if unhealthy == 1 else "are")


def _leaving(pod: Obj, node: Obj, now: float) -> tuple[str, str]:
    overdue = now - (deletion_time(pod) or now)
    finalizers = strings_at(pod, "metadata", "finalizers")
    # The kubelet sets the grace period to 0 when the containers have ended; what holds the pod then is not the node.
    ended = int_field(mapping_at(pod, "metadata").get("deletionGracePeriodSeconds"), 1) == 0
    if finalizers and (ended or overdue > OVERDUE_AFTER):
        text = "it has ended, and finalizer %s holds it: see why the controller that put it there does not remove it"
        return Reason.FINALIZER, text % ", ".join(finalizers)
    dead = "" if not node or is_ready(node) else _DEAD
    if overdue > OVERDUE_AFTER:
        text = "terminating, %d s past its grace period%s" % (overdue, dead or _STUCK)
        return Reason.TERMINATING_OVERDUE, text
    return Reason.TERMINATING, "terminating, and may take %d s more%s" % (max(0, -overdue), dead or _SLOW)


def _lost(outcome: Outcome) -> str:
    before = _BEFORE.get(outcome.reason, "")
    if outcome.reason == Reason.FORBIDDEN:
        # What a login needs that is not accepted is said with it.
        before = "the account may not evict it" + (", so grant it that right" if outcome.status == 403 else "")
    return "%s: %s" % (before, outcome.message) if before else outcome.message


def _held_by(drain: PodState) -> str:
    if not drain.budget:
        return "held by a disruption budget"
    return "held by disruption budget %s/%s" % (namespace_of(drain.obj), drain.budget)


def _unready(pod: Obj) -> str:
    if is_ready(pod):
        return ""
    return "; the pod itself is not Ready, and unhealthyPodEvictionPolicy AlwaysAllow of the budget would let it go"


def _named_only(drain: PodState) -> dict[str, Any] | None:
    return unread_facts(drain.budget) if drain.budget else None
