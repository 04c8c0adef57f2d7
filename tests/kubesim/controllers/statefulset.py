# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""StatefulSets: pods with numbers, made, replaced and ended in order."""

from __future__ import annotations

from ..errors import ApiStatus
from ..objects import Object, controller_of, copied, is_pod_ready, is_terminating
from . import pods
from .amounts import resolve
from .deployment_scale import replicas_of
from .history import POD_LABEL, History
from .pauses import Pauses
from .replicaset import claim
from .statefulset_status import next_status
from .workqueue import WorkQueue
from .world import World

CONTROLLER = "statefulset-controller"
Key = tuple[str, str]


class StatefulSets:
    """Take one step towards what a StatefulSet asks for at each change, as the StatefulSet controller does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._pauses: Pauses[Key] = Pauses()

    def observe(self, event: str, stateful_set: Object, old: Object | None) -> None:
        """Handle a change of a StatefulSet."""
        self._queue.add((stateful_set["metadata"]["namespace"], stateful_set["metadata"]["name"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        owner = controller_of(pod) or (controller_of(old) if old else None)
        if owner and owner.get("kind") == "StatefulSet":
            self._queue.add((pod["metadata"]["namespace"], owner["name"]))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        stateful_set = self._world.store.get("StatefulSet", *key)
        if stateful_set is None or is_terminating(stateful_set):
            return
        claim(self._world, stateful_set, "Pod")
        history = History(self._world, stateful_set)
        refusal = None
        try:
            update = history.sync()
        except ApiStatus:
            return  # its namespace is going away
        current = str((stateful_set.get("status") or {}).get("currentRevision") or update)
        try:
            _Step(self._world, stateful_set, history, current, update).take()
        except ApiStatus as problem:
            refusal = problem
        pause = self._pauses.after(key, refusal)
        if pause is not None:
            self._queue.add(key, pause)
        members = self._world.index.owned(stateful_set["metadata"]["uid"], "Pod")
        status = next_status(stateful_set, members, current, update, self._world.now)
        self._world.report(stateful_set, status)
        history.clean_up({current, update} | {revision_of(pod) for pod in members})
        minimum = stateful_set["spec"].get("minReadySeconds", 0)
        waits = [wait for pod in members if (wait := pods.available_in(pod, minimum, self._world.now))]
        if waits:
            self._queue.add(key, min(waits))


def revision_of(pod: Object) -> str:
    """Return the label that names the pod's revision."""
    return str((pod["metadata"].get("labels") or {}).get(POD_LABEL, ""))


def _ordinal(pod: Object) -> int:
    number = pod["metadata"]["name"].rpartition("-")[2]
    return int(number) if number.isdigit() else -1


def _is_healthy(pod: Object) -> bool:
    return pods.phase(pod) == "Running" and is_pod_ready(pod) and not is_terminating(pod)


