# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The return values: the state of the rollouts when the task ends. The keys are always the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..objects import mapping_at, name_of
from ..text import truncate_lists
from .fail_fast import Finding
from .findings import PendingPod
from .messages import message_of, with_remedy
from .options import RolloutTask
from .viewers import REVISION, figures
from .workload import Workload, WorkloadGroup
from .workload_status import revision_hash


@dataclass
class Report:
    """How a task ended.

    seconds: how long it waited; cancelled: what ended it from outside; unreadable: why the wait did not start;
    decisive: why it failed early; pending_pods: pods that keep rollouts from completing; notes: what could not be read.
    """

    task: RolloutTask
    groups: list[WorkloadGroup] = field(default_factory=list)
    seconds: float = 0.0
    timed_out: bool = False
    cancelled: str = ""
    unreadable: str = ""
    decisive: list[Finding] = field(default_factory=list)
    pending_pods: list[PendingPod] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def members(self) -> list[Workload]:
        """Return the workloads in the order in which kubectl would go through them."""
        return [member for group in self.groups for member in group.members.values()]

    @property
    def failed(self) -> bool:
        """Return whether the task failed. With watch=false, an unfinished rollout is not a failure."""
        ended = self.timed_out or bool(self.cancelled) or bool(self.decisive)
        return ended or any(member.failure for member in self.members)


def result_of(report: Report) -> dict[str, Any]:
    """Return the module's result, as RETURN in the module's documentation describes it."""
    members = report.members
    result = {
        "changed": False,
        "done": all(member.done for member in members),
        "msg": message_of(report),
        "messages": [line for member in members for line in member.lines],
        "workloads": [_workload(member, report) for member in members],
        "pending_workloads": [_reference(member) for member in members if not member.done],
        "pending_pods": [_pod(pod) for pod in report.pending_pods],
    }
    return truncate_lists(result)


def _reference(member: Workload) -> dict[str, str]:
    kind, namespace, name, api_version = member.target
    return {"api_version": api_version, "kind": kind, "namespace": namespace, "name": name}


def _workload(member: Workload, report: Report) -> dict[str, Any]:
    failure = member.failure
    if not failure and not member.done:
        decisive = [pod for pod in report.pending_pods if pod.decisive and pod.workload is member]
        failure = with_remedy(decisive[0].problem) if decisive else ""
    return dict(
        _reference(member),
        done=member.done,
        message=member.message,
        revision=_revision(member),
        failure=failure,
        **figures(member.target.kind, member.obj),
    )


def _revision(member: Workload) -> str:
    """Return the revision that is rolled out: its number, or the hash in the labels of its pods."""
    if member.target.kind == "Deployment":
        return str(mapping_at(member.obj, "metadata", "annotations").get(REVISION) or "")
    return str(mapping_at(member.obj, "status").get("updateRevision") or "")


def _pod(pending: PendingPod) -> dict[str, Any]:
    problem = pending.problem
    return {
        "namespace": pending.workload.target.namespace,
        "name": name_of(pending.pod),
        "workload": f"{pending.workload.target.kind}/{pending.workload.target.name}",
        "revision": revision_hash(pending.pod),
        "node": str(mapping_at(pending.pod, "spec").get("nodeName") or ""),
        "phase": str(mapping_at(pending.pod, "status").get("phase") or ""),
        "reason": problem.reason,
        "message": with_remedy(problem),
        "container": problem.container,
        "exit_code": problem.exit_code,
        "restarts": problem.restarts,
        "last_log": pending.last_log,
    }
