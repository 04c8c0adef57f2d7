# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordon and uncordon nodes, and read them again to make sure that it lasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ..api.retry import Retries
from ..cluster.cluster import Cluster
from ..cluster.cordon_owners import ANNOTATION, annotation_of, claim, holders, owners_of, release
from ..cluster.json_patch import Operation, apply
from ..errors import Conflict, Failed, MaintenanceError
from ..objects import Obj, is_unschedulable, uid_of
from ..runtime.clock import Clock, Deadline
from .node import NodeState, Phase

# Two tasks that change one node at the same moment conflict once or twice, not more often.
MAX_CONFLICTS = 20


@dataclass
class Cordon:
    """What cordons and uncordons the nodes of a task."""

    cluster: Cluster
    clock: Clock
    owner: str = ""  # cordon_owner, "" for none
    check_mode: bool = False
    reviewed: bool = False  # preflight saw that the account has the right, so a denial may be transient
    retries: Retries = field(default_factory=Retries)  # of all nodes, while they are cordoned

    def set_schedulable(self, node: NodeState, wanted: bool) -> bool:
        """Bring a node to the wanted state; return whether that took (or in check mode would take) a change.

        Raise if the API server denies the change, or accepts it and shows the node as before: kubectl goes on to
        evict from a node that still accepts pods (https://github.com/kubernetes/kubectl/issues/1568).
        """
        changed = self._set(node, wanted)
        # Even if it fails afterwards.
        node.cordon.claimed = node.cordon.claimed or (changed and not wanted)
        if not changed or self.check_mode or self._verify(node, wanted):
            return changed
        if not wanted and node.cordon.recordons == 0:
            # Somebody may just have lifted it, not knowing of the task.
            node.record_recordon()
            self._set(node, wanted)
            if self._verify(node, wanted):
                return True
        raise Failed(
            f"the API server accepted the change to node {node.name}, but the node is still"
            f" {'unschedulable' if wanted else 'schedulable'}: find out what reverts it, such as an autoscaler or a"
            " webhook, and stop that first"
        )

    def _set(self, node: NodeState, wanted: bool) -> bool:
        return self._set_owned(node, wanted) if self.owner else self._set_plainly(node, wanted)

    def _verify(self, node: NodeState, wanted: bool) -> bool:
        """Read the node again; return whether it is as this task left it, or as another owner may have left it."""
        left, fresh = node.cordon.cordoned, self.cluster.node_now(node.name)
        if fresh is None:
            raise _left_cluster(node)
        node.obj, node.cordon.cordoned = fresh, is_unschedulable(fresh)
        if self.owner and wanted and node.cordon.cordoned is not left:
            # Another owner has come or gone in the same moment.
            node.cordon.kept_by = holders(fresh) if node.cordon.cordoned else ""
            return not node.cordon.cordoned or bool(owners_of(fresh).entries)
        return node.cordon.cordoned is left

    def _set_plainly(self, node: NodeState, wanted: bool) -> bool:
        if node.cordon.cordoned is not wanted:
            return False
        self.cluster.set_unschedulable(node.name, not wanted, dry_run=self.check_mode)
        node.cordon.cordoned = not wanted
        return True

    def _set_owned(self, node: NodeState, wanted: bool) -> bool:
        since, first = self.clock.stamp(), node.obj
        refused: list[Operation] = []
        for _attempt in range(MAX_CONFLICTS):
            self._warn_of_invalid_owners(node)
            operations = release(node.obj, self.owner) if wanted else claim(node.obj, self.owner, since)
            if not operations:
                # If a try before did it, its response was lost.
                self._record_owners(node, first, node.obj)
                self._record(node, node.obj, wanted)
                return bool(refused)
            try:
                after = self._changed(node, operations)
                self._record_owners(node, first, after)
                self._record(node, after, wanted)
                return True
            except Conflict as exc:
                if exc.status == 422 and operations == refused:
                    # Nothing that the tests rest on has changed, so it is not another task that is in the way.
                    raise
                refused = operations
                fresh = self.cluster.node_now(node.name)
                if fresh is None:
                    raise _left_cluster(node) from None
                node.obj = fresh
        raise Failed(
            f"node {node.name} is being changed concurrently ({MAX_CONFLICTS} conflicts in a row): try again later"
        )

    def _record_owners(self, node: NodeState, before: Obj, after: Obj) -> None:
        first = node.cordon.owners[0] if node.cordon.owners else annotation_of(before)
        node.cordon.owners = (first, annotation_of(after))

    def _changed(self, node: NodeState, operations: list[Operation]) -> Obj:
        """Return the node as the operations leave it; in check mode as they would, if the API server accepts them."""
        answered = self.cluster.change_node(node.name, operations, dry_run=self.check_mode)
        return apply(node.obj, operations) if self.check_mode else answered

    def _record(self, node: NodeState, seen: Obj, wanted: bool) -> None:
        node.cordon.cordoned = is_unschedulable(seen)
        if wanted and node.cordon.cordoned:
            node.cordon.kept_by = holders(seen)

    def _warn_of_invalid_owners(self, node: NodeState) -> None:
        invalid = owners_of(node.obj).invalid
        text = f"annotation {ANNOTATION} of node {node.name} {invalid}, so its cordon counts as somebody else's"
        if invalid and text not in node.warnings:
            node.warnings.append(text)

    def cordon_all(self, nodes: list[NodeState], deadline: Deadline, after_each: Callable[[], None]) -> bool:
        """Cordon every node, end those where that fails with their error; return whether anything changed."""
        for node in nodes:
            node.cordon.cordoned_uid = uid_of(node.obj)
            try:
                if deadline.expired():
                    raise Failed("no time was left")
                self._cordon_with_retries(node, deadline)
                node.cordon.cordoned_uid = uid_of(node.obj)
            except MaintenanceError as exc:
                exc.message = f"it could not be cordoned: {exc.message}"
                node.end(Phase.FAILED, exc)
            after_each()
        return any(node.cordon.claimed for node in nodes)

    def _cordon_with_retries(self, node: NodeState, deadline: Deadline) -> None:
        """Cordon a node. Errors that contradict the preflight are retried, a few times for all nodes together."""
        cordon: Callable[[NodeState], object] = partial(self.set_schedulable, wanted=False)
        while True:
            try:
                cordon(node)
                return
            except MaintenanceError as exc:
                delay = self.retries.delay_after(exc) if self.reviewed else None
                if delay is None or delay >= deadline.remaining():
                    raise
                self.clock.sleep(delay)
                cordon = self.recordon

    def recordon(self, node: NodeState) -> None:
        """Read a node and cordon it if it is not: somebody else may have uncordoned it."""
        fresh = self.cluster.node_now(node.name)
        if fresh is not None:
            node.obj, node.cordon.cordoned = fresh, is_unschedulable(fresh)
            self.set_schedulable(node, False)
            node.cordon.cordoned_uid = uid_of(node.obj)

    def roll_back(self, nodes: list[NodeState], policy: str) -> list[str]:
        """Uncordon failed nodes that this task cordoned, as C(on_failure) says; return warnings.

        The node is read again first: if somebody else uncordoned it, if it was cordoned before, or if another node has
        its name now, it stays as it is. The cordon of an earlier run of the same owner counts as this task's.
        """
        warnings = []
        for node in nodes:
            own = node.cordon.claimed or node.cordon.resumed
            if node.phase != Phase.FAILED or not own or (policy == "uncordon_if_untouched" and node.touched):
                continue
            try:
                fresh = self.cluster.node_now(node.name)
                node.obj, node.cordon.cordoned = fresh or node.obj, fresh is not None and is_unschedulable(fresh)
                if fresh is not None and uid_of(fresh) == node.cordon.cordoned_uid:
                    node.cordon.rolled_back = self.set_schedulable(node, True) and not node.cordon.cordoned
            except MaintenanceError as exc:
                warnings.append(
                    f"{node.name} could not be uncordoned after the failure, so do that by hand: {exc.message}"
                )
        return warnings


def _left_cluster(node: NodeState) -> Failed:
    return Failed(f"node {node.name} left the cluster before it could be changed: remove it from the task")
