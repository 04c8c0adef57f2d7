# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep of a pod what a drain decides and reports by.

A pod is some ten kilobytes of JSON and a node has hundreds of them; what is kept here is a tenth of that.
"""

from __future__ import annotations

from .objects import (
    MIRROR_ANNOTATION,
    Obj,
    condition_of,
    controller_of,
    entries,
    is_mirror,
    labels_of,
    name_of,
    part,
    texts,
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
    """Return a pod of the same shape that holds only what the drain reads."""
    meta = {key: part(pod, "metadata")[key] for key in _METADATA if part(pod, "metadata").get(key) is not None}
    owner = controller_of(pod)
    if owner is not None:
        meta["ownerReferences"] = [{key: owner.get(key) for key in ("apiVersion", "kind", "name", "uid", "controller")}]
    if texts(pod, "metadata", "finalizers"):
        meta["finalizers"] = texts(pod, "metadata", "finalizers")
    if is_mirror(pod):
        meta["annotations"] = {MIRROR_ANNOTATION: ""}
    spec = {key: part(pod, "spec").get(key) for key in ("nodeName", "terminationGracePeriodSeconds")}
    spec["volumes"] = [
        {"name": volume.get("name"), kind: volume[kind] if kind == "persistentVolumeClaim" else {}}
        for volume in entries(pod, "spec", "volumes")
        for kind in ("emptyDir", "persistentVolumeClaim", "ephemeral")
        if volume.get(kind) is not None
    ]
    ready = condition_of(pod, "Ready")
    status = {"phase": part(pod, "status").get("phase"), "conditions": [ready] if ready else []}
    return {"metadata": meta, "spec": spec, "status": status}


def owner_text(pod: Obj) -> str:
    """Return Kind/name of the pod's controller, "" if it has none."""
    owner = controller_of(pod)
    return "%s/%s" % (owner.get("kind"), owner.get("name")) if owner is not None else ""


def workload_of(pod: Obj) -> tuple[str, str, str] | None:
    """Return (apiVersion, kind, name) of the workload that a pod belongs to, None for a pod without a controller.

    The Deployment controller names its ReplicaSets <deployment>-<pod-template-hash> and puts the hash on their pods,
    so no request is needed to find it: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
    """
    owner = controller_of(pod)
    if owner is None:
        return None
    version, kind, name = (str(owner.get(key) or "") for key in ("apiVersion", "kind", "name"))
    tail = "-" + str(labels_of(pod).get("pod-template-hash") or "")
    if (version, kind) == ("apps/v1", "ReplicaSet") and len(tail) > 1 and name.endswith(tail) and len(name) > len(tail):
        return version, "Deployment", name[: -len(tail)]
    return version, kind, name


def reference(pod: Obj) -> dict[str, str]:
    """Return what names a pod in results."""
    meta = part(pod, "metadata")
    return {
        "namespace": str(meta.get("namespace") or ""),
        "name": name_of(pod),
        "uid": str(meta.get("uid") or ""),
        "owner": owner_text(pod),
    }
