# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Close nodes to new pods and open them again, and believe it only when the node says so."""

from __future__ import annotations

from .cluster import Cluster
from .errors import Failed, MaintenanceError
from .node_drain import FAILED, NodeDrain
from .objects import is_unschedulable


def set_schedulable(cluster: Cluster, node: NodeDrain, wanted: bool, check_mode: bool) -> bool:
    """Bring a node to the wanted state; tell whether that took (or in check mode would take) a change.

    An API server that denies the change, or takes it and shows the node as before, raises: kubectl goes on to evict
    from a node that still accepts pods (https://github.com/kubernetes/kubectl/issues/1568).
    """
    if node.cordoned is not wanted:
        return False
    cluster.set_unschedulable(node.name, not wanted, dry_run=check_mode)
    if not check_mode:
        fresh = cluster.node_now(node.name)
        if fresh is None:
            raise Failed("node %s left the cluster while it was to be changed" % node.name)
        node.node = fresh
        if is_unschedulable(fresh) is wanted:
            raise Failed(
                "the API server took the change of node %s, but the node still is %s: something else sets it back"
                % (node.name, "schedulable" if not wanted else "unschedulable")
            )
    node.cordoned = not wanted
    return True


def cordon_all(cluster: Cluster, nodes: list[NodeDrain], check_mode: bool) -> bool:
    """Cordon every node; one that fails is noted as failed, with its error. Tell whether anything changed."""
    changed = False
    for node in nodes:
        try:
            changed = set_schedulable(cluster, node, False, check_mode) or changed
        except MaintenanceError as exc:
            node.error, node.phase = exc, FAILED
    return changed


def roll_back(cluster: Cluster, nodes: list[NodeDrain], policy: str) -> list[str]:
    """Lift this task's own cordons from nodes that failed, as C(on_failure) says; return warnings.

    The node is read again first: a cordon that somebody lifted or that was there before stays as it is.
    """
    warnings = []
    for node in nodes:
        own = node.cordoned and not node.cordoned_before
        if node.phase != FAILED or not own or (policy == "uncordon_if_untouched" and node.touched):
            continue
        try:
            fresh = cluster.node_now(node.name)
            if fresh is not None and is_unschedulable(fresh):
                node.rolled_back = set_schedulable(cluster, node, True, check_mode=False)
            else:
                node.cordoned = False
        except MaintenanceError as exc:
            warnings.append("%s could not be uncordoned after the failure: %s" % (node.name, exc.message))
    return warnings
