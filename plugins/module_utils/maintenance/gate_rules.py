# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a batch of nodes may be taken out of a cluster. Each rule sees all of it and reports all it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..cluster.cordon_owners import owners_of
from ..objects import Obj, condition_of, is_ready, is_unschedulable, labels_of, mapping_at, mappings_at, name_of
from ..reasons import GateReason
from ..text import abbreviate, count_noun

# https://kubernetes.io/docs/reference/labels-annotations-taints/#node-role-kubernetes-io-control-plane
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_ETCD = "etcd"
_SYSTEM = "kubernetes.io/os"
# Taints that keep pods away which do not tolerate them:
# https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
_HARD = ("NoSchedule", "NoExecute")
# Taints by which Kubernetes itself reports a node's state.
_STATE = "node.kubernetes.io/"


class Refusal(NamedTuple):
    """What blocks the batch: a reason that playbooks may test, the node concerned ("" for none), a text.

    final: waiting does not change it; names: whom to ask, or what to repair, where that is not the node.
    """

    reason: GateReason
    node: str
    message: str
    final: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """What is to be taken out together, and for whom. ignore: nodes whose state does not count."""

    nodes: tuple[str, ...]
    owner: str = ""
    ignore: tuple[str, ...] = ()


def is_control_plane(node: Obj) -> bool:
    """Return whether the node belongs to the control plane."""
    return any(label in labels_of(node) for label in _CONTROL_PLANE)


def others_ready(nodes: list[Obj], batch: Batch) -> list[Refusal]:
    """Refuse while a node outside the batch is not Ready: the cluster has less room than it should."""
    found = []
    for node in nodes:
        name = name_of(node)
        if name in batch.nodes or name in batch.ignore or is_ready(node):
            continue
        ready = condition_of(node, "Ready")
        text = str(ready.get("message") or ready.get("reason") or "no word from its kubelet").rstrip(".")
        found.append(Refusal(GateReason.NODE_NOT_READY, name, f"node {name} is not Ready ({text})"))
    return found


def no_other_owner(nodes: list[Obj], batch: Batch) -> list[Refusal]:
    """Refuse while a node is cordoned by another owner: another maintenance is in progress."""
    found = []
    for node in nodes:
        name = name_of(node)
        foreign = {owner: entry for owner, entry in owners_of(node).entries.items() if owner != batch.owner}
        if not foreign or name in batch.ignore:
            continue
        owners = ", ".join(
            f"{owner} since {mapping_at(entry).get('since') or '?'}" for owner, entry in sorted(foreign.items())
        )
        text = f"node {name} is under maintenance by another owner ({owners})"
        found.append(Refusal(GateReason.FOREIGN_OWNER, name, text, names=tuple(sorted(foreign))))
    return found


def one_control_plane_node(nodes: list[Obj], batch: Batch) -> list[Refusal]:
    """Refuse a batch with several nodes of the control plane."""
    together = [name_of(node) for node in nodes if is_control_plane(node) and name_of(node) in batch.nodes]
    if len(together) < 2:
        return []
    text = (
        f"{count_noun(len(together), 'node')} of the control plane are in one batch ({abbreviate(together)}), "
        "but must be taken out one at a time"
    )
    return [Refusal(GateReason.CONTROL_PLANE_BATCH, together[0], text, final=True)]


def control_plane_survives(
    nodes: list[Obj], batch: Batch, static_pods: Mapping[str, list[dict[str, Any]]]
) -> list[Refusal]:
    """Refuse to take a control plane node unless the remaining control plane stays available.

    static_pods: of each node of the control plane, as node_facts gives them. etcd needs more than half of its members:
    https://etcd.io/docs/latest/faq/#why-an-odd-number-of-cluster-members
    """
    control_plane = [name_of(node) for node in nodes if is_control_plane(node)]
    leaving = [name for name in control_plane if name in batch.nodes]
    if not leaving:
        return []
    found = []
    staying = [name for name in control_plane if name not in leaving and name not in batch.ignore]
    for name in staying:
        unready = [pod["name"] for pod in static_pods.get(name, []) if not pod["ready"]]
        if unready:
            text = f"the control plane on node {name} is not ready ({abbreviate(unready)})"
            found.append(Refusal(GateReason.CONTROL_PLANE_UNREADY, name, text))
    return found + _etcd_keeps_quorum(control_plane, leaving, staying, static_pods)


