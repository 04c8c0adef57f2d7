# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn what is known of rollouts at a task's end into return values. The same keys come whatever the end was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..objects import mapping_at, name_of
from ..text import truncate_lists
from .diagnosis import Finding, revision_hash
from .evidence import Entry
from .messages import message_of
from .options import RolloutTask
from .remedies import with_remedy
from .viewers import REVISION, figures
from .workload import Workload, WorkloadGroup


@dataclass
class Report:
    """A task's end.

    seconds: how long it waited; timed_out: its time is up; cancelled: what ended it from outside; refused: why nothing
    was waited for; verdict: why it was given up early; entries: pods that keep rollouts from being complete; notes:
    what could not be read.
    """

    task: RolloutTask
    followings: list[WorkloadGroup] = field(default_factory=list)
    seconds: float = 0.0
    timed_out: bool = False
    cancelled: str = ""
    refused: str = ""
    verdict: list[Finding] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def members(self) -> list[Workload]:
        """Return the workloads in the order in which kubectl would go through them."""
        return [member for following in self.followings for member in following.members.values()]

    @property
    def failed(self) -> bool:
        """Tell whether the task failed. One look without waiting does not fail for what is unfinished."""
        ended = self.timed_out or bool(self.cancelled) or bool(self.verdict)
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
        "pending_pods": [_pod(entry) for entry in report.entries],
    }
    return truncate_lists(result)


def _reference(member: Workload) -> dict[str, str]:
    kind, namespace, name, api_version = member.target
    return {"api_version": api_version, "kind": kind, "namespace": namespace, "name": name}


def _workload(member: Workload, report: Report) -> dict[str, Any]:
    failure = member.failure
    if not failure and not member.done:
        given_up = [entry for entry in report.entries if entry.decisive and entry.followed is member]
        failure = with_remedy(given_up[0].trouble) if given_up else ""
    return dict(
        _reference(member),
        done=member.done,
        message=member.message,
        revision=_revision(member),
        failure=failure,
        **figures(member.target.kind, member.obj),
    )


def _revision(member: Workload) -> str:
    """Return the revision that a workload goes to: its number, or the hash that its new pods carry."""
    if member.target.kind == "Deployment":
        return str(mapping_at(member.obj, "metadata", "annotations").get(REVISION) or "")
    return str(mapping_at(member.obj, "status").get("updateRevision") or "")


def _pod(entry: Entry) -> dict[str, Any]:
    trouble = entry.trouble
    return {
        "namespace": entry.followed.target.namespace,
        "name": name_of(entry.pod),
        "workload": "%s/%s" % (entry.followed.target.kind, entry.followed.target.name),
        "revision": revision_hash(entry.pod),
        "node": str(mapping_at(entry.pod, "spec").get("nodeName") or ""),
        "phase": str(mapping_at(entry.pod, "status").get("phase") or ""),
        "reason": trouble.reason,
        "message": with_remedy(trouble),
        "container": trouble.container,
        "exit_code": trouble.exit_code,
        "restarts": trouble.restarts,
        "last_log": entry.last_log,
    }
