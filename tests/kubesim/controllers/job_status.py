# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Job's status."""

from __future__ import annotations

from ..agenda import seconds_of
from ..objects import Object, is_pod_ready, is_terminating
from . import pods

Tally = dict[str, int]  # how many pods "succeeded" and "failed"
# What a Job says as soon as its end is decided; it ends when its last pod has ended.
_HERALDS = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}


def finish_condition(kind: str, reason: str, message: str) -> Object:
    """Return the condition, still without times, that ends a Job."""
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def recorded_verdict(job: Object) -> Object | None:
    """Return the end that was decided before."""
    for kind, herald in _HERALDS.items():
        for found in (job.get("status") or {}).get("conditions") or ():
            if found["type"] == herald and found["status"] == "True":
                return finish_condition(kind, found.get("reason", ""), found.get("message", ""))
    return None


def is_over(job: Object) -> float:
    """Return when the Job completed or failed, 0 while it has not."""
    for found in (job.get("status") or {}).get("conditions") or ():
        if found["type"] in _HERALDS and found["status"] == "True":
            return seconds_of(found["lastTransitionTime"])
    return 0.0


def next_status(job: Object, members: list[Object], tally: Tally, verdict: Object | None, stamp: str) -> Object:
    """Return the status for these pods; a verdict ends the Job once none of them runs."""
    before = job.get("status") or {}
    active = [pod for pod in members if pods.is_active(pod)]
    counts = {"active": len(active), **tally}
    status: Object = {"startTime": before.get("startTime", stamp)}
    status.update({key: count for key, count in counts.items() if count})
    status["terminating"] = sum(is_terminating(pod) and not pods.is_finished(pod) for pod in members)
    status["uncountedTerminatedPods"] = {}
    status["ready"] = sum(is_pod_ready(pod) for pod in active)
    conditions = _suspension(job, list(before.get("conditions") or ()), stamp)
    if verdict is not None:
        times = {"lastProbeTime": stamp, "lastTransitionTime": stamp}
        if recorded_verdict(job) is None:
            conditions.append({**verdict, **times, "type": _HERALDS[verdict["type"]]})
        if all(pods.is_finished(pod) for pod in members):
            conditions.append({**verdict, **times})
            if verdict["type"] == "Complete":
                status["completionTime"] = stamp
    if conditions:
        status["conditions"] = conditions
    return status


def _suspension(job: Object, conditions: list[Object], stamp: str) -> list[Object]:
    suspended = bool(job["spec"].get("suspend"))
    known = next((found for found in conditions if found["type"] == "Suspended"), None)
    if (known is None and not suspended) or (known is not None and (known["status"] == "True") == suspended):
        return conditions
    words = ("True", "JobSuspended", "Job suspended") if suspended else ("False", "JobResumed", "Job resumed")
    entry = {"type": "Suspended", "lastProbeTime": stamp, "lastTransitionTime": stamp}
    entry.update(zip(("status", "reason", "message"), words, strict=True))
    return [*(found for found in conditions if found["type"] != "Suspended"), entry]
