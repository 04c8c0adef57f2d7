# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node lifecycle: taints that follow a node's state, pods of nodes that are not ready, pods of nodes that are gone."""

from __future__ import annotations

from functools import partial

from ..objects import Object, is_pod_ready, set_condition
from .pods import is_finished
from .workqueue import WorkQueue
from .world import World

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
# Pod garbage collection waits this long before it takes pods of a vanished node away.
QUARANTINE_SECONDS = 40.0


def readiness(node: Object) -> str:
    """Return the status of the condition Ready; "True" where the node says nothing."""
    for found in (node.get("status") or {}).get("conditions") or ():
        if found.get("type") == "Ready":
            return str(found.get("status"))
    return "True"


def is_alive(node: Object) -> bool:
    """Return whether its kubelet speaks: only Unknown means that it stopped reporting."""
    return readiness(node) != "Unknown"


def _due_taints(node: Object) -> list[tuple[str, str]]:
    due = [(UNSCHEDULABLE, "NoSchedule")] if (node.get("spec") or {}).get("unschedulable") else []
    key = {"False": NOT_READY, "Unknown": UNREACHABLE}.get(readiness(node))
    if key:
        due += [(key, "NoSchedule"), (key, "NoExecute")]
    return due


class NodeLifecycle:
    """Keep taints as the node lifecycle controller does. Nothing is evicted by taint."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[str] = WorkQueue(world.agenda, self._reconcile)

    def observe_node(self, event: str, node: Object, old: Object | None) -> None:
        """Handle a change of a node."""
        name = node["metadata"]["name"]
        if event == "DELETED":
            self._queue.discard(name)
            self._world.agenda.after(QUARANTINE_SECONDS, partial(self._collect, name))
            return
        self._queue.add(name)
        if old is not None and readiness(old) == "True" and readiness(node) != "True":
            self._world.agenda.after(0, partial(self._mark_pods, name))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, name: str) -> None:
        node = self._world.store.get("Node", None, name)
        if node is None:
            return
        due = _due_taints(node)
        taints = list((node.get("spec") or {}).get("taints") or ())
        kept = [
            taint
            for taint in taints
            if taint["key"] not in (UNSCHEDULABLE, NOT_READY, UNREACHABLE) or (taint["key"], taint["effect"]) in due
        ]
        present = {(taint["key"], taint["effect"]) for taint in kept}
        for key, effect in due:
            if (key, effect) not in present:
                kept.append({"key": key, "effect": effect, "timeAdded": self._world.stamp()})
        if kept != taints:
            self._world.change(node, partial(_set_taints, taints=kept))

    def _mark_pods(self, name: str) -> None:
        for pod in self._world.index.pods_on(name):
            if is_pod_ready(pod) and not is_finished(pod):
                self._world.change(pod, self._unready)

    def _unready(self, pod: Object) -> None:
        entry = {"type": "Ready", "status": "False", "lastProbeTime": None, "lastTransitionTime": self._world.stamp()}
        set_condition(pod["status"], entry)

    def _collect(self, name: str) -> None:
        if self._world.store.get("Node", None, name) is not None:
            return
        for pod in self._world.index.pods_on(name):
            meta = pod["metadata"]
            self._world.store.remove("Pod", meta["namespace"], meta["name"])


def _set_taints(node: Object, taints: list[Object]) -> None:
    spec = node.setdefault("spec", {})
    spec.pop("taints", None)
    if taints:
        spec["taints"] = taints
