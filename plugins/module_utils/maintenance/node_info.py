# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read nodes once and return their facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cluster.cluster import Cluster
from ..cluster.context import Context
from ..cluster.nodes import CSI_DRIVERS, DAEMONSET_PODS, STATIC_PODS, daemonset_pods, node_facts, static_pods
from ..objects import name_of
from ..option_checks import distinct_texts
from ..runtime.clock import Deadline
from ..text import count_noun

# One read need not outlast a long outage, because tasks that wait for a node repeat it.
MAX_SECONDS = 60.0


@dataclass(frozen=True)
class NodeChoice:
    """Which nodes: those of these names, or those that match all selectors; with neither, all.

    gather: what to return beside their own facts.
    """

    names: tuple[str, ...] = ()
    label_selectors: tuple[str, ...] = ()
    gather: tuple[str, ...] = ()


def choice_from(params: Mapping[str, Any]) -> NodeChoice:
    """Return the choice that the module's parameters describe; raise InvalidOptions for an empty name or selector."""
    return NodeChoice(
        distinct_texts("name", params.get("name"), "the name of a node"),
        distinct_texts("label_selectors", params.get("label_selectors"), "a label selector such as pool=a"),
        tuple(params.get("gather") or ()),
    )


def read_nodes(choice: NodeChoice, context: Context) -> dict[str, Any]:
    """Return the module's result, as RETURN in its documentation describes it."""
    cluster = Cluster(context.rest_for(Deadline(context.clock, MAX_SECONDS)))
    if choice.names:
        nodes = sorted((cluster.node(name) for name in choice.names), key=name_of)
    else:
        nodes = cluster.nodes(list(choice.label_selectors), option="label_selectors")
    facts = [dict(node_facts(node), **_gathered(name_of(node), cluster, choice.gather)) for node in nodes]
    return {"changed": False, "msg": _sentence(facts), "nodes": facts}


def _gathered(node: str, cluster: Cluster, wanted: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if DAEMONSET_PODS in wanted or STATIC_PODS in wanted:
        pods = cluster.pods_on(node, []).items
        if DAEMONSET_PODS in wanted:
            found[DAEMONSET_PODS] = daemonset_pods(pods)
        if STATIC_PODS in wanted:
            found[STATIC_PODS] = static_pods(pods)
    if CSI_DRIVERS in wanted:
        found[CSI_DRIVERS] = cluster.csi_drivers(node)
    return found


def _sentence(facts: list[dict[str, Any]]) -> str:
    waiting = sum(not node["ready"] for node in facts)
    return count_noun(len(facts), "node") + (f", {waiting} of them not ready." if waiting else ".")
