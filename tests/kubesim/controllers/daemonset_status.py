# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a DaemonSet's pods are, where they should be, and its status."""

from __future__ import annotations

from ..objects import Object, is_pod_ready, is_terminating
from . import pods
from .history import POD_LABEL
from .matching import suits_node, untolerated
from .world import World

# What the controller lets its pods tolerate, beside what the template says.
TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def node_of(pod: Object) -> str:
    """Return the node that a DaemonSet's pod is on or waits for."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution", {}
    )
    for term in affinity.get("nodeSelectorTerms") or ():
        for rule in term.get("matchFields") or ():
            if rule.get("key") == "metadata.name" and rule.get("values"):
                return str(rule["values"][0])
    return ""


class Placement:
    """The pods of a DaemonSet by node, as they are at this moment."""

    def __init__(self, world: World, daemon_set: Object) -> None:
        self._now = world.now
        self.nodes = world.store.list("Node")
        self.daemon_set = daemon_set
        self.pods = world.index.owned(daemon_set["metadata"]["uid"], "Pod")
        self._by_node: dict[str, list[Object]] = {}
        for pod in sorted(self.pods, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"])):
            if not (pods.is_finished(pod) and is_terminating(pod)):
                self._by_node.setdefault(node_of(pod), []).append(pod)

    def on(self, node: str) -> list[Object]:
        """Return its pods on a node, oldest first, terminating ones included."""
        return self._by_node.get(node, [])

    def _taints(self, node: Object, effects: tuple[str, ...]) -> list[Object]:
        template = self.daemon_set["spec"]["template"]["spec"]
        taints = untolerated(template, node, effects)
        return [taint for taint in taints if (taint["key"], taint["effect"]) not in TOLERATED]

    def should_run(self, node: Object) -> bool:
        """Return whether a pod belongs on the node."""
        template = self.daemon_set["spec"]["template"]["spec"]
        return suits_node(template, node) and not self._taints(node, ("NoSchedule", "NoExecute"))

    def may_stay(self, node: Object) -> bool:
        """Return whether a pod that is there may go on: a taint NoSchedule only keeps new ones away."""
        template = self.daemon_set["spec"]["template"]["spec"]
        return suits_node(template, node) and not self._taints(node, ("NoExecute",))

    def available_in(self, pod: Object) -> float | None:
        """Return in how many seconds the pod is available, None while it is not ready."""
        return pods.available_in(pod, self.daemon_set["spec"].get("minReadySeconds", 0), self._now)

    @staticmethod
    def revision_of(pod: Object) -> str:
        """Return the label that names the pod's revision."""
        return str((pod["metadata"].get("labels") or {}).get(POD_LABEL, ""))


def next_status(placement: Placement, label: str) -> Object:
    """Return the status of the DaemonSet."""
    desired = current = misscheduled = ready = available = updated = 0
    for node in placement.nodes:
        there = placement.on(node["metadata"]["name"])
        if not placement.should_run(node):
            misscheduled += bool(there)
            continue
        desired += 1
        if there:
            current += 1
            ready += is_pod_ready(there[0])
            available += placement.available_in(there[0]) == 0.0
            updated += placement.revision_of(there[0]) == label
    status: Object = {
        "currentNumberScheduled": current,
        "numberMisscheduled": misscheduled,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
        "observedGeneration": placement.daemon_set["metadata"].get("generation", 1),
    }
    more = {
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberUnavailable": desired - available,
    }
    status.update({key: count for key, count in more.items() if count})
    return status
