# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain, cordon or uncordon nodes: check all of them before the first change."""

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
from .cordon_state import CordonState
from .dry_run import dry_run
from .loop import DrainLoop
from .node import NodeState, Phase
from .options import DrainTask
from .pod import PodState
from .preflight import Preflight
from .preflight_budgets import budget_waits
from .progress import DrainProgress
from .result import Report

# How long failed nodes may take to be uncordoned, if wait_timeout allows it.
MAX_ROLLBACK_SECONDS = 60.0


class Maintenance:
    """One task on some nodes."""

    def __init__(self, task: DrainTask, context: Context) -> None:
        self._task = task
        self._context = context
        self._deadline = Deadline(context.clock, task.wait_timeout, context.clock.began)
        self._rest = context.rest_for(self._deadline)
        self._clock = ServerClock(context.clock, lambda: self._rest.ahead)
        self._cluster = self._cluster_for(self._rest)
        self._cordon = Cordon(self._cluster, self._clock, task.cordon_owner, task.check_mode, self._checks_rights)
        self.report = Report(task.state, method="evict" if task.evict else "delete", seconds=task.wait_timeout)
        self.report.check_mode = task.check_mode

    @property
    def _checks_rights(self) -> bool:
        """Return whether preflight checks the account's rights."""
        task = self._task
        return task.state == "drain" and task.preflight != "skip" and not task.check_mode

    def run(self) -> Report:
        """Run the task. The report says how it ended; an error means that nothing was changed."""
        nodes = self._nodes()
        self.report.nodes = nodes
        self._context.progress.follow(self._progress_of(nodes))
        try:
            if self._task.state == "drain":
                self._drain(nodes)
            else:
                self._set_all(nodes, wanted=self._task.state == "uncordon")
        except Cancelled as exc:
            self.report.cancelled = exc.message
        try:
            self._finish(nodes)
        except Cancelled as exc:
            # A signal is delivered once. Report what was already done.
            self.report.cancelled = exc.message
        self._context.progress.close()
        self.report.wall = self._clock.wall()
        return self.report

    def _nodes(self) -> list[NodeState]:
        if self._task.names:
            found = [self._cluster.node(name) for name in self._task.names]
        else:
            found = self._cluster.nodes(list(self._task.node_selectors))
        if not found and not self._task.allow_empty:
            raise InvalidOptions(
                f"no node matches node_selectors {','.join(self._task.node_selectors)!r}: fix the selector or the"
                " labels, or set allow_empty to accept that"
            )
        daemonsets: dict[tuple[str, str], bool | None] = {}
        return [self._node_state(node, daemonsets) for node in found]

    def _node_state(self, obj: Obj, daemonsets: dict[tuple[str, str], bool | None]) -> NodeState:
        cordoned, owner, now = is_unschedulable(obj), self._task.cordon_owner, self._clock.monotonic()
        resumed = cordoned and bool(owner) and owner in owners_of(obj).entries
        node = NodeState(name_of(obj), obj, self._task.choices, self._task.grace, daemonsets)
        node.cordon = CordonState(cordoned=cordoned, cordoned_before=cordoned, resumed=resumed)
        node.started_at = node.ended_at = now
        return node

    def _set_all(self, nodes: list[NodeState], wanted: bool) -> None:
        for node in nodes:
            try:
                if self._cordon.set_schedulable(node, wanted):
                    self.report.changed = True
            except MaintenanceError as exc:
                node.end(Phase.FAILED, exc)
                # It may have been changed before it failed.
                self.report.changed |= node.cordon.cordoned is not node.cordon.cordoned_before
            node.ended_at = self._clock.monotonic()
            self._context.progress.step()

    def _drain(self, nodes: list[NodeState]) -> None:
        preflight = Preflight(self._cluster, self._clock, self._deadline, self._task, nodes).run()
        self.report.warnings += preflight.unread
        self.report.refusals = preflight.refusals
        budgets = BudgetQueue(self._task.wait_sleep, preflight.budgets)
        self.report.budget_of = budgets.budget_of
        if self._task.preflight != "skip" and (preflight.refusals or any(node.blocked() for node in nodes)):
            self.report.refused, self.report.account = True, self._rest.account()
            return
        # Warnings about the drain are only useful if it starts.
        self.report.warnings += preflight.warnings
        self.report.budget_warnings = preflight.budget_warnings
        for node in nodes:
            node.warnings += preflight.node_warnings[node.name]
        self.report.changed = self._cordon.cordon_all(nodes, self._deadline, self._context.progress.step)
        cordoned = [node for node in nodes if node.error is None]
        if self._task.check_mode:
            dry_run(self._cluster, self._context.workers, self._clock, self._deadline, self._task, cordoned)
            gone = [end.pod for node in nodes for end in node.evicted]
            self.report.budget_waits = budget_waits(gone, preflight.budgets)
        else:
            self._evict_all(cordoned, budgets)

    def _finish(self, nodes: list[NodeState]) -> None:
        """End every node's drain and uncordon what on_failure says, whatever ended the task."""
        now = self._clock.monotonic()
        self.report.changed = self.report.changed or any(node.cordon.claimed or node.touched for node in nodes)
        if self._task.state != "drain" or self.report.refused or self._task.check_mode:
            return
        for node in [node for node in nodes if not node.over]:
            node.end(Phase.FAILED, node.error, now, timed_out=not self.report.cancelled)
        if self._task.on_failure != "keep_cordon":
            rest = self._context.rest_for(Deadline(self._clock, self._rollback_seconds()))
            cordon = Cordon(self._cluster_for(rest), self._clock, self._task.cordon_owner)
            self.report.warnings += cordon.roll_back(nodes, self._task.on_failure)

    def _rollback_seconds(self) -> float:
        """Return how long failed nodes may take to be uncordoned: what is left, or a moment after a signal."""
        left = 0.0 if self.report.cancelled else self._deadline.remaining()
        return max(CLEANUP_SECONDS, min(MAX_ROLLBACK_SECONDS, left))

    def _evict_all(self, nodes: list[NodeState], budgets: BudgetQueue) -> None:
        # An already cordoned, empty node needs no drain.
        for node in nodes:
            if node.cordon.cordoned_before and not node.pods and not self._task.wait_volume_detach:
                node.enter(Phase.DRAINED)
        loop = DrainLoop(
            self._cluster,
            self._rest,
            self._context.workers,
            self._clock,
            self._deadline,
            self._task,
            budgets,
            self._cordon,
            self._context.progress,
        )
        loop.run(nodes)

    def _progress_of(self, nodes: list[NodeState]) -> DrainProgress:
        def budget_of(pod: PodState) -> Obj | None:
            # BudgetQueue is made only when there is something to evict.
            return self.report.budget_of(pod)

        return DrainProgress(nodes, self._deadline, budget_of)

    def _cluster_for(self, rest: Rest) -> Cluster:
        return Cluster(rest, self._task.chunk_size, self._task.wait_sleep)
