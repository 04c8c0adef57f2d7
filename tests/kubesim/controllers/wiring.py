# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start all controllers on a store, and notify each of the kinds that it follows."""

from __future__ import annotations

from typing import Protocol, TypeVar

from ..agenda import Agenda
from ..objects import Object
from ..store import Store
from .attachments import Attachments
from .claims import Claims
from .daemonset import DaemonSets
from .deployment import Deployments
from .disruption import Disruptions
from .garbage import GarbageCollector
from .index import Index
from .job import Jobs
from .kubelet import Kubelets
from .machines import Machines
from .namespaces import Namespaces
from .nodes import NodeLifecycle
from .quotas import Quotas
from .replicaset import ReplicaSets
from .scheduler import Scheduler
from .statefulset import StatefulSets
from .world import Listener, World


class _Stoppable(Protocol):
    def stop(self) -> None: ...


_PartT = TypeVar("_PartT", bound=_Stoppable)


class Controllers:
    """All controllers of a cluster, started on what the store holds already, and what can be done to its machines."""

    def __init__(self, store: Store, agenda: Agenda) -> None:
        self._world = World(store, agenda, Index())
        self._running = True
        self._parts: list[_Stoppable] = []
        self._listeners: dict[str, list[Listener]] = {}
        self._everything: list[Listener] = []
        self._kubelets = self._add(Kubelets(self._world))
        self._machines = self._add(Machines(self._world, self._kubelets))
        self._disruptions = self._add(Disruptions(self._world))
        self._subscribe_all()
        for kind in store.kinds():
            for obj in store.list(kind):
                self._world.index.observe("ADDED", obj, None)
        for kind in store.kinds():
            for obj in store.list(kind):
                self._notify("ADDED", obj, None)
        store.subscribe(self._observe)

    @property
    def violations(self) -> list[dict[str, object]]:
        """The moments at which a budget was violated: {at, namespace, budget, healthy, desired}."""
        return self._disruptions.violations

    def reboot(self, node: str, down: float, kubelet_version: str | None = None) -> None:
        """Let a node be NotReady now and back, with a new bootID, after `down` seconds; ApiStatus 404 when unknown."""
        self._machines.reboot(node, down, kubelet_version)

    def fail(self, node: str) -> None:
        """Let a node's kubelet fall silent: Ready becomes Unknown, its pods neither start nor end."""
        self._machines.fail(node)

    def recover(self, node: str) -> None:
        """Let a failed node's kubelet speak again."""
        self._machines.recover(node)

    def stop(self) -> None:
        """End everything: nothing is planned any more and changes no longer notify anybody."""
        self._running = False
        for part in self._parts:
            part.stop()

    def _subscribe_all(self) -> None:
        world = self._world
        lifecycle, scheduler = self._add(NodeLifecycle(world)), self._add(Scheduler(world))
        replica_sets, deployments = self._add(ReplicaSets(world)), self._add(Deployments(world))
        sets, daemons, jobs = self._add(StatefulSets(world)), self._add(DaemonSets(world)), self._add(Jobs(world))
        garbage, namespaces = self._add(GarbageCollector(world)), self._add(Namespaces(world))
        self._subscribe_volumes(scheduler)
        quotas = self._add(Quotas(world))
        self._subscribe("ResourceQuota", quotas.observe)
        self._subscribe("Pod", quotas.observe_pod)
        self._everything += [garbage.observe, namespaces.observe_content]
        self._subscribe("Namespace", namespaces.observe)
        self._subscribe("StatefulSet", sets.observe)
        self._subscribe("DaemonSet", daemons.observe)
        self._subscribe("Job", jobs.observe)
        self._subscribe("Pod", sets.observe_pod, daemons.observe_pod, jobs.observe_pod)
        self._subscribe("Node", daemons.observe_node)
        self._subscribe("Node", self._kubelets.observe_node, lifecycle.observe_node, scheduler.observe_node)
        self._subscribe("Pod", self._kubelets.observe_pod, scheduler.observe_pod, self._disruptions.observe_pod)
        self._subscribe("Pod", replica_sets.observe_pod, deployments.observe_pod)
        self._subscribe("ReplicaSet", replica_sets.observe, deployments.observe_replica_set)
        self._subscribe("Deployment", deployments.observe)
        self._subscribe("PodDisruptionBudget", self._disruptions.observe)
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"):
            self._subscribe(kind, self._disruptions.observe_workload)

    def _subscribe_volumes(self, scheduler: Scheduler) -> None:
        attachments, claims = self._add(Attachments(self._world)), self._add(Claims(self._world))
        self._subscribe("Pod", attachments.observe_pod)
        self._subscribe("Node", attachments.observe_node)
        self._subscribe("VolumeAttachment", attachments.observe_attachment)
        self._subscribe("PersistentVolume", attachments.observe_volume, claims.observe_source)
        self._subscribe("PersistentVolumeClaim", attachments.observe_claim, claims.observe, scheduler.observe_claim)
        self._subscribe("StorageClass", claims.observe_source)

    def _add(self, part: _PartT) -> _PartT:
        self._parts.append(part)
        return part

    def _subscribe(self, kind: str, *listeners: Listener) -> None:
        self._listeners.setdefault(kind, []).extend(listeners)

    def _observe(self, event: str, obj: Object, old: Object | None) -> None:
        if not self._running:
            return
        self._world.index.observe(event, obj, old)
        self._notify(event, obj, old)

    def _notify(self, event: str, obj: Object, old: Object | None) -> None:
        for listener in self._listeners.get(obj["kind"], ()):
            listener(event, obj, old)
        for listener in self._everything:
            listener(event, obj, old)
