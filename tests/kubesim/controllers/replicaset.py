# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ReplicaSets: as many pods as asked for."""

from __future__ import annotations

from ..agenda import seconds_of
from ..errors import ApiStatus
from ..label_selectors import matches_selector
from ..objects import Object, controller_of, is_pod_ready, is_terminating
from . import pods
from .pauses import Pauses
from .workqueue import WorkQueue
from .world import World

CONTROLLER = "replicaset-controller"
Key = tuple[str, str]


class ReplicaSets:
    """Create and delete pods until their number is spec.replicas, and report."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._pauses: Pauses[Key] = Pauses()

    def observe(self, event: str, replica_set: Object, old: Object | None) -> None:
        """Handle a change of a ReplicaSet."""
        self._queue.add((replica_set["metadata"]["namespace"], replica_set["metadata"]["name"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        for version in (pod, old):
            owner = controller_of(version) if version else None
            if owner and owner.get("kind") == "ReplicaSet":
                self._queue.add((pod["metadata"]["namespace"], owner["name"]))
        if event != "DELETED" and controller_of(pod) is None and pods.is_active(pod):
            for candidate in self._world.index.of_kind_in(pod["metadata"]["namespace"], "ReplicaSet"):
                if matches_selector(candidate["spec"].get("selector"), pod["metadata"].get("labels")):
                    self._queue.add((pod["metadata"]["namespace"], candidate["metadata"]["name"]))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        replica_set = self._world.store.get("ReplicaSet", *key)
        if replica_set is None:
            self._pauses.reset(key)
            return
        claimed = claim(self._world, replica_set, "Pod")
        refusal = None
        if not is_terminating(replica_set):
            active = [pod for pod in claimed if pods.is_active(pod)]
            refusal = self._adjust(replica_set, active)
            claimed = self._world.index.owned(replica_set["metadata"]["uid"], "Pod")
        self._report(replica_set, claimed, refusal)
        pause = self._pauses.after(key, refusal)
        if pause is not None:
            self._queue.add(key, pause)

    def _adjust(self, replica_set: Object, active: list[Object]) -> ApiStatus | None:
        wanted = replica_set["spec"].get("replicas", 1)
        for _missing in range(wanted - len(active)):
            made = pods.create(self._world, pods.pod_of(replica_set["spec"]["template"], replica_set))
            if isinstance(made, ApiStatus):
                self._world.warn(replica_set, "FailedCreate", f"Error creating: {made.message}", CONTROLLER)
                return made
            self._world.record(replica_set, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}", CONTROLLER)
        if len(active) > wanted:
            for pod in sorted(active, key=_worth)[: len(active) - wanted]:
                self._world.delete(pod)
                self._world.record(
                    replica_set, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}", CONTROLLER
                )
        return None

    def _report(self, replica_set: Object, claimed: list[Object], refusal: ApiStatus | None) -> None:
        spec, now = replica_set["spec"], self._world.now
        active = [pod for pod in claimed if pods.is_active(pod)]
        minimum = spec.get("minReadySeconds", 0)
        waits = [pods.available_in(pod, minimum, now) for pod in active]
        pending = [wait for wait in waits if wait]
        if pending:
            meta = replica_set["metadata"]
            self._queue.add((meta["namespace"], meta["name"]), min(pending))
        status: Object = {
            "replicas": len(active),
            "fullyLabeledReplicas": len(active),
            "readyReplicas": sum(is_pod_ready(pod) for pod in active),
            "availableReplicas": sum(wait == 0.0 for wait in waits),
        }
        status = {key: count for key, count in status.items() if count or key == "replicas"}
        status["terminatingReplicas"] = sum(is_terminating(pod) and not pods.is_finished(pod) for pod in claimed)
        status["observedGeneration"] = replica_set["metadata"].get("generation", 1)
        conditions = self._conditions(replica_set, refusal)
        if conditions:
            status["conditions"] = conditions
        self._world.report(replica_set, status)

    def _conditions(self, replica_set: Object, refusal: ApiStatus | None) -> list[Object]:
        conditions = list((replica_set.get("status") or {}).get("conditions") or ())
        if refusal is None:
            return [found for found in conditions if found["type"] != "ReplicaFailure"]
        if any(found["type"] == "ReplicaFailure" for found in conditions):
            return conditions
        failure = {
            "type": "ReplicaFailure",
            "status": "True",
            "lastTransitionTime": self._world.stamp(),
            "reason": "FailedCreate",
            "message": refusal.message,
        }
        return [*conditions, failure]


def claim(world: World, owner: Object, kind: str) -> list[Object]:
    """Take in the orphans that the selector matches, let go what it no longer does, and return what is left."""
    selector = owner["spec"].get("selector")
    uid = owner["metadata"]["uid"]
    if not is_terminating(owner):
        for orphan in world.index.orphans(owner["metadata"]["namespace"], kind):
            wanted = pods.is_active(orphan) if kind == "Pod" else not is_terminating(orphan)
            if wanted and matches_selector(selector, orphan["metadata"].get("labels")):
                world.change(orphan, lambda obj: _adopt(obj, owner))
        for held in world.index.owned(uid, kind):
            if not matches_selector(selector, held["metadata"].get("labels")):
                world.change(held, lambda obj: _release(obj, uid))
    return world.index.owned(uid, kind)


def _adopt(obj: Object, owner: Object) -> None:
    obj["metadata"].setdefault("ownerReferences", []).append(pods.reference_to(owner))


def _release(obj: Object, uid: str) -> None:
    owners = obj["metadata"].get("ownerReferences") or []
    obj["metadata"]["ownerReferences"] = [owner for owner in owners if owner.get("uid") != uid]


def _worth(pod: Object) -> tuple[bool, int, bool, int, float, int, float, str]:
    """Order pods by what a scale-down gives up first: the order of ActivePodsWithRanks in the real controller."""
    meta, status = pod["metadata"], pod.get("status") or {}
    cost = (meta.get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost", "0")
    ready = pods.condition(pod, "Ready") or {}
    ready_since = seconds_of(ready["lastTransitionTime"]) if ready.get("lastTransitionTime") else 0.0
    restarts = sum(entry.get("restartCount", 0) for entry in status.get("containerStatuses") or ())
    return (
        bool(pod["spec"].get("nodeName")),
        {"Pending": 0, "Unknown": 1, "Running": 2}.get(pods.phase(pod), 3),
        is_pod_ready(pod),
        int(cost),
        -ready_since,
        -restarts,
        -seconds_of(meta["creationTimestamp"]),
        meta["name"],
    )