class _Step:
    """What the controller does in one pass over a StatefulSet."""

    def __init__(self, world: World, stateful_set: Object, history: History, current: str, update: str) -> None:
        self._world = world
        self._set = stateful_set
        self._spec = stateful_set["spec"]
        self._history = history
        self._current = current
        self._update = update
        self._in_order = self._spec.get("podManagementPolicy", "OrderedReady") != "Parallel"
        self._first = int((self._spec.get("ordinals") or {}).get("start", 0))
        members = world.index.owned(stateful_set["metadata"]["uid"], "Pod")
        self._members = {_ordinal(pod): pod for pod in members}
        self._numbers = range(self._first, self._first + replicas_of(stateful_set))

    def take(self) -> None:
        """Make what is missing, end what is too much, then replace what is of an old revision."""
        if self._make() and self._end_surplus() and self._strategy() == "RollingUpdate":
            self._replace()

    def _end(self, pod: Object) -> None:
        self._world.delete(pod)
        words = f"delete Pod {pod['metadata']['name']} in StatefulSet {self._set['metadata']['name']} successful"
        self._world.record(self._set, "SuccessfulDelete", words, CONTROLLER)

    def _strategy(self) -> str:
        return str((self._spec.get("updateStrategy") or {}).get("type", "RollingUpdate"))

    def _make(self) -> bool:
        """Make missing pods; True when the pass may go on."""
        minimum = self._spec.get("minReadySeconds", 0)
        for number in self._numbers:
            pod = self._members.get(number)
            if pod is None:
                self._create(number)
                if self._in_order:
                    return False
                continue
            if pods.is_finished(pod):
                if not is_terminating(pod):
                    self._end(pod)
                return False
            if self._in_order and not (_is_healthy(pod) and pods.is_available(pod, minimum, self._world.now)):
                return False
        return True

    def _end_surplus(self) -> bool:
        """End pods beyond spec.replicas, highest number first; True when the pass may go on."""
        unhealthy = [number for number, pod in sorted(self._members.items()) if not _is_healthy(pod)]
        for number in sorted(set(self._members) - set(self._numbers), reverse=True):
            pod = self._members[number]
            if is_terminating(pod):
                if self._in_order:
                    return False
                continue
            if self._in_order and unhealthy and number != unhealthy[0]:
                return False
            self._end(pod)
            if self._in_order:
                return False
        return True

    def _replace(self) -> None:
        """Delete pods of old revisions, highest number first: one after the other, or maxUnavailable if set."""
        rolling = (self._spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
        numbers = [number for number in self._numbers if number >= (rolling.get("partition") or 0)]
        targets = [self._members[number] for number in reversed(numbers) if number in self._members]
        if rolling.get("maxUnavailable") is None:
            for pod in targets:
                if self._is_outdated(pod):
                    self._end(pod)
                    return
                if not _is_healthy(pod):
                    return
            return
        limit = max(resolve(rolling["maxUnavailable"], len(self._numbers), round_up=False), 1)
        room = limit - sum(not _is_healthy(pod) for pod in targets)
        for pod in [pod for pod in targets if self._is_outdated(pod)][: max(room, 0)]:
            self._end(pod)

    def _is_outdated(self, pod: Object) -> bool:
        return revision_of(pod) != self._update and not is_terminating(pod)

    def _revision_for(self, number: int) -> str:
        """Return the revision that a new pod gets: one below the partition, or not reached yet, is made as it was."""
        update = self._spec.get("updateStrategy") or {}
        if self._strategy() != "RollingUpdate":
            return self._update
        if update.get("rollingUpdate"):
            kept = update["rollingUpdate"].get("partition") or 0
            return self._current if number < kept else self._update
        kept = (self._set.get("status") or {}).get("currentReplicas", 0)
        return self._current if number < self._first + kept else self._update

    def _create(self, number: int) -> None:
        meta, label = self._set["metadata"], self._revision_for(number)
        name = f"{meta['name']}-{number}"
        pod = pods.pod_of(self._history.template(label), self._set, name)
        pod["metadata"].setdefault("labels", {}).update(
            {
                "apps.kubernetes.io/pod-index": str(number),
                POD_LABEL: label,
                "statefulset.kubernetes.io/pod-name": name,
            }
        )
        pod["spec"].update(hostname=name, subdomain=self._spec.get("serviceName", ""))
        for claim_template in self._spec.get("volumeClaimTemplates") or ():
            self._claim_volume(claim_template, pod)
        made = pods.create(self._world, pod)
        if not isinstance(made, ApiStatus):
            words = f"create Pod {name} in StatefulSet {meta['name']} successful"
            self._world.record(self._set, "SuccessfulCreate", words, CONTROLLER)
        elif made.reason != "AlreadyExists":
            words = f"create Pod {name} in StatefulSet {meta['name']} failed error: {made.message}"
            self._world.warn(self._set, "FailedCreate", words, CONTROLLER)
            raise made

    def _claim_volume(self, template: Object, pod: Object) -> None:
        volume, namespace = template["metadata"]["name"], self._set["metadata"]["namespace"]
        name = f"{volume}-{pod['metadata']['name']}"
        volumes = [other for other in pod["spec"].get("volumes") or () if other["name"] != volume]
        pod["spec"]["volumes"] = [*volumes, {"name": volume, "persistentVolumeClaim": {"claimName": name}}]
        if self._world.store.get("PersistentVolumeClaim", namespace, name) is None:
            claimed: Object = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": copied(template["spec"])}
            labels = dict(self._spec["selector"].get("matchLabels") or {})
            claimed["metadata"] = {"name": name, "namespace": namespace, "labels": labels}
            claimed["spec"].setdefault("accessModes", ["ReadWriteOnce"])
            claimed["status"] = {"phase": "Pending"}
            self._world.store.create(claimed)
