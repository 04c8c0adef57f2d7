# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a workload lacks pods or has too many, and which pods are its own; pod_status says why one is not ready."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..api.responses import clip
from ..cluster.pods import workload_of
from ..objects import (
    Obj,
    condition_of,
    controller_of,
    fields_at,
    int_field,
    is_finished,
    is_terminating,
    labels_of,
    mapping_at,
    mappings_at,
    namespace_of,
)
from ..text import count_noun
from .pod_status import TRANSIENT, Problem
from .viewers import figures, is_observed

# (kind, namespace, name) of a workload.
Key = tuple[str, str, str]

_QUOTA = re.compile(r"exceeded quota|failed quota|usage per (Pod|Container)", re.IGNORECASE)
_WEBHOOK_DOWN = re.compile(r"failed calling webhook|context deadline exceeded|connection refused", re.IGNORECASE)

_POD_METADATA = ("name", "namespace", "uid", "resourceVersion", "labels", "deletionTimestamp")
_POD_STATUS = ("phase", "reason", "message", "conditions", "initContainerStatuses", "containerStatuses")


def workload_key(pod: Obj) -> Key | None:
    """Return the workload that a pod belongs to, None for a pod without a controller."""
    workload = workload_of(pod)
    return (workload[1], namespace_of(pod), workload[2]) if workload is not None else None


def trimmed_pod(pod: Obj) -> Obj:
    """Return a pod of the same shape with only the fields that this package reads."""
    meta = fields_at(pod, "metadata", keys=_POD_METADATA)
    owner = controller_of(pod)
    if owner is not None:
        meta["ownerReferences"] = [owner]
    spec: dict[str, Any] = {"nodeName": mapping_at(pod, "spec").get("nodeName")}
    for field_name in ("initContainers", "containers"):
        spec[field_name] = [
            {"name": entry.get("name"), "image": entry.get("image")} for entry in mappings_at(pod, "spec", field_name)
        ]
    return {"metadata": meta, "spec": spec, "status": {key: mapping_at(pod, "status").get(key) for key in _POD_STATUS}}


def revision_hash(pod: Obj) -> str:
    """Return the label by which a controller distinguishes the revisions of its pods."""
    labels = labels_of(pod)
    return str(labels.get("pod-template-hash") or labels.get("controller-revision-hash") or "")


def leaving_pods_line(kind: str, obj: Obj, pods: Iterable[Obj]) -> str:
    """Return a line about pods that must still go though the counts are complete (semantics strict), "" if none."""
    unfinished = [pod for pod in pods if not is_finished(pod)]
    terminating = sum(is_terminating(pod) for pod in unfinished)
    if terminating:
        return f"Waiting for {terminating} pods to terminate..."
    wanted = figures(kind, obj)["desired"] + int_field(mapping_at(obj, "status").get("numberMisscheduled"))
    surplus = len(unfinished) - wanted
    return f"Waiting for {surplus} surplus pods to be removed..." if surplus > 0 else ""


def workload_problem(kind: str, obj: Obj) -> Problem | None:
    """Return why a workload gets no pods, according to its own status."""
    if kind != "Deployment" or not is_observed(obj):
        return None
    counts = figures(kind, obj)
    failure = condition_of(obj, "ReplicaFailure")
    if failure.get("status") == "True":
        return create_problem(str(failure.get("message") or failure.get("reason") or ""), _has_old_pods(obj))
    if mapping_at(obj, "spec").get("paused") is True and counts["updated"] < counts["desired"]:
        text = "is paused, and its template has changed: resume it (kubectl rollout resume)"
        return Problem("paused", text, is_fault=True, permanent=True)
    return None


def create_problem(error: str, has_old_pods: bool = False) -> Problem:
    """Return the problem of a controller that cannot create pods, from the API server's error.

    has_old_pods: pods of the old revision remain, which may free what a quota lacks.
    """
    text = f"cannot create a pod: {clip(error)}"
    if _QUOTA.search(error):
        return Problem("quota", text, is_fault=True, permanent=not has_old_pods)
    permanent = not (_WEBHOOK_DOWN.search(error) or TRANSIENT.search(error))
    return Problem("create_refused", text, is_fault=True, permanent=permanent)


def missing_pods_problem(kind: str, obj: Obj, pods: list[Obj], events: list[Obj]) -> Problem | None:
    """Return the problem of a workload that has too few pods, which events about it may explain.

    StatefulSets and DaemonSets have no condition for that.
    """
    missing = figures(kind, obj)["desired"] - sum(not is_finished(pod) for pod in pods)
    if missing <= 0 or not is_observed(obj):
        return None
    last = events[-1] if events else {}
    if last.get("reason") == "FailedCreate":
        return create_problem(str(last.get("message") or ""), has_old_pods=True)
    return Problem("not_created", f"lacks {count_noun(missing, 'pod')}")


def _has_old_pods(obj: Obj) -> bool:
    status = mapping_at(obj, "status")
    return int_field(status.get("replicas")) > int_field(status.get("updatedReplicas"))
