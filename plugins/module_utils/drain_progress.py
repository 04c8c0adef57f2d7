# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell how a task on some nodes gets on: the node's name, then what is new there."""

from __future__ import annotations

from collections.abc import Callable

from .node_drain import DRAINED, FAILED, WAITING, NodeDrain
from .node_lines import NodeLines, standing
from .objects import Obj
from .pod_drain import PodDrain
from .waiting import Deadline
from .words import counted, lasting, some

# Nodes of which one line tells. The others have the next line.
MOST_NODES = 4


class DrainProgress:
    """What there is to tell of the nodes; see progress.Source. budget_of: tells the budget that holds a pod.

    Warnings are no lines: the result carries them, and Ansible shows them at the task's end.
    """

    def __init__(
        self,
        nodes: list[NodeDrain],
        deadline: Deadline,
        budget_of: Callable[[PodDrain], Obj | None],
    ) -> None:
        self._waiting = [NodeLines(node, budget_of) for node in nodes]
        self._nodes = nodes
        self._deadline = deadline

    def changes(self, detail: bool) -> str:
        """Return what is new on some of the nodes; nodes of which the same is to be said stand together."""
        said: dict[str, list[str]] = {}
        told = []
        for lines in self._waiting:
            if len(said) == MOST_NODES:
                break
            text = "; ".join(lines.changes(detail))
            if text:
                said.setdefault(text, []).append(lines.node.name)
                told.append(lines)
        # Who was heard waits behind the others.
        self._waiting = [lines for lines in self._waiting if lines not in told] + told
        return ". ".join("%s: %s" % (some(names), text) for text, names in said.items())

    def summary(self) -> str:
        """Return how far the nodes are that are being drained, and how much time is left."""
        active = [node for node in self._nodes if node.phase not in (WAITING, DRAINED, FAILED)]
        parts = ["%s: %s" % (node.name, standing(node)) for node in active[:MOST_NODES]]
        parts += ["%s more" % counted(len(active) - MOST_NODES, "node")] if len(active) > MOST_NODES else []
        for phase, words in ((DRAINED, "drained"), (FAILED, "failed"), (WAITING, "to come")):
            count = sum(1 for node in self._nodes if node.phase == phase)
            parts += ["%s %s" % (counted(count, "node"), words)] if count else []
        if not self._deadline.unlimited:
            left, whole = lasting(self._deadline.remaining()), lasting(self._deadline.seconds)
            parts.append("%s of %s left" % (left, whole))
        return "; ".join(parts)
