# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say in one sentence what became of nodes that were to be cordoned or uncordoned, however many they are."""

from __future__ import annotations

from .node_drain import NodeDrain
from .words import closed, counted, grouped, some


def marked(nodes: list[NodeDrain], state: str, rehearsed: bool) -> str:
    """Return the sentence. state: cordon or uncordon; rehearsed: nothing was changed."""
    if len(nodes) == 1:
        return _of_one(nodes[0], state, rehearsed)
    failed = [node for node in nodes if node.error is not None]
    kept = [node for node in nodes if _is_kept(node, state)]
    already = [node for node in nodes if node not in failed + kept and _was_so(node, state)]
    changed = [node for node in nodes if node not in failed + kept + already]
    said = []
    if failed:
        reasons = grouped([(node.name, node.error.message) for node in failed if node.error is not None])
        said.append("%s could not be %sed (%s)" % (counted(len(failed), "node"), state, reasons))
    if kept:
        holders = grouped([(node.name, "by " + node.kept_by) for node in kept])
        said.append("%s %s cordoned (%s)" % (counted(len(kept), "node"), _verb(kept, "stays", "stay"), holders))
    if changed or already:
        said.append(_as_wanted(changed, already, state, rehearsed))
    return closed("; ".join(said))


def _of_one(node: NodeDrain, state: str, rehearsed: bool) -> str:
    if node.error is not None:
        return "Node %s could not be %sed: %s" % (node.name, state, closed(node.error.message))
    if _is_kept(node, state):
        return "Node %s stays cordoned, by %s." % (node.name, node.kept_by)
    if _was_so(node, state):
        return "Node %s already is %s." % (node.name, "cordoned" if state == "cordon" else "schedulable")
    return "Node %s %s %sed." % (node.name, "would be" if rehearsed else "is", state)


def _as_wanted(changed: list[NodeDrain], already: list[NodeDrain], state: str, rehearsed: bool) -> str:
    if not changed:
        which = "cordoned" if state == "cordon" else "schedulable"
        verb = _verb(already, "already is", "already are")
        return "%s %s %s (%s)" % (counted(len(already), "node"), verb, which, _names(already))
    verb = "would be" if rehearsed else _verb(changed, "is", "are")
    text = "%s %s %sed (%s)" % (counted(len(changed), "node"), verb, state, _names(changed))
    if not already:
        return text
    return "%s, %d already %s (%s)" % (text, len(already), _verb(already, "was", "were"), _names(already))


def _is_kept(node: NodeDrain, state: str) -> bool:
    """Tell whether somebody else keeps a node cordoned."""
    return node.error is None and bool(node.kept_by) and state == "uncordon"


def _was_so(node: NodeDrain, state: str) -> bool:
    return node.cordoned_before == (state == "cordon")


def _verb(nodes: list[NodeDrain], one: str, more: str) -> str:
    return one if len(nodes) == 1 else more


def _names(nodes: list[NodeDrain]) -> str:
    return some(node.name for node in nodes)
