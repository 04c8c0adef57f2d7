# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed set of reasons for which a pod is still on its node, or was skipped. Playbooks test them: they are API.

A value is added here, in RETURN of k8s_node_drain and in docs/guides/stuck-drains.md; none is ever renamed.
"""

from __future__ import annotations

from enum import Enum


class Reason(str, Enum):
    """C(reason) of a pod in a result, each with its meaning."""

    meaning: str

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

    def __new__(cls, value: str, meaning: str) -> Reason:
        """Make a member that is its value, and has its meaning beside it."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    def __str__(self) -> str:
        # Python 3.10 would write Reason.MIRROR into a sentence.
        return str(self.value)
