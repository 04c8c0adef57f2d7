# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look before touching: gather what a drain must know of pods, budgets and rights, and weigh it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..cluster.access import CORDON, DELETE, DETACH, EVICT, Right
from ..cluster.budgets import BudgetBook
from ..cluster.cluster import Cluster
from ..errors import Failed
from ..objects import identity_of, int_field, mapping_at, namespace_of
from ..runtime.clock import Clock, Deadline
from ..text import abbreviate
from .node import NodeState
from .options import DrainTask
from .pod import PodState, State
from .preflight import block_for_right, look_at_budgets, node_warning


@dataclass
class PreflightResult:
    """What the look gave.

    refusals: sentences that forbid the start, all of them about rights; warnings, and those of each node by name: what
    a drain is in for; forecasts: why it may take long or fail; unread: what may not be read; books: the budgets that
    could be read.
    """

    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    node_warnings: dict[str, list[str]] = field(default_factory=dict)
    forecasts: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    books: dict[str, BudgetBook] = field(default_factory=dict)


class Preflight:
    """The look at all nodes of a task together."""

    def __init__(
        self, cluster: Cluster, clock: Clock, deadline: Deadline, task: DrainTask, nodes: list[NodeState]
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._deadline = deadline
        self._task = task
        self._nodes = nodes
        self._outlook = PreflightResult()
        self._reviewed: dict[Right, bool | None] = {}

    def make(self) -> PreflightResult:
        """List the pods of every node and, unless preflight is V(skip), weigh budgets and rights."""
        for node in self._nodes:
            self._check_time()
            self._look_at_pods(node)
            foretold = [text for text in (node_warning(node), self._short_time(node)) if text]
            self._outlook.node_warnings[node.name] = foretold
        self._look_for_typos()
        if self._task.preflight != "skip":
            if self._task.evict:
                self._look_at_budgets()
            self._look_at_rights()
        return self._outlook

    def _check_time(self) -> None:
        if self._deadline.expired():
            raise Failed(
                "wait_timeout (%d s) ran out before everything had been checked, and nothing was changed: give the"
                " task more time, or fewer nodes" % self._task.wait_timeout
            )

    def _look_at_pods(self, node: NodeState) -> None:
        pods = self._cluster.pods_on(node.name, list(self._task.pod_selectors))
        now, wall = self._clock.monotonic(), self._clock.wall()
        node.update(pods, now, wall)
        if self._task.pod_selectors:
            node.others = self._cluster.pods_besides(node.name, frozenset(identity_of(pod) for pod in pods.items))
        for key in sorted(node.lookups()):
            node.daemonsets[key] = self._cluster.daemonset_exists(*key)
            if node.daemonsets[key] is None:
                node.warnings.append("DaemonSet %s/%s may not be read, so it is assumed to exist" % key)
        node.review(now, wall)

    def _look_for_typos(self) -> None:
        """Warn of selectors that choose nothing, which is what a wrong letter in one of them looks like."""
        if any(node.others for node in self._nodes) and not any(node.cache.pods for node in self._nodes):
            self._outlook.warnings.append(
                "no pod on %s matches pod_selectors %s: correct it, unless what it means is gone already"
                % (abbreviate(node.name for node in self._nodes), ",".join(self._task.pod_selectors))
            )

    def _due(self) -> list[PodState]:
        return [drain for node in self._nodes for drain in node.sorted_pods(State.DUE)]

    def _look_at_budgets(self) -> None:
        namespaces = sorted({namespace_of(drain.obj) for drain in self._due()})
        if not namespaces:
            return
        self._outlook.books, unread = self._cluster.budget_books(namespaces)
        if unread:
            self._outlook.unread.append(
                "disruption budgets of %s may not be read (%s), so what they refuse will show only during the drain"
                % (", ".join(namespaces), unread)
            )
        findings = look_at_budgets(self._nodes, self._outlook.books, self._task.preflight == "strict")
        self._outlook.refusals += findings.refusals
        if not self._task.check_mode:
            # A rehearsal says of each pod whether it would go.
            self._outlook.forecasts += findings.forecasts

    def _look_at_rights(self) -> None:
        """Ask only for the rights that are used: to patch nodes that are open, to remove pods where there are any."""
        for node in [node for node in self._nodes if not node.cordon.cordoned or self._task.cordon_owner]:
            right = CORDON._replace(name=node.name)
            if not self._may(CORDON, right):
                self._outlook.refusals.append("the account may not %s, so it cannot cordon that node" % right.text())
        if self._task.wait_volume_detach and not self._may(DETACH, DETACH):
            self._outlook.refusals.append("the account may not %s, which wait_volume_detach needs" % DETACH.text())
        removal = EVICT if self._task.evict else DELETE
        by_namespace: dict[str, list[PodState]] = {}
        for drain in self._due():
            by_namespace.setdefault(namespace_of(drain.obj), []).append(drain)
        for namespace, drains in sorted(by_namespace.items()):
            right = removal._replace(namespace=namespace)
            if not self._may(removal, right):
                block_for_right(drains, right.text())
            granted = any(self._reviewed.get(one) for one in (removal, right))
            for drain in drains:
                drain.granted = granted

    def _may(self, everywhere: Right, here: Right) -> bool:
        """Tell whether the account has a right, in general or for what is at hand. Unknown counts as yes."""
        for right in (everywhere, here):
            if right not in self._reviewed:
                self._check_time()
                self._reviewed[right] = self._cluster.may(right)
            allowed = self._reviewed[right]
            if allowed is None:
                text = "the account's rights cannot be reviewed, so a missing one will show only during the drain"
                if text not in self._outlook.warnings:
                    self._outlook.warnings.append(text)
                return True
            if allowed:
                return True
        return False

    def _short_time(self, node: NodeState) -> str:
        grace = self._task.grace
        times = [
            int_field(mapping_at(drain.obj, "spec").get("terminationGracePeriodSeconds"))
            for drain in node.sorted_pods()
        ]
        longest = max(times, default=0) if grace is None else grace
        if not times or not 0 < self._task.wait_timeout < longest:
            return ""
        return "wait_timeout (%d s) is shorter than the %d s that pods on %s may take to shut down" % (
            self._task.wait_timeout,
            longest,
            node.name,
        )
