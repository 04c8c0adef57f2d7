# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods."""

from __future__ import annotations

from typing import Any

from ..objects import Object, copied
from .metadata import SINCE, metadata, uid_of

IMAGE = "registry.example/app:1"


def behaviour(
    *, start: float | None = None, term: float | None = None, run: float | None = None, never_ready: bool = False
) -> dict[str, str]:
    """Return the annotations by which the simulated kubelet knows what to do with a pod (seconds)."""
    given = {"fake/start": start, "fake/term": term, "fake/run": run}
    notes = {key: f"{value:g}" for key, value in given.items() if value is not None}
    return {**notes, "fake/noready": "true"} if never_ready else notes


def pod_spec(
    *,
    image: str = IMAGE,
    grace: int = 30,
    restart_policy: str = "Always",
    node_name: str | None = None,
    node_selector: dict[str, str] | None = None,
    tolerations: list[Object] | None = None,
    affinity: Object | None = None,
    emptydir: bool = False,
    claims: list[str] | None = None,
    containers: list[str] | None = None,
    priority_class: str | None = None,
    requests: dict[str, str] | None = None,
    init: list[str] | None = None,
) -> Object:
    """Return a pod's spec; `emptydir` adds such a volume; `claims`, `containers`, `init` (containers) are names."""
    volumes: list[Object] = [{"name": "scratch", "emptyDir": {}}] if emptydir else []
    volumes += [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims or ()]
    asked: Object = {"requests": dict(requests)} if requests else {}
    spec: Object = {
        "containers": [{"name": name, "image": image, "resources": copied(asked)} for name in containers or ["app"]]
    }
    if init:
        spec["initContainers"] = [{"name": name, "image": image, "resources": {}} for name in init]
    optional = {
        "volumes": volumes,
        "nodeName": node_name,
        "nodeSelector": node_selector and dict(node_selector),
        "tolerations": copied(tolerations),
        "affinity": copied(affinity),
        "priorityClassName": priority_class,
    }
    spec.update({key: value for key, value in optional.items() if value})
    spec.update(restartPolicy=restart_policy, terminationGracePeriodSeconds=grace, dnsPolicy="ClusterFirst")
    spec.update(securityContext={}, schedulerName="default-scheduler")
    return spec


def pod(
    name: str,
    namespace: str = "default",
    *,
    node_name: str | None = "node-1",
    phase: str = "Running",
    ready: bool = True,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    owner: Object | str | None = None,
    finalizers: list[str] | None = None,
    uid: str | None = None,
    mirror: bool = False,
    created: str | None = None,
    deleted: str | None = None,
    start: float | None = None,
    term: float | None = None,
    run: float | None = None,
    never_ready: bool = False,
    **spec_options: Any,
) -> Object:
    """Return a Pod as the API shows it in this phase; `deleted` is its deletionTimestamp, the rest is `pod_spec`'s."""
    notes = {**behaviour(start=start, term=term, run=run, never_ready=never_ready), **(annotations or {})}
    if mirror:
        notes["kubernetes.io/config.mirror"] = uid_of("Mirror", namespace, name)
        notes["kubernetes.io/config.source"] = "file"
        owner = owner or f"Node/{node_name}"
    meta = metadata(
        "Pod",
        name,
        namespace,
        uid=uid,
        labels=labels,
        annotations=notes,
        owner=owner,
        finalizers=finalizers,
        created=created,
        deleted=deleted,
    )
    spec = pod_spec(node_name=node_name, **spec_options)
    if deleted:
        meta["deletionGracePeriodSeconds"] = spec["terminationGracePeriodSeconds"]
    status = pod_status(spec, phase, ready and not never_ready)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def pod_status(spec: Object, phase: str = "Running", ready: bool = True) -> Object:
    """Return the status of a pod of this spec in a phase."""
    status: Object = {"phase": phase, "qosClass": "BestEffort"}
    if not spec.get("nodeName"):
        return status
    runs = phase == "Running"
    ready = ready and runs
    flags = {"Ready": ready, "ContainersReady": ready, "Initialized": True, "PodScheduled": True}
    status["conditions"] = [
        {"type": kind, "status": str(flag), "lastProbeTime": None, "lastTransitionTime": SINCE}
        for kind, flag in flags.items()
    ]
    if phase == "Pending":
        return status
    state: Object = {"running": {"startedAt": SINCE}}
    if not runs:
        code = 0 if phase == "Succeeded" else 1
        reason = "Completed" if phase == "Succeeded" else "Error"
        state = {"terminated": {"exitCode": code, "reason": reason, "startedAt": SINCE, "finishedAt": SINCE}}
    status["startTime"] = SINCE
    status["containerStatuses"] = [
        {
            "name": container["name"],
            "state": copied(state),
            "lastState": {},
            "ready": ready,
            "restartCount": 0,
            "image": container["image"],
            "imageID": f"sha256:{container['image']}",
            "started": runs,
        }
        for container in spec["containers"]
    ]
    return status
