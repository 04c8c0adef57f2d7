# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads and their pods.

Options that a function does not name itself are `template`'s: image, grace, emptydir, tolerations, start, term, run...
"""

from __future__ import annotations

from typing import Any

from ..objects import Object, copied
from .metadata import metadata
from .pods import behaviour, pod, pod_spec


def template(
    labels: dict[str, str],
    annotations: dict[str, str] | None = None,
    *,
    start: float | None = None,
    term: float | None = None,
    run: float | None = None,
    never_ready: bool = False,
    **spec_options: Any,
) -> Object:
    """Return a pod template; times are the simulated kubelet's, the rest is `pod_spec`'s."""
    notes = {**behaviour(start=start, term=term, run=run, never_ready=never_ready), **(annotations or {})}
    meta: Object = {"labels": dict(labels)}
    if notes:
        meta["annotations"] = notes
    return {"metadata": meta, "spec": pod_spec(**spec_options)}


def _workload(api_version: str, kind: str, name: str, namespace: str, options: Object, **spec: Any) -> Object:
    labels = options.pop("labels", None) or {"app": name}
    kept = {key: options.pop(key) for key in ("uid", "owner", "finalizers", "created", "deleted") if key in options}
    notes = options.pop("workload_annotations", None)
    meta = metadata(kind, name, namespace, labels=labels, annotations=notes, **kept)
    made: Object = {"apiVersion": api_version, "kind": kind, "metadata": meta}
    made["spec"] = {
        "selector": {"matchLabels": dict(labels)},
        "template": template(labels, options.pop("annotations", None), **options),
        **{key: value for key, value in spec.items() if value is not None},
    }
    return made


def deployment(
    name: str,
    replicas: int = 1,
    namespace: str = "default",
    *,
    strategy: str = "RollingUpdate",
    max_surge: int | str = "25%",
    max_unavailable: int | str = "25%",
    min_ready_seconds: int | None = None,
    deadline: int = 600,
    paused: bool | None = None,
    **options: Any,
) -> Object:
    """Return a Deployment; `annotations` are its pods', `workload_annotations` its own."""
    rolling = {"maxSurge": max_surge, "maxUnavailable": max_unavailable}
    return _workload(
        "apps/v1",
        "Deployment",
        name,
        namespace,
        options,
        replicas=replicas,
        strategy={"type": strategy, **({"rollingUpdate": rolling} if strategy == "RollingUpdate" else {})},
        minReadySeconds=min_ready_seconds,
        revisionHistoryLimit=10,
        progressDeadlineSeconds=deadline,
        paused=paused,
    )


def replica_set(name: str, replicas: int = 1, namespace: str = "default", **options: Any) -> Object:
    """Return a ReplicaSet."""
    return _workload("apps/v1", "ReplicaSet", name, namespace, options, replicas=replicas)


def stateful_set(
    name: str,
    replicas: int = 1,
    namespace: str = "default",
    *,
    policy: str = "OrderedReady",
    strategy: str = "RollingUpdate",
    partition: int | None = 0,
    min_ready_seconds: int | None = None,
    **options: Any,
) -> Object:
    """Return a StatefulSet; partition None leaves the block rollingUpdate out."""
    update: Object = {"type": strategy}
    if strategy == "RollingUpdate" and partition is not None:
        update["rollingUpdate"] = {"partition": partition}
    return _workload(
        "apps/v1",
        "StatefulSet",
        name,
        namespace,
        options,
        replicas=replicas,
        serviceName=name,
        podManagementPolicy=policy,
        updateStrategy=update,
        minReadySeconds=min_ready_seconds,
        revisionHistoryLimit=10,
    )


def daemon_set(
    name: str,
    namespace: str = "default",
    *,
    strategy: str = "RollingUpdate",
    max_unavailable: int | str = 1,
    max_surge: int | str = 0,
    min_ready_seconds: int | None = None,
    **options: Any,
) -> Object:
    """Return a DaemonSet; with `max_surge`, `max_unavailable` is 0, as the API server wants it."""
    update: Object = {"type": strategy}
    if strategy == "RollingUpdate":
        update["rollingUpdate"] = {"maxUnavailable": 0 if max_surge else max_unavailable, "maxSurge": max_surge}
    return _workload(
        "apps/v1",
        "DaemonSet",
        name,
        namespace,
        options,
        updateStrategy=update,
        minReadySeconds=min_ready_seconds,
        revisionHistoryLimit=10,
    )


def job(
    name: str,
    namespace: str = "default",
    *,
    parallelism: int = 1,
    completions: int | None = 1,
    backoff_limit: int = 6,
    failure_policy: Object | None = None,
    **options: Any,
) -> Object:
    """Return a Job; completions None is a work queue, `failure_policy` a podFailurePolicy."""
    options.setdefault("restart_policy", "Never")
    made = _workload(
        "batch/v1",
        "Job",
        name,
        namespace,
        options,
        parallelism=parallelism,
        completions=completions,
        backoffLimit=backoff_limit,
        podFailurePolicy=failure_policy,
    )
    # as the API server fills them in: a Job's own labels, made from its uid
    own = {"batch.kubernetes.io/controller-uid": made["metadata"]["uid"], "batch.kubernetes.io/job-name": name}
    made["spec"]["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": made["metadata"]["uid"]}}
    made["spec"]["template"]["metadata"]["labels"].update(own)
    return made


def cron_job(name: str, namespace: str = "default", *, schedule: str = "0 3 * * *", **options: Any) -> Object:
    """Return a CronJob; nothing starts its Jobs."""
    spec = copied(job(name, namespace, **options)["spec"])
    del spec["selector"]
    meta = metadata("CronJob", name, namespace)
    made: Object = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta}
    made["spec"] = {"schedule": schedule, "jobTemplate": {"spec": spec}}
    return made


def pods_of(owner: Object, nodes: list[str], **options: Any) -> list[Object]:
    """Return one running pod of `owner` for each node named, called <owner>-0, -1...; options are `pod`'s."""
    meta = owner["metadata"]
    made = owner["spec"]["template"]["metadata"]
    options = {"labels": made["labels"], "annotations": made.get("annotations"), **options}
    return [
        pod(f"{meta['name']}-{number}", meta["namespace"], node_name=node, owner=owner, **options)
        for number, node in enumerate(nodes)
    ]
