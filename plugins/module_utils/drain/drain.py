# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain, cordon or uncordon nodes: decide about all of them first, then touch."""

from __future__ import annotations

from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..cluster.context import Context
from ..cluster.cordon_owners import owners_of
from ..errors import Cancelled, InvalidOptions, MaintenanceError
from ..objects import Obj, is_unschedulable, name_of
from ..runtime.clock import CLEANUP_SECONDS, Deadline, ServerClock
from .budget_queue import BudgetQueue
from .cordon import Cordon
from .dry_run import rehearse
from .loop import DrainLoop
from .node import DRAINED, FAILED, NodeState
from .options import DrainTask
from .pod import PodState
from .preflight import Preflight
from .preflight_budgets import budget_waits
from .progress import DrainProgress
from .result import Report

# Seconds in which the cordons of failed nodes are lifted, if the task's time allows for it.
LONGEST_OPENING = 60.0


class Maintenance:
    """One task on some nodes."""

    def __init__(self, task: DrainTask, tools: Context) -> None:
        self._task = task
        self._tools = tools
        self._deadline = Deadline(tools.clock, task.wait_timeout, tools.clock.began)
        self._rest = tools.rest_for(self._deadline)
        self._clock = ServerClock(tools.clock, lambda: self._rest.ahead)
        self._cluster = self._cluster_for(self._rest)
        self._cordon = Cordon(self._cluster, self._clock, task.cordon_owner, task.check_mode, self._reviews)
        self.report = Report(task.state, method="evict" if task.evict else "delete", seconds=task.wait_timeout)
        self.report.check_mode = task.check_mode

    @property
    def _reviews(self) -> bool:
        """Tell whether the account's rights are looked at before anything is changed."""
        task = self._task
        return task.state == "drain" and task.preflight != "skip" and not task.check_mode

    def run(self) -> Report:
        """Carry the task out. The report tells how it ended; an error means that nothing was changed."""
        nodes = self._nodes()
        self.report.nodes = nodes
        self._tools.progress.follow(self._news_of(nodes))
        try:
            if self._task.state == "drain":
                self._drain(nodes)
            else:
                self._set_all(nodes, wanted=self._task.state == "uncordon")
        except Cancelled as exc:
            self.report.cancelled = exc.message
        try:
            self._close(nodes)
        except Cancelled as exc:
            # It comes once. What was done before is told all the same.
            self.report.cancelled = exc.message
        self._tools.progress.close()
        self.report.wall = self._clock.wall()
        return self.report

    def _nodes(self) -> list[NodeState]:
        if self._task.names:
            found = [self._cluster.node(name) for name in self._task.names]
        else:
            found = self._cluster.nodes(list(self._task.node_selectors))
        if not found and not self._task.allow_empty:
            raise InvalidOptions(
                "no node matches node_selectors %r: correct it or the nodes' labels, or set allow_empty if that is fine"
                % ",".join(self._task.node_selectors)
            )
        daemonsets: dict[tuple[str, str], bool | None] = {}
        return [self._node_drain(node, daemonsets) for node in found]

    def _node_drain(self, node: Obj, daemonsets: dict[tuple[str, str], bool | None]) -> NodeState:
        closed = is_unschedulable(node)
        now = self._clock.monotonic()
        return NodeState(
            name_of(node),
            node,
            self._task.choices,
            self._task.grace,
            daemonsets,
            cordoned_before=closed,
            cordoned=closed,
            resumed=closed and self._task.cordon_owner in (owners_of(node).entries if self._task.cordon_owner else ()),
            started_at=now,
            ended_at=now,
        )

    def _set_all(self, nodes: list[NodeState], wanted: bool) -> None:
        for node in nodes:
            try:
                if self._cordon.set_schedulable(node, wanted):
                    self.report.changed = True
            except MaintenanceError as exc:
                node.error, node.phase = exc, FAILED
                # It may have been changed before it failed.
                self.report.changed = self.report.changed or node.cordoned is not node.cordoned_before
            node.ended_at = self._clock.monotonic()
            self._tools.progress.step()

    def _drain(self, nodes: list[NodeState]) -> None:
        outlook = Preflight(self._cluster, self._clock, self._deadline, self._task, nodes).run()
        self.report.warnings += outlook.unread
        self.report.refusals = outlook.refusals
        budgets = BudgetQueue(self._task.wait_sleep, outlook.budgets)
        self.report.budget_of = budgets.budget_of
        if self._task.preflight != "skip" and (outlook.refusals or any(node.blocked() for node in nodes)):
            self.report.refused, self.report.account = True, self._rest.account()
            return
        # What a drain is in for helps nobody whose drain does not begin.
        self.report.warnings += outlook.warnings
        self.report.budget_warnings = outlook.budget_warnings
        for node in nodes:
            node.warnings += outlook.node_warnings[node.name]
        self.report.changed = self._cordon.cordon_all(nodes, self._deadline, self._tools.progress.step)
        open_nodes = [node for node in nodes if node.error is None]
        if self._task.check_mode:
            rehearse(self._cluster, self._tools.crew, self._clock, self._deadline, self._task, open_nodes)
            self.report.budget_waits = budget_waits(
                [end.drain for node in nodes for end in node.evicted], outlook.budgets
            )
        else:
            self._empty(open_nodes, budgets)

    def _close(self, nodes: list[NodeState]) -> None:
        """Bring every node's account to an end, whatever ended the task."""
        now = self._clock.monotonic()
        self.report.changed = self.report.changed or any(node.claimed or node.touched for node in nodes)
        if self._task.state != "drain" or self.report.refused or self._task.check_mode:
            return
        for node in [node for node in nodes if not node.over]:
            node.phase, node.ended_at, node.timed_out = FAILED, now, not self.report.cancelled
        if self._task.on_failure != "keep_cordon":
            rest = self._tools.rest_for(Deadline(self._clock, self._left_for_opening()))
            cordon = Cordon(self._cluster_for(rest), self._clock, self._task.cordon_owner)
            self.report.warnings += cordon.roll_back(nodes, self._task.on_failure)

    def _left_for_opening(self) -> float:
        """Return for how many seconds cordons may be lifted again: what is left, or a moment where nobody waits."""
        left = 0.0 if self.report.cancelled else self._deadline.remaining()
        return max(CLEANUP_SECONDS, min(LONGEST_OPENING, left))

    def _empty(self, nodes: list[NodeState], budgets: BudgetQueue) -> None:
        # A node that was closed before and has nothing to move needs no second look.
        for node in nodes:
            if node.cordoned_before and not node.pods and not self._task.wait_volume_detach:
                node.phase = DRAINED
        loop = DrainLoop(
            self._cluster,
            self._rest,
            self._tools.crew,
            self._clock,
            self._deadline,
            self._task,
            budgets,
            self._cordon.close_again,
            self._tools.progress,
        )
        loop.run(nodes)

    def _news_of(self, nodes: list[NodeState]) -> DrainProgress:
        def budget_of(drain: PodState) -> Obj | None:
            # What knows the budgets is made only when there is something to evict.
            return self.report.budget_of(drain)

        return DrainProgress(nodes, self._deadline, budget_of)

    def _cluster_for(self, rest: Rest) -> Cluster:
        return Cluster(rest, self._task.chunk_size, self._task.wait_sleep)
