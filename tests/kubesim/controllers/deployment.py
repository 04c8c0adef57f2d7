# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments: revisions as ReplicaSets, and what each of them is scaled to."""

from __future__ import annotations

from ..objects import Object, controller_of, is_terminating
from . import deployment_scale as scale
from .deployment_status import is_complete, next_status, seconds_to_deadline
from .pods import is_finished
from .replicaset import claim
from .revisions import sync_revision
from .workqueue import WorkQueue
from .world import World

Key = tuple[str, str]


class Deployments:
    """Roll Deployments out as the deployment controller does: RollingUpdate, Recreate, paused ones, scaling."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)

    def observe(self, event: str, deployment: Object, old: Object | None) -> None:
        """Handle a change of a Deployment."""
        self._queue.add((deployment["metadata"]["namespace"], deployment["metadata"]["name"]))

    def observe_replica_set(self, event: str, replica_set: Object, old: Object | None) -> None:
        """Handle a change of a ReplicaSet."""
        for version in (replica_set, old):
            owner = controller_of(version) if version else None
            if owner and owner.get("kind") == "Deployment":
                self._queue.add((replica_set["metadata"]["namespace"], owner["name"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a pod's end: a Recreate waits for it."""
        owner = controller_of(pod)
        if event != "DELETED" or not owner or owner.get("kind") != "ReplicaSet":
            return
        namespace = pod["metadata"]["namespace"]
        replica_set = self._world.store.get("ReplicaSet", namespace, owner["name"])
        above = controller_of(replica_set) if replica_set else None
        if above and above.get("kind") == "Deployment":
            self._queue.add((namespace, above["name"]))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        deployment = self._world.store.get("Deployment", *key)
        if deployment is None:
            return
        claim(self._world, deployment, "ReplicaSet")
        if is_terminating(deployment):
            return
        sets = scale.ReplicaSetsOf(self._world, deployment)
        if deployment["spec"].get("paused") or sets.is_scaling():
            sync_revision(self._world, sets, create=False)
            scale.rescale(sets)
        elif deployment["spec"].get("strategy", {}).get("type") == "Recreate":
            self._recreate(sets)
        else:
            self._roll(sets)
        if is_complete(deployment, next_status(self._world, sets)) and not deployment["spec"].get("paused"):
            self._clean_up(sets)
        self._report(key, sets)

    def _roll(self, sets: scale.ReplicaSetsOf) -> None:
        sync_revision(self._world, sets, create=True)
        if not scale.grow_new(sets):
            scale.shrink_old(sets)

    def _recreate(self, sets: scale.ReplicaSetsOf) -> None:
        sync_revision(self._world, sets, create=False)
        if scale.stop_old(sets) or self._old_pods_run(sets):
            return
        sync_revision(self._world, sets, create=True)
        scale.grow_new(sets)

    def _old_pods_run(self, sets: scale.ReplicaSetsOf) -> bool:
        pods = [pod for old in sets.old() for pod in self._world.index.owned(old["metadata"]["uid"], "Pod")]
        return any(not is_finished(pod) for pod in pods)

    def _clean_up(self, sets: scale.ReplicaSetsOf) -> None:
        limit = sets.deployment["spec"].get("revisionHistoryLimit", 10)
        idle = [
            old
            for old in sets.old()
            if not old["spec"].get("replicas", 1)
            and not (old.get("status") or {}).get("replicas")
            and not is_terminating(old)
        ]
        surplus = len(sets.old()) - limit
        for old in sorted(idle, key=scale.revision_of)[: max(surplus, 0)]:
            self._world.delete(old)

    def _report(self, key: Key, sets: scale.ReplicaSetsOf) -> None:
        status = next_status(self._world, sets)
        self._world.report(sets.deployment, status)
        left = seconds_to_deadline(sets.deployment, status, self._world.now)
        if left is not None:
            self._queue.add(key, left)
