# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler: pods without a node get one, or a sentence that says why not."""

from __future__ import annotations

from collections import Counter

from ..label_selectors import matches_selector
from ..objects import Object, controller_of, is_terminating, set_condition
from .matching import suits_node, untolerated
from .nodes import UNSCHEDULABLE
from .pods import condition, is_finished
from .workqueue import REACTION_SECONDS, WorkQueue
from .world import World

PodKey = tuple[str, str]
SCHEDULER = "default-scheduler"
_EFFECTS = ("NoSchedule", "NoExecute")


class Scheduler:
    """Bind each pending pod to the fitting node with the fewest pods of its controller, then the fewest pods."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[PodKey] = WorkQueue(world.agenda, self._schedule)
        self._refused: dict[PodKey, None] = {}
        self._exclusive: dict[PodKey, None] = {}  # bound pods that keep others away by anti-affinity

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Hear of a change of a pod; one that leaves a node may make room."""
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        bound = bool(pod.get("spec", {}).get("nodeName"))
        if bound and _anti_affinity(pod["spec"]):
            self._exclusive[key] = None
        if event == "DELETED":
            self._forget(key)
            if bound:
                self._retry()
        elif bound:
            self._refused.pop(key, None)
            if is_finished(pod) and old is not None and not is_finished(old):
                self._retry()
        elif not is_terminating(pod) and key not in self._refused:
            self._queue.add(key)

    def observe_node(self, event: str, node: Object, old: Object | None) -> None:
        """Hear of a change of a node that may let refused pods in."""
        if event == "DELETED" or old is None or _offer(node) != _offer(old):
            self._retry()

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _forget(self, key: PodKey) -> None:
        self._queue.discard(key)
        self._refused.pop(key, None)
        self._exclusive.pop(key, None)

    def _retry(self) -> None:
        for key in self._refused:
            self._queue.add(key, REACTION_SECONDS * 2)  # after the taints that follow from the same change
        self._refused.clear()

    def _schedule(self, key: PodKey) -> None:
        pod = self._world.store.get("Pod", *key)
        if pod is None or pod["spec"].get("nodeName") or is_terminating(pod) or pod["spec"].get("schedulingGates"):
            return
        nodes = self._world.store.list("Node")
        why: Counter[str] = Counter()
        fitting = []
        for node in nodes:
            obstacle = self._obstacle(pod, node)
            if obstacle:
                why[obstacle] += 1
            else:
                fitting.append(node)
        if fitting:
            self._bind(pod, min(fitting, key=lambda node: self._crowd(pod, node))["metadata"]["name"])
        else:
            self._refused[key] = None
            self._refuse(pod, _sentence(len(nodes), why))

    def _obstacle(self, pod: Object, node: Object) -> str | None:
        """Return why the pod cannot run on the node, in the scheduler's words."""
        spec = pod["spec"]
        taints = untolerated(spec, node, _EFFECTS)
        unschedulable = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
        if (node.get("spec") or {}).get("unschedulable"):
            taints = [taint for taint in taints if taint["key"] != UNSCHEDULABLE]
            if untolerated(spec, {"spec": {"taints": [unschedulable]}}, _EFFECTS):
                return "node(s) were unschedulable"
        if taints:
            return f"node(s) had untolerated taint {{{taints[0]['key']}: {taints[0].get('value', '')}}}"
        if not suits_node(spec, node):
            return "node(s) didn't match Pod's node affinity/selector"
        if self._is_full(node):
            return "Too many pods"
        return self._excluded(pod, node)

    def _is_full(self, node: Object) -> bool:
        name = node["metadata"]["name"]
        room = _number(((node.get("status") or {}).get("allocatable") or {}).get("pods"))
        if room is None or self._world.index.count_on(name) < room:
            return False
        return sum(not is_finished(pod) for pod in self._world.index.pods_on(name)) >= room

    def _excluded(self, pod: Object, node: Object) -> str | None:
        terms = _anti_affinity(pod["spec"])
        for term in terms:
            for other in self._pods_of_domain(node, term["topologyKey"]):
                if _repels(term, pod, other):
                    return "node(s) didn't match pod anti-affinity rules"
        for key in self._exclusive:
            other = self._world.store.get("Pod", *key) or {}
            home = self._world.store.get("Node", None, other.get("spec", {}).get("nodeName", ""))
            if home is None or is_finished(other):
                continue
            for term in _anti_affinity(other["spec"]):
                if _domain(home, term["topologyKey"]) == _domain(node, term["topologyKey"]) and _repels(
                    term, other, pod
                ):
                    return "node(s) didn't satisfy existing pods anti-affinity rules"
        return None

    def _pods_of_domain(self, node: Object, topology_key: str) -> list[Object]:
        domain = _domain(node, topology_key)
        if domain is None:
            return []
        if topology_key == "kubernetes.io/hostname":
            homes = [node]
        else:
            homes = [other for other in self._world.store.list("Node") if _domain(other, topology_key) == domain]
        return [pod for home in homes for pod in self._world.index.pods_on(home["metadata"]["name"])]

    def _crowd(self, pod: Object, node: Object) -> tuple[int, int, str]:
        name, owner = node["metadata"]["name"], controller_of(pod)
        siblings = self._world.index.siblings_on(name, owner["uid"]) if owner else 0
        return siblings, self._world.index.count_on(name), name

    def _bind(self, pod: Object, node: str) -> None:
        stamp = self._world.stamp()

        def bound(obj: Object) -> None:
            obj["spec"]["nodeName"] = node
            entry = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": stamp}
            set_condition(obj.setdefault("status", {}), entry)

        self._world.change(pod, bound)
        full_name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self._world.tell(pod, "Scheduled", f"Successfully assigned {full_name} to {node}", SCHEDULER)

    def _refuse(self, pod: Object, message: str) -> None:
        entry: Object = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": self._world.stamp(),
            "reason": "Unschedulable",
            "message": message,
        }
        self._world.warn(pod, "FailedScheduling", message, SCHEDULER)
        if (condition(pod, "PodScheduled") or {}).get("message") != message:
            self._world.change(pod, lambda obj: set_condition(obj.setdefault("status", {}), entry))


def _offer(node: Object) -> tuple[Object, Object, Object]:
    """Return what of a node the scheduler looks at."""
    return (
        node.get("spec") or {},
        node["metadata"].get("labels") or {},
        (node.get("status") or {}).get("allocatable") or {},
    )


def _anti_affinity(spec: Object) -> list[Object]:
    affinity = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    return affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _repels(term: Object, owner: Object, neighbour: Object) -> bool:
    """Tell whether an anti-affinity term of the pod `owner` keeps it away from the pod `neighbour`."""
    if is_finished(neighbour):
        return False
    namespaces = term.get("namespaces") or [owner["metadata"]["namespace"]]
    return neighbour["metadata"]["namespace"] in namespaces and matches_selector(
        term.get("labelSelector"), neighbour["metadata"].get("labels")
    )


def _domain(node: Object, topology_key: str) -> str | None:
    return (node["metadata"].get("labels") or {}).get(topology_key)


def _number(quantity: str | int | None) -> int | None:
    if quantity is None:
        return None
    text = str(quantity)
    return int(text[:-1]) * 1000 if text.endswith("k") else int(text)


def _sentence(nodes: int, why: Counter[str]) -> str:
    if not nodes:
        return "no nodes available to schedule pods"
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in why.items()))
    head = f"0/{nodes} nodes are available: {reasons}."
    return f"{head} preemption: 0/{nodes} nodes are available: {nodes} Preemption is not helpful for scheduling."
