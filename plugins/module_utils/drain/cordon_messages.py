# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Summarize in a sentence or two how cordoning or uncordoning nodes ended, also for hundreds of nodes."""

from __future__ import annotations

from ..cluster.cordon_owners import UNNAMED
from ..text import abbreviate, count_noun, end_sentence, group_by_text
from .node import NodeState


def cordon_message(nodes: list[NodeState], state: str, check_mode: bool) -> str:
    """Return the task's C(msg) for C(state) cordon or uncordon."""
    if len(nodes) == 1:
        return _single_node(nodes[0], state, check_mode)
    failed = [node for node in nodes if node.error is not None]
    kept = [node for node in nodes if _is_kept(node, state)]
    already = [node for node in nodes if node not in failed + kept and _was_already(node, state)]
    changed = [node for node in nodes if node not in failed + kept + already]
    parts = []
    if failed:
        reasons = group_by_text([(node.name, node.error.message) for node in failed if node.error is not None])
        parts.append(f"{count_noun(len(failed), 'node')} could not be {state}ed ({reasons})")
    if kept:
        holders = group_by_text([(node.name, "by " + node.cordon.kept_by) for node in kept])
        parts.append(f"{count_noun(len(kept), 'node')} {_verb(kept, 'stays', 'stay')} cordoned ({holders})")
    if changed or already:
        parts.append(_succeeded(changed, already, state, check_mode))
    return end_sentence("; ".join(parts)) + _how_to_uncordon(kept)


def _single_node(node: NodeState, state: str, check_mode: bool) -> str:
    if node.error is not None:
        return f"Node {node.name} could not be {state}ed: {end_sentence(node.error.message)}"
    if _is_kept(node, state):
        return f"Node {node.name} stays cordoned, by {node.cordon.kept_by}.{_how_to_uncordon([node])}"
    if _was_already(node, state):
        return f"Node {node.name} is already {_adjective(state)}."
    return f"Node {node.name} {'would be' if check_mode else 'is'} {state}ed."


def _succeeded(changed: list[NodeState], already: list[NodeState], state: str, check_mode: bool) -> str:
    if not changed:
        verb = _verb(already, "is already", "are already")
        return f"{count_noun(len(already), 'node')} {verb} {_adjective(state)} ({_names(already)})"
    verb = "would be" if check_mode else _verb(changed, "is", "are")
    text = f"{count_noun(len(changed), 'node')} {verb} {state}ed ({_names(changed)})"
    if not already:
        return text
    return f"{text}, {len(already)} already {_verb(already, 'was', 'were')} ({_names(already)})"


def _how_to_uncordon(kept: list[NodeState]) -> str:
    """Return how to lift a cordon that has no owner."""
    names = [node.name for node in kept if node.cordon.kept_by == UNNAMED]
    return f" To make {abbreviate(names)} schedulable, uncordon without cordon_owner." if names else ""


def _is_kept(node: NodeState, state: str) -> bool:
    """Return whether the node stays cordoned because others cordoned it, too."""
    return node.error is None and bool(node.cordon.kept_by) and state == "uncordon"


def _was_already(node: NodeState, state: str) -> bool:
    return node.cordon.cordoned_before == (state == "cordon")


def _adjective(state: str) -> str:
    return "cordoned" if state == "cordon" else "schedulable"


def _verb(nodes: list[NodeState], singular: str, plural: str) -> str:
    return singular if len(nodes) == 1 else plural


def _names(nodes: list[NodeState]) -> str:
    return abbreviate(node.name for node in nodes)
