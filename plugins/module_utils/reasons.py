# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reasons in results, one closed set for each module. Playbooks test them: they are API, and none is ever renamed.

A value is added here and in RETURN of the module; those of pods in docs/guides/stuck-drains.md, too.
"""

from __future__ import annotations

from enum import Enum


class ReasonEnum(str, Enum):
    """A closed set of reasons, each with its meaning."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> ReasonEnum:
        """Make a member that is its value, and has its meaning beside it."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    def __str__(self) -> str:
        # Python 3.10 would write Reason.MIRROR into a sentence.
        return str(self.value)


class Reason(ReasonEnum):
    """C(reason) of a pod that is still on its node, or was skipped."""

    # Evictions that are refused.
    PDB_NO_BUDGET = "pdb_no_budget", "its disruption budget allows no disruption at present"
    PDB_DEADLOCK = "pdb_deadlock", "its disruption budget lets no pod go though all are healthy; somebody must act"
    PDB_MULTIPLE = "pdb_multiple", "several disruption budgets select the pod, and the API server evicts no such pod"
    PDB_STALE = "pdb_stale", "the disruption budget's controller has not caught up"
    WEBHOOK_DENIED = "webhook_denied", "an admission webhook or policy denied the eviction"
    FORBIDDEN = "forbidden", "the account may not evict it"
    API_ERROR = "api_error", "the API server answered with errors until the end"
    NAMESPACE_TERMINATING = (
        "namespace_terminating",
        "its namespace is being deleted, and the pod is not marked as deleted yet",
    )
    # Pods that are on their way.
    TERMINATING = "terminating", "it is shutting down"
    TERMINATING_OVERDUE = "terminating_overdue", "it should have ended by now"
    FINALIZER = "finalizer", "it has ended, and a finalizer keeps the object"
    VOLUME_ATTACHED = "volume_attached", "the pod is gone, but its volume is still attached to the node"
    # Pods that the options do not allow to be evicted.
    UNMANAGED = "unmanaged", "it has no controller, and delete_options.force is not set"
    EMPTYDIR = "emptydir", "it has emptyDir volumes, and delete_options.delete_emptydir_data is not set"
    DAEMONSET = "daemonset", "a DaemonSet manages it, and delete_options.ignore_daemonsets is not set"
    DAEMONSET_GONE = "daemonset_gone", "its DaemonSet does not exist any more, and delete_options.force is not set"
    # Pods that are skipped.
    MIRROR = "mirror", "a static pod, which the node's kubelet runs from a file"
    SKIP_DELETED = "skip_deleted", "it was deleted so long ago that skip_wait_for_delete_timeout gives it up"
    # What nobody asked for yet.
    NOT_TRIED = "not_tried", "its turn did not come"


class GateReason(ReasonEnum):
    """C(reason) of a refusal of k8s_maintenance_gate."""

    NODE_NOT_READY = "node_not_ready", "a node outside the batch is not Ready"
    FOREIGN_OWNER = "foreign_owner", "a node is cordoned by another owner"
    CONTROL_PLANE_BATCH = "control_plane_batch", "the batch has several nodes of the control plane"
    CONTROL_PLANE_UNREADY = "control_plane_unready", "the control plane is not ready on a node that would remain"
    ETCD_QUORUM = "etcd_quorum", "etcd would lose the majority of its members"
    WINDOW_CLOSED = "window_closed", "the maintenance window is not open, or closes too soon"
    WINDOW_PAST = "window_past", "the maintenance window does not open again"
    FORBIDDEN = "forbidden", "the account lacks a right that the maintenance needs"
    API_SERVER = "api_server", "the API server does not answer"


class UnmetReason(ReasonEnum):
    """C(reason) of what a node lacks, in C(lacks) of k8s_node_wait."""

    NOT_REBOOTED = "not_rebooted", "it has the boot ID of before the reboot, or none"
    NOT_READY = "not_ready", "it is not Ready"
    KUBELET_VERSION = "kubelet_version", "its kubelet has another version"
    TAINTS = "taints", "it has taints that are not expected"
    DAEMONSET_PODS = "daemonset_pods", "a DaemonSet has no ready pod on it"
    CSI_DRIVERS = "csi_drivers", "a storage driver is not registered on it"
    GONE = "gone", "it is not in the cluster any more"
    API_SERVER = "api_server", "the API server does not answer, or refuses what it allowed before"
