# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make sure that a node that seems drained is: no pod was scheduled late, its cordon holds, its volumes are detached.

Every handler returns a Decision, on which DrainLoop acts.
"""

from __future__ import annotations

from functools import partial

from ..api.list_watch import Listed
from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..errors import Failed, MaintenanceError
from ..objects import Obj, is_unschedulable, uid_of
from ..runtime.workers import Message, Workers
from .final_check_state import Again, Decision, Done, Fail, Recordon
from .node import NodeState, Phase
from .options import DrainTask
from .volume_detach import VolumeDetach

# Seconds between two reads of a node on which pods keep landing, or from which pods vanish that no watch shows.
RECHECK_SECONDS = 2.0
# Delay before confirming a disappearance that only one response reports.
CONFIRM_SECONDS = 1.0


class FinalCheck:
    """The last steps of each node's drain."""

    def __init__(self, cluster: Cluster, rest: Rest, workers: Workers, task: DrainTask) -> None:
        self._cluster = cluster
        self._workers = workers
        self._selectors = list(task.pod_selectors)
        self._detach = VolumeDetach(cluster, rest, workers) if task.wait_volume_detach else None

    def start_due(self, node: NodeState, now: float) -> None:
        """Send the requests that are due for a node."""
        check = node.check
        if node.phase != Phase.DRAINING:
            return
        if check.landed and now >= check.recheck_cordon_at:
            # A pod that is scheduled onto a cordoned node hints at a cordon that somebody lifted.
            check.landed, check.recheck_cordon_at = False, now + RECHECK_SECONDS
            read_node = partial(self._cluster.node_now, node.name)
            self._workers.start(("recheck_cordon", node.name, node.cordon.recordons), read_node)
        if node.settled() if check.check_at is None else check.check_at <= now:
            node.enter(Phase.CHECKING)
            check.check_at = None
            # What the selectors do not select any more may still be there.
            hidden = frozenset(node.departed) if self._selectors else frozenset()
            read = partial(self._read, node.name, hidden)
            self._workers.start(("check", node.name, node.cache.token), read)

    def _read(self, name: str, hidden: frozenset[str]) -> tuple[Listed, Obj | None, list[Obj]]:
        return *self._cluster.pods_and_node(name, self._selectors), self._cluster.pods_left(name, hidden)

    def on_node_checked(self, node: NodeState, message: Message, now: float, wall: float) -> Decision:
        """Compare the node with what is known of it. now, wall: the time, monotonic and of the API server."""
        if message.error is not None:
            return self._after_error(node, message.error, now)
        listed, fresh, hidden = message.value
        node.enter(Phase.DRAINING)
        before = set(node.pods)
        node.update(listed, now, wall, message.tag[2])
        if node.restore(hidden, now, wall):
            return Again(now + RECHECK_SECONDS)
        if not node.settled():
            return None
        # Pods that nobody was seen to remove are as suspect as those that have just vanished.
        unseen = node.filled and not (node.pods or node.departed or node.touched)
        return self._after_settled(node, fresh, unseen or bool(before - set(node.pods)), now)

    def _after_error(self, node: NodeState, error: MaintenanceError, now: float) -> Decision:
        delay = node.retries.delay_after(error)
        return Fail(error) if delay is None else Again(now + delay, error)

    def _after_settled(self, node: NodeState, fresh: Obj | None, vanished: bool, now: float) -> Decision:
        """Decide about a node on which nothing is left to wait for. vanished: pods were there just before."""
        node.error = None
        node.retries.reset()
        confirmed, node.check.unconfirmed = node.check.unconfirmed, fresh is None or vanished
        if node.check.unconfirmed and not confirmed:
            return Again(now + CONFIRM_SECONDS)
        replaced = self._was_replaced(node, fresh)
        if replaced is not None:
            return replaced
        if fresh is None:
            node.warnings.append(f"node {node.name} left the cluster while it was drained")
        elif not is_unschedulable(fresh):
            return self._after_uncordon(node)
        else:
            node.obj = fresh
        if self._detach is not None and fresh is not None and not node.pods:
            self._detach.start(node)
            return None
        return Fail(None) if node.pods else Done()

    def on_cordon_rechecked(self, node: NodeState, message: Message) -> Decision:
        """Decide whether somebody else uncordoned the node. Best effort only: the final check reports errors."""
        # What was read before the node was cordoned again says nothing about now.
        outdated = node.phase != Phase.DRAINING or message.tag[2] != node.cordon.recordons
        if message.error is not None or outdated:
            return None
        fresh = message.value
        replaced = self._was_replaced(node, fresh)
        if replaced is not None or fresh is None or is_unschedulable(fresh):
            return replaced
        return self._after_uncordon(node)

    def _was_replaced(self, node: NodeState, fresh: Obj | None) -> Fail | None:
        """Fail a node that left the cluster and whose name another one has now."""
        if fresh is None or not node.cordon.cordoned_uid or uid_of(fresh) == node.cordon.cordoned_uid:
            return None
        node.cordon.cordoned = is_unschedulable(fresh)
        return Fail(Failed("another node took its name while it was drained: run the task again if that one is meant"))

    def _after_uncordon(self, node: NodeState) -> Decision:
        if node.cordon.recordons == 0:
            return Recordon()
        node.cordon.cordoned = False
        return Fail(
            Failed(
                f"somebody else keeps uncordoning {node.name} while it is drained: find out who, and stop that first"
            )
        )

    def on_volumes_listed(self, node: NodeState, message: Message, now: float) -> Decision:
        """Wait for the volumes that the node's pods have left attached."""
        if message.error is not None:
            return self._after_error(node, message.error, now)
        if self._detach is not None:
            self._detach.on_volumes_listed(node, message.value)
        return Done() if VolumeDetach.is_done(node) else None

    def on_attachments_event(self, message: Message, nodes: list[NodeState]) -> list[tuple[NodeState, Decision]]:
        """Return the nodes whose wait for volumes has ended, and how."""
        waiting = [node for node in nodes if node.phase == Phase.DETACHING]
        if self._detach is None:
            return []
        if message.error is not None:
            retried = self._detach.on_watch_error(message.error)
            return [] if retried else [(node, Fail(message.error)) for node in waiting]
        self._detach.on_watch_event(message.value, nodes)
        return [(node, Done()) for node in waiting if VolumeDetach.is_done(node)]
