# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide when the troubles of pods mean that a rollout cannot succeed, and find those that no pod shows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..api.responses import clip
from ..cluster.pods import workload_of
from ..objects import (
    Obj,
    condition_of,
    controller_of,
    fields_at,
    identity_of,
    int_field,
    is_finished,
    is_terminating,
    labels_of,
    mapping_at,
    mappings_at,
    namespace_of,
)
from ..text import count_noun
from .pod_status import PASSING, Trouble
from .viewers import figures, is_observed

# (kind, namespace, name) of a workload.
Key = tuple[str, str, str]

OFF, TOLERANT, STRICT = "off", "tolerant", "strict"

# A container flickers between crashing and running; a reason that comes back this soon never was away.
LINGER = 10.0
# A controller needs a moment to act on a change, in which a workload looks as if it stood still.
SETTLE = 2.0

# What is first seen as a matter of time and then explained by an event has stood since it was seen.
_SAME = {
    "volume": "starting",
    "sandbox": "starting",
    "probe_failed": "not_ready",
    "quota": "not_created",
    "create_refused": "not_created",
}
# What an event about the pod, or about the workload that lacks one, may explain.
UNEXPLAINED = ("starting", "not_ready", "not_created")

_QUOTA = re.compile(r"exceeded quota|failed quota|usage per (Pod|Container)", re.IGNORECASE)
_UNHEARD = re.compile(r"failed calling webhook|context deadline exceeded|connection refused", re.IGNORECASE)

_POD_METADATA = ("name", "namespace", "uid", "resourceVersion", "labels", "deletionTimestamp")
_POD_STATUS = ("phase", "reason", "message", "conditions", "initContainerStatuses", "containerStatuses")


def workload_key(pod: Obj) -> Key | None:
    """Return the workload that a pod belongs to, None for a pod without a controller."""
    workload = workload_of(pod)
    return (workload[1], namespace_of(pod), workload[2]) if workload is not None else None


def trimmed_pod(pod: Obj) -> Obj:
    """Return a pod of the same shape that holds only what the diagnosis reads."""
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
    """Return the label by which a controller tells the revisions of its pods apart."""
    labels = labels_of(pod)
    return str(labels.get("pod-template-hash") or labels.get("controller-revision-hash") or "")


def held_back(kind: str, obj: Obj, pods: Iterable[Obj]) -> str:
    """Return a line about pods that are still to go though the figures are complete (semantics strict), "" if none."""
    every = [pod for pod in pods if not is_finished(pod)]
    leaving = sum(is_terminating(pod) for pod in every)
    if leaving:
        return "Waiting for %d pods to terminate..." % leaving
    wanted = figures(kind, obj)["desired"] + int_field(mapping_at(obj, "status").get("numberMisscheduled"))
    surplus = len(every) - wanted
    return "Waiting for %d surplus pods to be removed..." % surplus if surplus > 0 else ""


def workload_trouble(kind: str, obj: Obj) -> Trouble | None:
    """Return what the object itself says of why it gets no pods."""
    if kind != "Deployment" or not is_observed(obj):
        return None
    counts = figures(kind, obj)
    failure = condition_of(obj, "ReplicaFailure")
    if failure.get("status") == "True":
        return refusal(str(failure.get("message") or failure.get("reason") or ""), _has_old_pods(obj))
    if mapping_at(obj, "spec").get("paused") is True and counts["updated"] < counts["desired"]:
        text = "is paused, and its template has changed: resume it (kubectl rollout resume)"
        return Trouble("paused", text, blamed=True, final=True)
    return None


def refusal(words: str, may_heal: bool = False) -> Trouble:
    """Return the trouble of a controller that may not make pods, from the API server's words.

    may_heal: pods of the old revision remain, which may give back what a quota lacks.
    """
    text = "cannot create a pod: " + clip(words)
    if _QUOTA.search(words):
        return Trouble("quota", text, blamed=True, final=not may_heal)
    return Trouble("create_refused", text, blamed=True, final=not (_UNHEARD.search(words) or PASSING.search(words)))


def lacking(kind: str, obj: Obj, pods: list[Obj], events: list[Obj]) -> Trouble | None:
    """Return the trouble of a workload that has fewer pods than it should, which events about it may explain.

    StatefulSets and DaemonSets have no condition for that.
    """
    missing = figures(kind, obj)["desired"] - sum(not is_finished(pod) for pod in pods)
    if missing <= 0 or not is_observed(obj):
        return None
    last = events[-1] if events else {}
    if last.get("reason") == "FailedCreate":
        return refusal(str(last.get("message") or ""), may_heal=True)
    return Trouble("not_created", "lacks %s" % count_noun(missing, "pod"))


def _has_old_pods(obj: Obj) -> bool:
    status = mapping_at(obj, "status")
    return int_field(status.get("replicas")) > int_field(status.get("updatedReplicas"))


class Finding(NamedTuple):
    """A trouble of a workload. pod: {} for one that could not be made."""

    key: Key
    pod: Obj
    trouble: Trouble


@dataclass
class _Stand:
    since: float
    last: float


@dataclass
class FailFast:
    """When to give a rollout up. mode: fail_early; window: seconds that a reason must stand."""

    mode: str
    window: float
    _stands: dict[tuple[Key, str, str], _Stand] = field(default_factory=dict)

    def note(self, findings: list[Finding], now: float) -> None:
        """Take in all the troubles that there are now."""
        for finding in findings:
            stand = self._stands.setdefault(_family(finding), _Stand(now, now))
            stand.last = now
        for family in [family for family, stand in self._stands.items() if now - stand.last > LINGER]:
            del self._stands[family]

    def age(self, finding: Finding, now: float) -> float:
        """Return for how many seconds the reason of a finding has stood."""
        stand = self._stands.get(_family(finding))
        return now - stand.since if stand is not None else 0.0

    def hopeless(self, findings: list[Finding], now: float) -> list[Finding]:
        """Return the findings that end the task now."""
        return [
            finding
            for finding in findings
            if finding.trouble.blamed and self.mode != OFF and self.age(finding, now) >= self._patience(finding)
        ]

    def next_due(self, findings: list[Finding], now: float) -> float | None:
        """Return in how many seconds a finding will end the task if it stands, None if none will."""
        left = [
            self._patience(finding) - self.age(finding, now)
            for finding in findings
            if finding.trouble.blamed and self.mode != OFF
        ]
        return max(0.0, min(left)) if left else None

    def _patience(self, finding: Finding) -> float:
        if self.mode != STRICT or not finding.trouble.final:
            return self.window
        # What a container or a registry said is said; a controller may just not have come to it.
        return min(SETTLE, self.window) if not finding.pod else 0.0


def _family(finding: Finding) -> tuple[Key, str, str]:
    reason = finding.trouble.reason
    # Pods that a kubelet gave up are replaced by others that share their fate; every other pod has its own.
    pod = "" if reason == "pod_failed" else identity_of(finding.pod)
    return finding.key, _SAME.get(reason, reason), pod
