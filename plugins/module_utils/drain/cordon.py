# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Close nodes to new pods and open them again, and believe it only when the node says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..api.retry import retry_delay
from ..cluster.cluster import Cluster
from ..cluster.cordon_owners import ANNOTATION, annotation_of, claim, holders, owners_of, release
from ..cluster.json_patch import Operation, apply
from ..errors import Conflict, Failed, MaintenanceError
from ..objects import Obj, is_unschedulable, uid_of
from ..runtime.clock import Clock, Deadline
from .node import FAILED, NodeState

# Two tasks that change one node at the same moment hinder each other once or twice, not more often.
MAX_CONFLICTS = 20
LEFT = "node %s left the cluster before it could be changed: remove it from the task"


@dataclass
class Cordon:
    """What closes and opens nodes. owner: C(cordon_owner), "" for none.

    reviewed: the account was seen to have the right, so that a refusal is doubted; doubts: how often one was.
    """

    cluster: Cluster
    clock: Clock
    owner: str = ""
    check_mode: bool = False
    reviewed: bool = False
    doubts: int = 0

    def set_schedulable(self, node: NodeState, wanted: bool) -> bool:
        """Bring a node to the wanted state; tell whether that took (or in check mode would take) a change.

        An API server that denies the change, or takes it and shows the node as before, raises: kubectl goes on to
        evict from a node that still accepts pods (https://github.com/kubernetes/kubectl/issues/1568).
        """
        changed = self._set(node, wanted)
        # Even if it fails afterwards.
        node.claimed = node.claimed or (changed and not wanted)
        if not changed or self.check_mode or self._shows(node, wanted):
            return changed
        if not wanted and node.recordons == 0:
            # Somebody may just have lifted it, not knowing of the task.
            node.put_back()
            self._set(node, wanted)
            if self._shows(node, wanted):
                return True
        raise Failed(
            "the API server accepted the change to node %s, but the node is still %s: find out what reverts it, such as"
            " an autoscaler or a webhook, and stop that first"
            % (node.name, "unschedulable" if wanted else "schedulable")
        )

    def _set(self, node: NodeState, wanted: bool) -> bool:
        return self._set_owned(node, wanted) if self.owner else self._set_plainly(node, wanted)

    def _shows(self, node: NodeState, wanted: bool) -> bool:
        """Read the node; tell whether it is as it was, or may have been, left. It is known as it was read then."""
        left, fresh = node.cordoned, self.cluster.node_now(node.name)
        if fresh is None:
            raise Failed(LEFT % node.name)
        node.node, node.cordoned = fresh, is_unschedulable(fresh)
        if self.owner and wanted and node.cordoned is not left:
            # Another owner has come or gone in the same moment.
            node.kept_by = holders(fresh) if node.cordoned else ""
            return not node.cordoned or bool(owners_of(fresh).entries)
        return node.cordoned is left

    def _set_plainly(self, node: NodeState, wanted: bool) -> bool:
        if node.cordoned is not wanted:
            return False
        self.cluster.set_unschedulable(node.name, not wanted, dry_run=self.check_mode)
        node.cordoned = not wanted
        return True

    def _set_owned(self, node: NodeState, wanted: bool) -> bool:
        since = self.clock.stamp()
        refused: list[Operation] = []
        for _attempt in range(MAX_CONFLICTS):
            self._warn_of_invalid_owners(node)
            operations = release(node.node, self.owner) if wanted else claim(node.node, self.owner, since)
            if not operations:
                self._note(node, node.node, wanted)
                return bool(refused)
            try:
                before, after = node.node, self._changed(node, operations)
                node.owners = (node.owners[0] if node.owners else annotation_of(before), annotation_of(after))
                self._note(node, after, wanted)
                return True
            except Conflict:
                if operations == refused:
                    # Nothing that they rest on has changed, so it is not another task that is in the way.
                    raise
                refused = operations
                fresh = self.cluster.node_now(node.name)
                if fresh is None:
                    raise Failed(LEFT % node.name) from None
                node.node = fresh
        raise Failed(
            f"node {node.name} is being changed concurrently ({MAX_CONFLICTS} conflicts in a row): try again later"
        )

    def _changed(self, node: NodeState, operations: list[Operation]) -> Obj:
        """Return the node as the operations leave it; in check mode as they would, if the API server accepts them."""
        answered = self.cluster.change_node(node.name, operations, dry_run=self.check_mode)
        return apply(node.node, operations) if self.check_mode else answered

    def _note(self, node: NodeState, seen: Obj, wanted: bool) -> None:
        node.cordoned = is_unschedulable(seen)
        if wanted and node.cordoned:
            node.kept_by = holders(seen)

    def _warn_of_invalid_owners(self, node: NodeState) -> None:
        invalid = owners_of(node.node).invalid
        text = f"annotation {ANNOTATION} of node {node.name} {invalid}, so its cordon counts as somebody else's"
        if invalid and text not in node.warnings:
            node.warnings.append(text)

    def cordon_all(self, nodes: list[NodeState], deadline: Deadline, after_each: Callable[[], None]) -> bool:
        """Cordon every node; one that fails is noted as failed, with its error. Tell whether anything changed."""
        for node in nodes:
            node.closed_uid = uid_of(node.node)
            try:
                if deadline.expired():
                    raise Failed("no time was left")
                self._close(node, deadline)
                node.closed_uid = uid_of(node.node)
            except MaintenanceError as exc:
                exc.message = "it could not be cordoned: %s" % exc.message
                node.error, node.phase = exc, FAILED
            after_each()
        return any(node.claimed for node in nodes)

    def _close(self, node: NodeState, deadline: Deadline) -> None:
        """Cordon a node, with a few more tries in all for answers that contradict those to the look before."""
        close: Callable[[NodeState], object] = partial(self.set_schedulable, wanted=False)
        while True:
            try:
                close(node)
                return
            except MaintenanceError as exc:
                self.doubts += 1
                pause = retry_delay(exc, self.doubts) if self.reviewed else None
                if pause is None or pause >= deadline.remaining():
                    raise
                self.clock.sleep(pause)
                close = self.close_again

    def close_again(self, node: NodeState) -> None:
        """Cordon a node from which somebody lifted the task's cordon."""
        fresh = self.cluster.node_now(node.name)
        if fresh is not None:
            node.node, node.cordoned = fresh, is_unschedulable(fresh)
            self.set_schedulable(node, False)
            node.closed_uid = uid_of(node.node)

    def roll_back(self, nodes: list[NodeState], policy: str) -> list[str]:
        """Lift this task's own cordons from nodes that failed, as C(on_failure) says; return warnings.

        The node is read again first: a cordon that somebody lifted or that was there before stays as it is, and so does
        that of another node which came under its name. What the same owner's earlier run left behind is its own too.
        """
        warnings = []
        for node in nodes:
            own = node.claimed or node.resumed
            if node.phase != FAILED or not own or (policy == "uncordon_if_untouched" and node.touched):
                continue
            try:
                fresh = self.cluster.node_now(node.name)
                node.node, node.cordoned = fresh or node.node, fresh is not None and is_unschedulable(fresh)
                if fresh is not None and uid_of(fresh) == node.closed_uid:
                    node.rolled_back = self.set_schedulable(node, True) and not node.cordoned
            except MaintenanceError as exc:
                text = "%s could not be uncordoned after the failure, so do that by hand: %s"
                warnings.append(text % (node.name, exc.message))
        return warnings
