# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check nodes and workloads of a cluster through the API."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import connect
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock, Deadline

Object = dict[str, Any]
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_PAGE = 500
_ANSWER_SECONDS = 60.0


class Node(NamedTuple):
    name: str
    ready: bool
    schedulable: bool
    worker: bool
    kubelet: str
    boot_id: str

    @property
    def state(self) -> str:
        """Say it in words."""
        return ("Ready" if self.ready else "not Ready") + ("" if self.schedulable else ", cordoned")


class Workload(NamedTuple):
    """A workload; `missing` says what it lacks, "" when it is available."""

    name: str
    uid: str
    missing: str


class Health:
    """A connection to the cluster of a kubeconfig. MaintenanceError (see the collection) when there is no answer."""

    def __init__(self, kubeconfig: Path) -> None:
        self._connection = connect({"kubeconfig": str(kubeconfig)})
        self.where = self._connection.describe()

    def nodes(self) -> list[Node]:
        """Return all nodes, sorted by name."""
        return sorted(_node(obj) for obj in self._list("/api/v1/nodes"))

    def workloads(self) -> dict[str, Workload]:
        """Return all Deployments, StatefulSets, DaemonSets and Jobs, by kind, namespace and name."""
        found = {}
        for plural, judge in _JUDGES.items():
            group = "/apis/batch/v1" if plural == "jobs" else "/apis/apps/v1"
            for obj in self._list(f"{group}/{plural}"):
                meta = obj["metadata"]
                name = f"{plural[:-1]} {meta['namespace']}/{meta['name']}"
                found[name] = Workload(name, meta["uid"], judge(obj["spec"], obj.get("status") or {}))
        return found

    def wait_for_workloads(self, wanted: dict[str, Workload], seconds: float) -> list[str]:
        """Wait until all that is wanted is there and available, the same objects as before; return what is missing."""
        end = time.monotonic() + seconds
        while True:
            now = self.workloads()
            missing = [_lack(before, now.get(name)) for name, before in wanted.items()]
            missing = [text for text in missing if text]
            if not missing or time.monotonic() >= end:
                return missing
            time.sleep(0.5)

    def _list(self, path: str) -> list[Object]:
        clock = Clock()
        return Rest(self._connection, clock, Deadline(clock, _ANSWER_SECONDS)).list(path, {}, _PAGE).items


def _node(obj: Object) -> Node:
    meta, status = obj["metadata"], obj.get("status") or {}
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or ())
    worker = not any(label in (meta.get("labels") or {}) for label in _CONTROL_PLANE)
    info = status.get("nodeInfo") or {}
    schedulable = not obj.get("spec", {}).get("unschedulable")
    return Node(meta["name"], ready, schedulable, worker, info.get("kubeletVersion", ""), info.get("bootID", ""))


def _lack(before: Workload, now: Workload | None) -> str:
    if now is None or now.uid != before.uid:
        return f"{before.name} is gone"
    return f"{now.name}: {now.missing}" if now.missing else ""


def _count(status: Object, field: str, wanted: int) -> str:
    have = int(status.get(field) or 0)
    return "" if have >= wanted else f"{have} of {wanted} available"


def _deployment(spec: Object, status: Object) -> str:
    return _count(status, "availableReplicas", int(spec.get("replicas", 1)))


def _daemon_set(_spec: Object, status: Object) -> str:
    return _count(status, "numberAvailable", int(status.get("desiredNumberScheduled") or 0))


def _job(_spec: Object, status: Object) -> str:
    ended = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    if "Failed" in ended:
        return "failed"
    return "" if "Complete" in ended or "Suspended" in ended or status.get("active") else "no pod is active"


_JUDGES: dict[str, Callable[[Object, Object], str]] = {
    "deployments": _deployment,
    "statefulsets": _deployment,
    "daemonsets": _daemon_set,
    "jobs": _job,
}
