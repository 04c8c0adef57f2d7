# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server fills in when objects are created through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..objects import Object

_EVICT_AFTER = 300  # DefaultTolerationSeconds admission


def fill(obj: Object) -> None:
    """Fill the defaults of the object's kind in place, and reset a status that the creator may not set."""
    filler = _FILLERS.get(obj["kind"])
    if filler is not None:
        obj["spec"] = obj.get("spec") or {}
        filler(obj)


def _merge(target: Object, **defaults: Any) -> None:
    for key, value in defaults.items():
        if target.get(key) is None:
            target[key] = value


def _pod_spec(spec: Object) -> None:
    _merge(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        securityContext={},
        schedulerName="default-scheduler",
    )
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        image = str(container.get("image", ""))
        tag = image.rsplit("/", 1)[-1].partition(":")[2]
        _merge(
            container,
            resources={},
            terminationMessagePath="/dev/termination-log",
            terminationMessagePolicy="File",
            imagePullPolicy="IfNotPresent" if tag and tag != "latest" else "Always",
        )


def _pod(pod: Object) -> None:
    spec = pod["spec"]
    _pod_spec(spec)
    _merge(
        spec, serviceAccountName="default", enableServiceLinks=True, preemptionPolicy="PreemptLowerPriority", priority=0
    )
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    tolerations = spec["tolerations"] = list(spec.get("tolerations") or ())
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(t.get("key") in (key, None) and t.get("effect") in ("NoExecute", None, "") for t in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _EVICT_AFTER}
            )
    pod["status"] = {"phase": "Pending", "qosClass": "BestEffort"}


def _template(obj: Object) -> None:
    _pod_spec(obj["spec"].setdefault("template", {}).setdefault("spec", {}))
    obj["status"] = {}


def _deployment(obj: Object) -> None:
    _merge(
        obj["spec"],
        replicas=1,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        revisionHistoryLimit=10,
        progressDeadlineSeconds=600,
    )
    if obj["spec"]["strategy"].get("type", "RollingUpdate") == "RollingUpdate":
        obj["spec"]["strategy"].setdefault("type", "RollingUpdate")
        _merge(obj["spec"]["strategy"].setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")
    _template(obj)


def _stateful_set(obj: Object) -> None:
    # partition 0 is only filled in where the type was left out, too
    _merge(
        obj["spec"],
        replicas=1,
        podManagementPolicy="OrderedReady",
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        revisionHistoryLimit=10,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
    )
    _template(obj)
    obj["status"] = {"replicas": 0, "availableReplicas": 0}


def _daemon_set(obj: Object) -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    _merge(obj["spec"], updateStrategy=rolling, revisionHistoryLimit=10)
    _template(obj)
    names = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
    obj["status"] = dict.fromkeys(names, 0)


def _replica_set(obj: Object) -> None:
    _merge(obj["spec"], replicas=1)
    _template(obj)
    obj["status"] = {"replicas": 0}


def _job(obj: Object) -> None:
    spec = obj["spec"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    _merge(
        spec,
        parallelism=1,
        backoffLimit=6,
        completionMode="NonIndexed",
        suspend=False,
        podReplacementPolicy="TerminatingOrFailed",
    )
    _template(obj)


def _budget(obj: Object) -> None:
    obj["status"] = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}


def _claim(obj: Object) -> None:
    _merge(obj["spec"], volumeMode="Filesystem")
    obj["status"] = {"phase": "Pending"}


_FILLERS: dict[str, Callable[[Object], None]] = {
    "Pod": _pod,
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "ReplicaSet": _replica_set,
    "Job": _job,
    "PodDisruptionBudget": _budget,
    "PersistentVolumeClaim": _claim,
}
