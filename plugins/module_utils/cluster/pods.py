# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trim pods to the fields that a drain uses, and name them and their workloads.

A pod is some ten kilobytes of JSON and a node has hundreds of them; a trimmed pod is a tenth of that.
"""

from __future__ import annotations

from ..objects import (
    MIRROR_ANNOTATION,
    Obj,
    age_of,
    condition_of,
    controller_of,
    fields_at,
    is_mirror,
    labels_of,
    mapping_at,
    mappings_at,
    name_of,
    strings_at,
)

_METADATA = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def trimmed(pod: Obj) -> Obj:
    """Return the pod with only the fields that a drain reads."""
    meta = fields_at(pod, "metadata", keys=_METADATA)
    owner = controller_of(pod)
    if owner is not None:
        meta["ownerReferences"] = [{key: owner.get(key) for key in ("apiVersion", "kind", "name", "uid", "controller")}]
    if strings_at(pod, "metadata", "finalizers"):
        meta["finalizers"] = strings_at(pod, "metadata", "finalizers")
    if is_mirror(pod):
        meta["annotations"] = {MIRROR_ANNOTATION: ""}
    spec = {key: mapping_at(pod, "spec").get(key) for key in ("nodeName", "terminationGracePeriodSeconds")}
    spec["volumes"] = [
        {"name": volume.get("name"), kind: volume[kind] if kind == "persistentVolumeClaim" else {}}
        for volume in mappings_at(pod, "spec", "volumes")
        for kind in ("emptyDir", "persistentVolumeClaim", "ephemeral")
        if volume.get(kind) is not None
    ]
    ready = condition_of(pod, "Ready")
    status = {"phase": mapping_at(pod, "status").get("phase"), "conditions": [ready] if ready else []}
    return {"metadata": meta, "spec": spec, "status": status}


def owner_text(pod: Obj) -> str:
    """Return Kind/name of the pod's controller, "" if it has none."""
    owner = controller_of(pod)
    return f"{owner.get('kind')}/{owner.get('name')}" if owner is not None else ""


def workload_of(pod: Obj) -> tuple[str, str, str] | None:
    """Return (apiVersion, kind, name) of the workload that a pod belongs to, None for a pod without a controller.

    Derived from names, without a request. ReplicaSets are named <deployment>-<hash> by their controller, which puts the
    hash on their pods; Jobs of a CronJob are named <cronjob>-<minutes since 1970>:
    https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
    Other controllers, such as custom resources, are returned as they are.
    """
    owner = controller_of(pod)
    if owner is None:
        return None
    version, kind, name = (str(owner.get(key) or "") for key in ("apiVersion", "kind", "name"))
    if (version, kind) == ("apps/v1", "ReplicaSet"):
        for label, top in _REPLICA_SET_OWNERS:
            tail = "-" + str(labels_of(pod).get(label) or "")
            if len(tail) > 1 and name.endswith(tail) and len(name) > len(tail):
                return (*top, name[: -len(tail)])
    if (version, kind) == ("batch/v1", "Job"):
        cron_job, _dash, minutes = name.rpartition("-")
        # Eight digits may also be a date; minutes since 1970 are in this range from 2019 to 2045.
        if cron_job and 26_000_000 <= age_of(minutes) < 40_000_000:
            return version, "CronJob", cron_job
    return version, kind, name


_REPLICA_SET_OWNERS = (
    ("pod-template-hash", ("apps/v1", "Deployment")),
    ("rollouts-pod-template-hash", ("argoproj.io/v1alpha1", "Rollout")),
)


def reference(pod: Obj) -> dict[str, str]:
    """Return the keys that identify a pod in results."""
    meta = mapping_at(pod, "metadata")
    return {
        "namespace": str(meta.get("namespace") or ""),
        "name": name_of(pod),
        "uid": str(meta.get("uid") or ""),
        "owner": owner_text(pod),
    }
