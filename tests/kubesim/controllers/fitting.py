# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a pod cannot run on a node, and the scheduler's sentence about all of them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from .. import quantities
from ..label_selectors import matches_selector
from ..objects import Object, is_terminating
from .claims import waits_for_pod
from .matching import suits_node, untolerated
from .nodes import UNSCHEDULABLE
from .pods import is_finished
from .volume_uses import is_bound, uses_of
from .world import World

PodKey = tuple[str, str]
_EFFECTS = ("NoSchedule", "NoExecute")
_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_FULL = "Too many pods"
_OWN_RULES = "node(s) didn't match pod anti-affinity rules"
_OTHERS_RULES = "node(s) didn't satisfy existing pods anti-affinity rules"
_VOLUME = "node(s) didn't match PersistentVolume's node affinity"


class Fitting:
    """Judge nodes for pods."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._exclusive: dict[PodKey, None] = {}  # bound pods that keep others away by anti-affinity

    def bound(self, key: PodKey, pod: Object) -> None:
        """Remember a bound pod that keeps others away."""
        if _anti_affinity(pod["spec"]):
            self._exclusive[key] = None

    def forget(self, key: PodKey) -> None:
        """Forget a pod that is gone."""
        self._exclusive.pop(key, None)

    def claims_obstacle(self, pod: Object) -> str | None:
        """Return why the pod's claims let it run nowhere."""
        for use in uses_of(self._world.store, pod):
            if use.claim is None:
                return f'persistentvolumeclaim "{use.claim_name}" not found'
            if is_terminating(use.claim):
                return f'persistentvolumeclaim "{use.claim_name}" is being deleted'
            if not is_bound(use.claim) and not waits_for_pod(self._world, use.claim):
                return "pod has unbound immediate PersistentVolumeClaims"
        return None

    def obstacle(self, pod: Object, node: Object) -> str | None:
        """Return why the pod cannot run on the node, in the scheduler's words."""
        spec = pod["spec"]
        taints = untolerated(spec, node, _EFFECTS)
        unschedulable = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
        if (node.get("spec") or {}).get("unschedulable"):
            taints = [taint for taint in taints if taint["key"] != UNSCHEDULABLE]
            if untolerated(spec, {"spec": {"taints": [unschedulable]}}, _EFFECTS):
                return "node(s) were unschedulable"
        if taints:
            return "node(s) had untolerated taint(s)"
        if not suits_node(spec, node):
            return "node(s) didn't match Pod's node affinity/selector"
        if self._is_full(node):
            return _FULL
        if not self._has_volumes(pod, node):
            return _VOLUME
        return self._short_of(pod, node) or self._excluded(pod, node)

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
                    return _OWN_RULES
        for key in self._exclusive:
            other = self._world.store.get("Pod", *key) or {}
            home = self._world.store.get("Node", None, other.get("spec", {}).get("nodeName", ""))
            if home is None or is_finished(other):
                continue
            for term in _anti_affinity(other["spec"]):
                if _domain(home, term["topologyKey"]) == _domain(node, term["topologyKey"]) and _repels(
                    term, other, pod
                ):
                    return _OTHERS_RULES
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

    def _short_of(self, pod: Object, node: Object) -> str | None:
        """Return which resource the node has not enough of for what the pod requests."""
        offered = (node.get("status") or {}).get("allocatable") or {}
        for resource in _RESOURCES:
            asked = quantities.of_pod(pod, "requests", resource)
            if asked and resource in offered:
                others = self._world.index.pods_on(node["metadata"]["name"])
                taken = [quantities.of_pod(other, "requests", resource) for other in others if not is_finished(other)]
                if asked + sum(taken, Fraction(0)) > quantities.amount(offered[resource]):
                    return f"Insufficient {resource}"
        return None

    def _has_volumes(self, pod: Object, node: Object) -> bool:
        for use in uses_of(self._world.store, pod):
            required = ((use.volume or {}).get("spec", {}).get("nodeAffinity") or {}).get("required")
            affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
            if required and not suits_node({"affinity": affinity}, node):
                return False
        return True


def _anti_affinity(spec: Object) -> list[Object]:
    affinity = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    return affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _repels(term: Object, owner: Object, neighbour: Object) -> bool:
    """Return whether an anti-affinity term of the pod `owner` keeps it away from the pod `neighbour`."""
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


def sentence(nodes: int, why: Counter[str]) -> str:
    """Say why none of the nodes is one for the pod."""
    if not nodes:
        return "no nodes available to schedule pods"
    reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in why.items()))
    return _with_preemption(nodes, reasons, sum(count for reason, count in why.items() if _may_free_up(reason)))


def sentence_about(nodes: int, reason: str) -> str:
    """Say why the pod fits nowhere, whatever the nodes are like."""
    return _with_preemption(nodes, reason, 0)


def _with_preemption(nodes: int, reasons: str, victimless: int) -> str:
    """Add what preemption found: nobody is ever preempted here."""
    words = {"No preemption victims found for incoming pod": victimless}
    words["Preemption is not helpful for scheduling"] = nodes - victimless
    found = ", ".join(sorted(f"{count} {text}" for text, count in words.items() if count))
    tried = f"preemption: 0/{nodes} nodes are available: {found}."
    return f"0/{nodes} nodes are available: {reasons}. no new claims to deallocate, {tried}"


def _may_free_up(reason: str) -> bool:
    return reason.startswith("Insufficient ") or reason in (_FULL, _OWN_RULES, _OTHERS_RULES)
