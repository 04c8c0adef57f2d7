# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DaemonSets: a pod on every node that it is meant for."""

from __future__ import annotations

from ..errors import ApiStatus
from ..objects import Object, controller_of, is_terminating
from . import pods
from .amounts import resolve
from .daemonset_roll import maximum_surge, replacement_step, surge_step, surplus_on
from .daemonset_status import TOLERATED, Placement, next_status
from .history import POD_LABEL, History
from .pauses import Pauses
from .replicaset import claim
from .workqueue import WorkQueue
from .world import World

CONTROLLER = "daemonset-controller"
Key = tuple[str, str]


class DaemonSets:
    """Keep one pod per eligible node and roll them by OnDelete or RollingUpdate with maxUnavailable."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._pauses: Pauses[Key] = Pauses()

    def observe(self, event: str, daemon_set: Object, old: Object | None) -> None:
        """Handle a change of a DaemonSet."""
        self._queue.add((daemon_set["metadata"]["namespace"], daemon_set["metadata"]["name"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        owner = controller_of(pod) or (controller_of(old) if old else None)
        if owner and owner.get("kind") == "DaemonSet":
            self._queue.add((pod["metadata"]["namespace"], owner["name"]))

    def observe_node(self, event: str, node: Object, old: Object | None) -> None:
        """Handle a change of a node that may change who runs there."""
        if event == "MODIFIED" and old is not None and _kind_of_node(node) == _kind_of_node(old):
            return
        for daemon_set in self._world.store.list("DaemonSet"):
            self.observe("MODIFIED", daemon_set, None)

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        daemon_set = self._world.store.get("DaemonSet", *key)
        if daemon_set is None or is_terminating(daemon_set):
            return
        claim(self._world, daemon_set, "Pod")
        history = History(self._world, daemon_set)
        try:
            label = history.sync()
        except ApiStatus:
            return  # its namespace is going away
        refusal = None
        try:
            self._place(daemon_set, history, label)
            strategy = daemon_set["spec"].get("updateStrategy") or {}
            if strategy.get("type", "RollingUpdate") == "RollingUpdate":
                self._roll(daemon_set, history, label, strategy.get("rollingUpdate") or {})
        except ApiStatus as problem:
            refusal = problem
            self._world.warn(daemon_set, "FailedCreate", f"Error creating: {problem.message}", CONTROLLER)
        pause = self._pauses.after(key, refusal)
        if pause is not None:
            self._queue.add(key, pause)
        placement = Placement(self._world, daemon_set)
        status = next_status(placement, label)
        self._world.report(daemon_set, status)
        history.clean_up({label} | {placement.revision_of(pod) for pod in placement.pods})
        waits = [wait for pod in placement.pods if (wait := placement.available_in(pod))]
        if waits:
            self._queue.add(key, min(waits))

    def _place(self, daemon_set: Object, history: History, label: str) -> None:
        """Make missing pods, and delete failed ones, doubles, and those on nodes that are no longer meant."""
        placement = Placement(self._world, daemon_set)
        for node in self._world.store.list("Node"):
            name = node["metadata"]["name"]
            there = placement.on(name)
            if placement.should_run(node) and not there:
                self._create(daemon_set, history.template(label), label, name)
            elif not placement.may_stay(node):
                for pod in there:
                    self._end(daemon_set, pod)
            else:
                surges = bool(maximum_surge(daemon_set, 1))
                for pod in surplus_on(placement, there, label, surges):
                    self._end(daemon_set, pod)

    def _create(self, daemon_set: Object, template: Object, label: str, node: str) -> None:
        spec = template["spec"]
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [term]}
        added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in TOLERATED]
        given = spec.get("tolerations") or []
        spec["tolerations"] = [*given, *(toleration for toleration in added if toleration not in given)]
        pod = pods.pod_of(template, daemon_set)
        generation = str(daemon_set["metadata"].get("generation", 1))
        pod["metadata"].setdefault("labels", {}).update({POD_LABEL: label, "pod-template-generation": generation})
        made = self._world.store.create(pod)
        self._world.record(daemon_set, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}", CONTROLLER)

    def _end(self, daemon_set: Object, pod: Object) -> None:
        if not is_terminating(pod):
            self._world.delete(pod)
            self._world.record(daemon_set, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}", CONTROLLER)

    def _roll(self, daemon_set: Object, history: History, label: str, rolling: Object) -> None:
        """Replace pods of old revisions: the new one beside the old one where maxSurge allows, else after it."""
        placement = Placement(self._world, daemon_set)
        nodes = [node["metadata"]["name"] for node in placement.nodes if placement.should_run(node)]
        surge = maximum_surge(daemon_set, len(nodes))
        if surge:
            surplus, needing = surge_step(placement, nodes, label, surge)
        else:
            limit = resolve(rolling.get("maxUnavailable", 1), len(nodes), round_up=True) or 1
            surplus, needing = replacement_step(placement, nodes, label, limit), []
        for pod in surplus:
            self._end(daemon_set, pod)
        for node in needing:
            self._create(daemon_set, history.template(label), label, node)


def _kind_of_node(node: Object) -> tuple[Object, Object]:
    return node["metadata"].get("labels") or {}, node.get("spec") or {}