def _etcd_keeps_quorum(
    control_plane: list[str], leaving: list[str], staying: list[str], static_pods: Mapping[str, list[dict[str, Any]]]
) -> list[Refusal]:
    members = [name for name in control_plane if _etcd_of(static_pods.get(name, []))]
    healthy = [name for name in members if name in staying and all(p["ready"] for p in _etcd_of(static_pods[name]))]
    needed = len(members) // 2 + 1
    # One or two members cannot lose one and keep a majority; clusters with so few accept the outage.
    if len(members) <= 2 or len(healthy) >= needed or not any(name in members for name in leaving):
        return []
    text = (
        f"without {abbreviate(leaving)}, {len(healthy)} of {len(members)} etcd members would be ready, "
        f"and {needed} are needed"
    )
    missing = tuple(name for name in members if name not in (*healthy, *leaving)) or tuple(leaving)
    return [Refusal(GateReason.ETCD_QUORUM, leaving[0], text, names=missing)]


def warnings_for(nodes: list[Obj], batch: Batch) -> list[str]:
    """Return what should be known though it refuses nothing."""
    return [*few_of_the_control_plane(nodes, batch), *no_node_for_pods(nodes, batch), *unknown_names(nodes, batch)]


def unknown_names(nodes: list[Obj], batch: Batch) -> list[str]:
    """Warn of names to ignore that no node has. A node may have been removed since, so it is not an error."""
    known = {name_of(node) for node in nodes}
    unknown = [name for name in batch.ignore if name not in known]
    if not unknown:
        return []
    return [
        f"ignore_nodes has {abbreviate(unknown)}, which the cluster does not; its nodes are {abbreviate(sorted(known))}"
    ]


def few_of_the_control_plane(nodes: list[Obj], batch: Batch) -> list[str]:
    """Warn if the API server may be away together with the batch."""
    control_plane = [name_of(node) for node in nodes if is_control_plane(node)]
    leaving = [name for name in control_plane if name in batch.nodes]
    if not leaving or len(control_plane) > 2:
        return []
    size, names = count_noun(len(control_plane), "node"), abbreviate(leaving)
    return [f"the control plane has {size}, so the API server or etcd may be away while {names} is down"]


def no_node_for_pods(nodes: list[Obj], batch: Batch) -> list[str]:
    """Warn if no node is left where pods of the batch could go.

    A pod may run where it runs now, so it tolerates the taints of its node. It could go to a node outside the batch
    that is Ready, not cordoned, of the same operating system, and without other taints.
    """
    staying = [node for node in nodes if name_of(node) not in batch.nodes]
    open_ones = [node for node in staying if is_ready(node) and not is_unschedulable(node)]
    leaving = [node for node in nodes if name_of(node) in batch.nodes]
    stuck = [name_of(node) for node in leaving if not any(_takes_over(other, node) for other in open_ones)]
    if not stuck:
        return []
    why = [f"{name_of(node)} {_closed_by(node)}" for node in staying]
    text = (
        f"no node is left for the pods of {abbreviate(stuck)} ({abbreviate(why) or 'the batch is the whole cluster'}), "
        "so they will wait until one is available again"
    )
    return [text + ("; take fewer nodes at once" if len(leaving) > 1 else "")]


def _takes_over(other: Obj, node: Obj) -> bool:
    known = {taint for taint in _hard_taints(node) if not taint[0].startswith(_STATE)}
    return _hard_taints(other) <= known and labels_of(other).get(_SYSTEM) == labels_of(node).get(_SYSTEM)


def _closed_by(node: Obj) -> str:
    if not is_ready(node):
        return "is not Ready"
    return "is cordoned" if is_unschedulable(node) else "has taints or another operating system"


def _hard_taints(node: Obj) -> set[tuple[str, str]]:
    taints = mappings_at(node, "spec", "taints")
    return {(str(taint.get("key")), str(taint.get("value") or "")) for taint in taints if taint.get("effect") in _HARD}


def _etcd_of(pods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [pod for pod in pods if pod["component"] == _ETCD]
