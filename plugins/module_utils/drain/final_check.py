# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make sure that a node that seems drained is: no pod came late, nobody opened it, its volumes are off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..api.list_watch import Listed
from ..api.retry import retry_delay
from ..cluster.cluster import Cluster
from ..errors import Failed, MaintenanceError
from ..objects import Obj, is_unschedulable, uid_of
from ..runtime.workers import Message, Pause, Workers
from .node import CHECKING, DETACHING, DRAINED, DRAINING, FAILED, NodeState
from .pod_cache import ListToken
from .volume_detach import VolumeDetach

# Seconds between two looks at a node on which pods keep landing, or from which some go that no watch shows.
PEEK = 2.0
# After which pause to look again when something is gone of which nothing but this one answer tells.
CONFIRM = 1.0

Take = Callable[[NodeState, Listed, ListToken], None]
End = Callable[..., None]  # of a node, its last phase, and the MaintenanceError that ended it or None


class NodeCheck:
    """The last steps of each node's drain.

    take: takes in a list of the node's pods and the mark of when it was asked for; close_again: cordons a node that
    somebody opened; end: ends a node's drain with a phase and an error.
    """

    KINDS = ("check", "recordon", "peek", "volumes", "attachments")

    def __init__(
        self,
        cluster: Cluster,
        crew: Workers,
        detaching: VolumeDetach | None,
        take: Take,
        close_again: Callable[[NodeState], None],
        end: End,
    ) -> None:
        self._cluster = cluster
        self._crew = crew
        self._detaching = detaching
        self._take = take
        self._close_again = close_again
        self._end = end
        # Errors in a row of what follows the attachments.
        self._doubts = 0

    def step(self, node: NodeState, now: float, selectors: list[str]) -> None:
        """Start whatever look is due at a node."""
        if node.phase != DRAINING:
            return
        if node.landed and now >= node.peek_at:
            # A pod that lands on a cordoned node hints at a cordon that somebody lifted.
            node.landed, node.peek_at = False, now + PEEK
            self._crew.start(("peek", node.name, node.recordons), partial(self._cluster.node_now, node.name))
        if node.settled() if node.check_at is None else node.check_at <= now:
            node.phase, node.check_at = CHECKING, None
            # What the selectors do not show any more may still be there.
            hidden = frozenset(node.departed) if selectors else frozenset()
            look = partial(self._look, node.name, selectors, hidden)
            self._crew.start(("check", node.name, node.cache.mark), look)

    def _look(self, name: str, selectors: list[str], hidden: frozenset[str]) -> tuple[Listed, Obj | None, list[Obj]]:
        return *self._cluster.pods_and_node(name, selectors), self._cluster.pods_left(name, hidden)

    def hear(self, kind: str, message: Message, nodes: dict[str, NodeState], now: float, wall: float) -> None:
        """Take in what a look gave. now, wall: the time, monotonic and of the API server."""
        if kind == "attachments":
            self._attachments(message, list(nodes.values()))
            return
        node = nodes[message.tag[1]]
        if node.over:
            return
        if message.error is not None:
            self._failed(kind, node, message.error, now)
        elif kind == "check":
            pods, fresh, hidden = message.value
            node.phase = DRAINING
            before = set(node.pods)
            self._take(node, pods, message.tag[2])
            if node.still_here(hidden, now, wall):
                node.check_at = now + PEEK
            elif node.settled():
                # Pods that nobody was seen to remove are as strange as those that are gone just now.
                unseen = node.filled and not (node.pods or node.departed or node.touched)
                self._settled(node, fresh, unseen or bool(before - set(node.pods)), now)
        elif kind == "peek":
            self._peeked(node, message.value, message.tag[2])
        elif kind == "recordon":
            node.phase = DRAINING
        else:
            self._volumes(node, message.value)

    def _failed(self, kind: str, node: NodeState, error: MaintenanceError, now: float) -> None:
        if kind == "peek":
            # A look too many: the check at the end will say what is wrong.
            return
        node.doubts += 1
        pause = retry_delay(error, node.doubts)
        if kind == "recordon" or pause is None:
            self._end(node, FAILED, error)
            return
        # If time is up before the next look, this is why.
        node.phase, node.error, node.check_at = DRAINING, error, now + pause

    def _settled(self, node: NodeState, fresh: Obj | None, vanished: bool, now: float) -> None:
        """Go on from a look at a node on which nothing is left to wait for. vanished: something was, just before."""
        node.error, node.doubts = None, 0
        doubted, node.unconfirmed = node.unconfirmed, fresh is None or vanished
        if node.unconfirmed and not doubted:
            node.check_at = now + CONFIRM
            return
        if self._is_another(node, fresh):
            return
        if fresh is None:
            node.warnings.append("node %s left the cluster while it was drained" % node.name)
        elif not is_unschedulable(fresh):
            self._opened_by_another(node)
            return
        else:
            node.node = fresh
        if self._detaching is not None and fresh is not None and not node.pods:
            self._detaching.begin(node)
        else:
            self._end(node, FAILED if node.pods else DRAINED, None)

    def _peeked(self, node: NodeState, fresh: Obj | None, recordons: int) -> None:
        # What was seen before the cordon was put back says nothing about now.
        current = node.phase == DRAINING and recordons == node.recordons and not self._is_another(node, fresh)
        if fresh is not None and not is_unschedulable(fresh) and current:
            self._opened_by_another(node)

    def _is_another(self, node: NodeState, fresh: Obj | None) -> bool:
        """End the drain of a node that left the cluster and has a successor of its name; tell whether it has."""
        another = fresh is not None and bool(node.closed_uid) and uid_of(fresh) != node.closed_uid
        if another:
            node.cordoned = is_unschedulable(fresh or {})
            text = "another node took its name while it was drained: run the task again if that one is meant"
            self._end(node, FAILED, Failed(text))
        return another

    def _opened_by_another(self, node: NodeState) -> None:
        if node.recordons > 0:
            node.cordoned = False
            text = "somebody else keeps uncordoning %s while it is drained: find out who, and stop that first"
            self._end(node, FAILED, Failed(text % node.name))
            return
        node.put_back()
        node.phase = CHECKING
        self._crew.start(("recordon", node.name), partial(self._close_again, node))

    def _volumes(self, node: NodeState, volumes: Any) -> None:
        if self._detaching is not None:
            self._detaching.found(node, volumes)
            self._end_detached([node])

    def _attachments(self, message: Message, nodes: list[NodeState]) -> None:
        waiting = [node for node in nodes if node.phase == DETACHING]
        if message.error is not None and self._detaching is not None:
            self._doubts += 1
            pause = retry_delay(message.error, self._doubts)
            if pause is not None:
                self._detaching.follow(Pause(pause))
            for node in waiting if pause is None else []:
                self._end(node, FAILED, message.error)
        elif self._detaching is not None:
            self._doubts = 0
            self._detaching.apply(message.value, nodes)
            self._end_detached(waiting)

    def _end_detached(self, nodes: list[NodeState]) -> None:
        for node in nodes:
            if VolumeDetach.done(node):
                self._end(node, DRAINED, None)
