# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scheduler: pods without a node get one, or a sentence that says why not."""

from __future__ import annotations

from collections import Counter
from functools import partial

from ..objects import Object, controller_of, is_terminating, set_condition
from .claims import SELECTED_NODE
from .fitting import Fitting, sentence, sentence_about
from .pods import condition, is_finished
from .volume_uses import is_bound, uses_of
from .workqueue import REACTION_SECONDS, WorkQueue
from .world import World

PodKey = tuple[str, str]
SCHEDULER = "default-scheduler"


class Scheduler:
    """Bind each pending pod to the fitting node with the fewest pods of its controller, then the fewest pods."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[PodKey] = WorkQueue(world.agenda, self._schedule)
        self._refused: dict[PodKey, None] = {}
        self._fitting = Fitting(world)

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod; one that leaves a node may make room."""
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        bound = bool(pod.get("spec", {}).get("nodeName"))
        if bound:
            self._fitting.bound(key, pod)
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
        """Handle a change of a node that may let refused pods in."""
        if event == "DELETED" or old is None or _offer(node) != _offer(old):
            self._retry()

    def observe_claim(self, event: str, claim: Object, old: Object | None) -> None:
        """Handle a change of a claim: pods may wait for it."""
        if self._refused:
            self._retry()

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _forget(self, key: PodKey) -> None:
        self._queue.discard(key)
        self._refused.pop(key, None)
        self._fitting.forget(key)

    def _retry(self) -> None:
        for key in self._refused:
            self._queue.add(key, REACTION_SECONDS * 2)  # after the taints that follow from the same change
        self._refused.clear()

    def _schedule(self, key: PodKey) -> None:
        pod = self._world.store.get("Pod", *key)
        if pod is None or pod["spec"].get("nodeName") or is_terminating(pod) or pod["spec"].get("schedulingGates"):
            return
        nodes = self._world.store.list("Node")
        nowhere = self._fitting.claims_obstacle(pod) if pod["spec"].get("volumes") else None
        if nowhere:
            self._refused[key] = None
            self._refuse(pod, sentence_about(len(nodes), nowhere))
            return
        why: Counter[str] = Counter()
        fitting = []
        for node in nodes:
            obstacle = self._fitting.obstacle(pod, node)
            if obstacle:
                why[obstacle] += 1
            else:
                fitting.append(node)
        if fitting:
            self._bind(pod, min(fitting, key=lambda node: self._crowd(pod, node))["metadata"]["name"])
        else:
            self._refused[key] = None
            self._refuse(pod, sentence(len(nodes), why))

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
        for use in uses_of(self._world.store, pod):
            if use.claim is not None and not is_bound(use.claim):
                self._world.change(use.claim, partial(_select, node=node))
        full_name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self._world.record(pod, "Scheduled", f"Successfully assigned {full_name} to {node}", SCHEDULER)

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


def _select(claim: Object, node: str) -> None:
    claim["metadata"].setdefault("annotations", {})[SELECTED_NODE] = node


def _offer(node: Object) -> tuple[Object, Object, Object]:
    """Return what of a node the scheduler looks at."""
    return (
        node.get("spec") or {},
        node["metadata"].get("labels") or {},
        (node.get("status") or {}).get("allocatable") or {},
    )
