# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what to do about the reasons for which a batch of nodes may not be taken out.

Options have the names of the module's, with the variable of the role node_patch behind them, because a remedy is read
where either is in use.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..reasons import GateReason
from ..text import abbreviate
from .gate_rules import Refusal

# By reason, for one node or several.
_REMEDIES = {
    GateReason.NODE_NOT_READY: "repair {nodes}, or list {them} in ignore_nodes (node_patch_gate_ignore_nodes)",
    GateReason.FOREIGN_OWNER: (
        "wait for {names} to finish; if that has happened already, uncordon {nodes} in that name (cordon_owner, in "
        "the role node_drain_cordon_owner), "
        "or list {them} in ignore_nodes (node_patch_gate_ignore_nodes)"
    ),
    GateReason.CONTROL_PLANE_BATCH: "take them one at a time, in a play with serial: 1",
    GateReason.CONTROL_PLANE_UNREADY: "repair the control plane on {nodes} first",
    GateReason.ETCD_QUORUM: (
        "repair etcd on {names} first, because without a majority of its members the cluster stands still"
    ),
    GateReason.WINDOW_CLOSED: "start again while it is open, or change the option window (node_patch_window)",
    GateReason.WINDOW_PAST: "give the option window (node_patch_window) a later end (not_after), or leave it out",
    GateReason.FORBIDDEN: (
        "grant these rights; the playbook kubeops.maintenance.rbac writes a manifest with all of them"
    ),
}


def remedies(refusals: Iterable[Refusal]) -> list[str]:
    """Return a sentence for each reason about which something can be done."""
    groups: dict[GateReason, list[Refusal]] = {}
    for refusal in refusals:
        groups.setdefault(refusal.reason, []).append(refusal)
    return [text for group in groups.values() if (text := remedy(group))]


def remedy(group: list[Refusal]) -> str:
    """Return what to do about refusals of one reason, as a sentence; "" if there is nothing but to wait."""
    nodes = list(dict.fromkeys(refusal.node for refusal in group))
    names = list(dict.fromkeys(name for refusal in group for name in refusal.names))
    words = {"nodes": abbreviate(nodes), "names": abbreviate(names), "them": "it" if len(nodes) == 1 else "them"}
    text = _REMEDIES.get(group[0].reason, "").format(**words)
    return text[:1].upper() + text[1:] + "." if text else ""
