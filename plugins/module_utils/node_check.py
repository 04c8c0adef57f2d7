# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make sure that a node that seems drained is: no pod came late, nobody opened it, its volumes are off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .cluster import Cluster
from .detach_watch import DetachWatch
from .errors import Failed
from .node_drain import CHECKING, DETACHING, DRAINED, DRAINING, FAILED, NodeDrain
from .objects import Obj, is_unschedulable
from .observe import Listed
from .workers import Crew, Message

# Seconds between two looks at a node on which pods keep landing.
PEEK = 2.0

Take = Callable[[NodeDrain, Listed], None]
End = Callable[..., None]  # of a node, its last phase, and the MaintenanceError that ended it or None


class NodeCheck:
    """The last steps of each node's drain.

    take: takes in a list of the node's pods; close_again: cordons a node that somebody opened; end: ends a node's
    drain with a phase and an error.
    """

    KINDS = ("check", "recordon", "peek", "volumes", "attachments")

    def __init__(
        self,
        cluster: Cluster,
        crew: Crew,
        detaching: DetachWatch | None,
        take: Take,
        close_again: Callable[[NodeDrain], None],
        end: End,
    ) -> None:
        self._cluster = cluster
        self._crew = crew
        self._detaching = detaching
        self._take = take
        self._close_again = close_again
        self._end = end

    def step(self, node: NodeDrain, now: float, selectors: list[str]) -> None:
        """Start whatever look is due at a node."""
        if node.phase != DRAINING:
            return
        if node.landed and now >= node.peek_at:
            # A pod that lands on a cordoned node hints at a cordon that somebody lifted.
            node.landed, node.peek_at = False, now + PEEK
            self._crew.start(("peek", node.name, node.recordons), partial(self._cluster.node_now, node.name))
        if node.settled():
            node.phase = CHECKING
            self._crew.start(("check", node.name), partial(self._cluster.pods_and_node, node.name, selectors))

    def hear(self, kind: str, message: Message, nodes: dict[str, NodeDrain]) -> None:
        """Take in what a look gave."""
        if kind == "attachments":
            self._attachments(message, list(nodes.values()))
            return
        node = nodes[message.tag[1]]
        if node.over:
            return
        if message.error is not None:
            # A peek is a look too many: the check at the end will say what is wrong.
            if kind != "peek":
                self._end(node, FAILED, message.error)
        elif kind == "check":
            self._checked(node, *message.value)
        elif kind == "peek":
            self._peeked(node, message.value, message.tag[2])
        elif kind == "recordon":
            node.phase = DRAINING
        else:
            self._volumes(node, message.value)

    def _checked(self, node: NodeDrain, pods: Listed, fresh: Obj | None) -> None:
        node.phase = DRAINING
        self._take(node, pods)
        if not node.settled():
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

    def _peeked(self, node: NodeDrain, fresh: Obj | None, recordons: int) -> None:
        # What was seen before the cordon was put back says nothing about now.
        current = node.phase == DRAINING and recordons == node.recordons
        if fresh is not None and not is_unschedulable(fresh) and current:
            self._opened_by_another(node)

    def _opened_by_another(self, node: NodeDrain) -> None:
        if node.recordons > 0:
            node.cordoned = False
            text = "somebody else uncordons %s again and again while it is drained" % node.name
            self._end(node, FAILED, Failed(text))
            return
        node.put_back()
        node.phase = CHECKING
        self._crew.start(("recordon", node.name), partial(self._close_again, node))

    def _volumes(self, node: NodeDrain, volumes: Any) -> None:
        if self._detaching is not None:
            self._detaching.found(node, volumes)
            self._end_detached([node])

    def _attachments(self, message: Message, nodes: list[NodeDrain]) -> None:
        waiting = [node for node in nodes if node.phase == DETACHING]
        if message.error is not None:
            for node in waiting:
                self._end(node, FAILED, message.error)
        elif self._detaching is not None:
            self._detaching.apply(message.value, nodes)
            self._end_detached(waiting)

    def _end_detached(self, nodes: list[NodeDrain]) -> None:
        for node in nodes:
            if DetachWatch.done(node):
                self._end(node, DRAINED, None)
