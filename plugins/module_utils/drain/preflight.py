# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check pods, budgets and rights before the first change: what can never work, and what may take long."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..cluster.access import CORDON, DELETE, DETACH, EVICT, Right
from ..cluster.budgets import NamespaceBudgets
from ..cluster.cluster import Cluster
from ..errors import Failed
from ..objects import condition_of, identity_of, int_field, is_ready, mapping_at, namespace_of
from ..reasons import Reason
from ..runtime.clock import Clock, Deadline
from ..text import abbreviate
from .node import NodeState
from .options import DrainTask
from .pod import PodState, State
from .preflight_budgets import block, check_budgets


@dataclass
class PreflightResult:
    """What the preflight found. Pods that can never be evicted are blocked in their NodeState.

    refusals: sentences about missing rights, which forbid the start; warnings, and node_warnings by node: what to
    expect; budget_warnings: why the drain may take long or fail; unread: what the account may not read; budgets: those
    that could be read, by namespace.
    """

    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    node_warnings: dict[str, list[str]] = field(default_factory=dict)
    budget_warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    budgets: dict[str, NamespaceBudgets] = field(default_factory=dict)


class Preflight:
    """The preflight of all nodes of a task together."""

    def __init__(
        self, cluster: Cluster, clock: Clock, deadline: Deadline, task: DrainTask, nodes: list[NodeState]
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._deadline = deadline
        self._task = task
        self._nodes = nodes
        self._result = PreflightResult()
        self._reviewed: dict[Right, bool | None] = {}

    def run(self) -> PreflightResult:
        """List the pods of every node and, unless preflight is V(skip), check budgets and rights."""
        for node in self._nodes:
            self._check_time()
            self._list_pods(node)
            warnings = (node_warning(node), self._short_timeout(node))
            self._result.node_warnings[node.name] = [text for text in warnings if text]
        self._check_selectors()
        if self._task.preflight != "skip":
            if self._task.evict:
                self._check_budgets()
            self._check_rights()
        return self._result

    def _check_time(self) -> None:
        if self._deadline.expired():
            raise Failed(
                f"wait_timeout ({self._task.wait_timeout} s) ran out before everything had been checked, and"
                " nothing was changed: give the task more time, or fewer nodes"
            )

    def _list_pods(self, node: NodeState) -> None:
        pods = self._cluster.pods_on(node.name, list(self._task.pod_selectors))
        now, wall = self._clock.monotonic(), self._clock.wall()
        node.update(pods, now, wall)
        if self._task.pod_selectors:
            node.others = self._cluster.pods_besides(node.name, frozenset(identity_of(pod) for pod in pods.items))
        for key in sorted(node.lookups()):
            node.daemonsets[key] = self._cluster.daemonset_exists(*key)
            if node.daemonsets[key] is None:
                node.warnings.append(f"DaemonSet {'/'.join(key)} may not be read, so it is assumed to exist")
        node.review(now, wall)

    def _check_selectors(self) -> None:
        """Warn of pod_selectors that match no pod, which is how a typing error shows."""
        if any(node.others for node in self._nodes) and not any(node.cache.pods for node in self._nodes):
            names = abbreviate(node.name for node in self._nodes)
            self._result.warnings.append(
                f"no pod on {names} matches pod_selectors {','.join(self._task.pod_selectors)}: check them, unless"
                " those pods are gone already"
            )

    def _due(self) -> list[PodState]:
        return [pod for node in self._nodes for pod in node.sorted_pods(State.DUE)]

    def _check_budgets(self) -> None:
        namespaces = sorted({namespace_of(pod.obj) for pod in self._due()})
        if not namespaces:
            return
        self._result.budgets, denied = self._cluster.budgets_in(namespaces)
        if denied:
            self._result.unread.append(
                f"PDBs of {', '.join(namespaces)} may not be read ({denied}), so what they block will show only during"
                " the drain"
            )
        warnings = check_budgets(self._nodes, self._result.budgets, self._task.preflight == "strict")
        if not self._task.check_mode:
            # Check mode reports for each pod whether it would be evicted.
            self._result.budget_warnings += warnings

    def _check_rights(self) -> None:
        """Review only rights that will be used: to patch uncordoned nodes, to remove pods where there are any."""
        for node in [node for node in self._nodes if not node.cordon.cordoned or self._task.cordon_owner]:
            right = CORDON._replace(name=node.name)
            if not self._may(CORDON, right):
                self._result.refusals.append(f"the account may not {right.text()}, so it cannot cordon that node")
        if self._task.wait_volume_detach and not self._may(DETACH, DETACH):
            self._result.refusals.append(f"the account may not {DETACH.text()}, which wait_volume_detach needs")
        removal = EVICT if self._task.evict else DELETE
        by_namespace: dict[str, list[PodState]] = {}
        for pod in self._due():
            by_namespace.setdefault(namespace_of(pod.obj), []).append(pod)
        for namespace, pods in sorted(by_namespace.items()):
            self._check_removal(removal, removal._replace(namespace=namespace), pods)

    def _check_removal(self, everywhere: Right, here: Right, pods: list[PodState]) -> None:
        allowed = self._may(everywhere, here)
        granted = any(self._reviewed.get(right) for right in (everywhere, here))
        for pod in pods:
            pod.granted = granted
            if not allowed:
                block(pod, Reason.FORBIDDEN, f"the account may not {here.text()}: grant it that right")

    def _may(self, everywhere: Right, here: Right) -> bool:
        """Return whether the account has a right, in general or for this object or namespace. Unknown counts as yes."""
        for right in (everywhere, here):
            if right not in self._reviewed:
                self._check_time()
                self._reviewed[right] = self._cluster.may(right)
            allowed = self._reviewed[right]
            if allowed is None:
                text = "the account's rights cannot be reviewed, so a missing one will show only during the drain"
                if text not in self._result.warnings:
                    self._result.warnings.append(text)
                return True
            if allowed:
                return True
        return False

    def _short_timeout(self, node: NodeState) -> str:
        grace = self._task.grace
        times = [
            int_field(mapping_at(pod.obj, "spec").get("terminationGracePeriodSeconds")) for pod in node.sorted_pods()
        ]
        longest = max(times, default=0) if grace is None else grace
        if not times or not 0 < self._task.wait_timeout < longest:
            return ""
        return (
            f"wait_timeout ({self._task.wait_timeout} s) is shorter than the {longest} s that pods on {node.name}"
            " may take to shut down"
        )


def node_warning(node: NodeState) -> str:
    """Return what a NotReady node means for its drain, "" for a Ready one."""
    ready = condition_of(node.obj, "Ready")
    if not ready or is_ready(node.obj):
        return ""
    cause = ready.get("reason") or ready.get("status")
    return f"node {node.name} is not Ready ({cause}): evicted pods terminate there only when its kubelet is back"
