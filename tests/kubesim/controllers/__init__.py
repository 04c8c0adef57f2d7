# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated controllers and kubelets: event driven, on the simulator's clock, the same in every run."""

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
    """All controllers of a cluster, and what can be done to its machines."""

    def __init__(self, store: Store, agenda: Agenda) -> None:
        self._world = World(store, agenda, Index())
        self._running = True
        self._parts: list[_Stoppable] = []
        self._ears: dict[str, list[Listener]] = {}
        self._everything: list[Listener] = []
        self._kubelets = self._added(Kubelets(self._world))
        self._machines = self._added(Machines(self._world, self._kubelets))
        self._disruptions = self._added(Disruptions(self._world))
        self._listen()
        for kind in store.kinds():
            for obj in store.list(kind):
                self._world.index.observe("ADDED", obj, None)
        for kind in store.kinds():
            for obj in store.list(kind):
                self._tell("ADDED", obj, None)
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
        """End everything: nothing is planned any more and changes are no longer heard."""
        self._running = False
        for part in self._parts:
            part.stop()

    def _listen(self) -> None:
        world = self._world
        lifecycle, scheduler = self._added(NodeLifecycle(world)), self._added(Scheduler(world))
        replica_sets, deployments = self._added(ReplicaSets(world)), self._added(Deployments(world))
        sets, daemons, jobs = self._added(StatefulSets(world)), self._added(DaemonSets(world)), self._added(Jobs(world))
        garbage, namespaces = self._added(GarbageCollector(world)), self._added(Namespaces(world))
        self._listen_to_volumes(scheduler)
        quotas = self._added(Quotas(world))
        self._hear("ResourceQuota", quotas.observe)
        self._hear("Pod", quotas.observe_pod)
        self._everything += [garbage.observe, namespaces.observe_content]
        self._hear("Namespace", namespaces.observe)
        self._hear("StatefulSet", sets.observe)
        self._hear("DaemonSet", daemons.observe)
        self._hear("Job", jobs.observe)
        self._hear("Pod", sets.observe_pod, daemons.observe_pod, jobs.observe_pod)
        self._hear("Node", daemons.observe_node)
        self._hear("Node", self._kubelets.observe_node, lifecycle.observe_node, scheduler.observe_node)
        self._hear("Pod", self._kubelets.observe_pod, scheduler.observe_pod, self._disruptions.observe_pod)
        self._hear("Pod", replica_sets.observe_pod, deployments.observe_pod)
        self._hear("ReplicaSet", replica_sets.observe, deployments.observe_replica_set)
        self._hear("Deployment", deployments.observe)
        self._hear("PodDisruptionBudget", self._disruptions.observe)
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"):
            self._hear(kind, self._disruptions.observe_workload)

    def _listen_to_volumes(self, scheduler: Scheduler) -> None:
        attachments, claims = self._added(Attachments(self._world)), self._added(Claims(self._world))
        self._hear("Pod", attachments.observe_pod)
        self._hear("Node", attachments.observe_node)
        self._hear("VolumeAttachment", attachments.observe_attachment)
        self._hear("PersistentVolume", attachments.observe_volume, claims.observe_source)
        self._hear("PersistentVolumeClaim", attachments.observe_claim, claims.observe, scheduler.observe_claim)
        self._hear("StorageClass", claims.observe_source)

    def _added(self, part: _PartT) -> _PartT:
        self._parts.append(part)
        return part

    def _hear(self, kind: str, *listeners: Listener) -> None:
        self._ears.setdefault(kind, []).extend(listeners)

    def _observe(self, event: str, obj: Object, old: Object | None) -> None:
        if not self._running:
            return
        self._world.index.observe(event, obj, old)
        self._tell(event, obj, old)

    def _tell(self, event: str, obj: Object, old: Object | None) -> None:
        for listener in self._ears.get(obj["kind"], ()):
            listener(event, obj, old)
        for listener in self._everything:
            listener(event, obj, old)


def start_controllers(store: Store, agenda: Agenda) -> Controllers:
    """Start all controllers on a store; what it holds already is taken over as it is."""
    return Controllers(store, agenda)
