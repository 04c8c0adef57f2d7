# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes objects as plain dicts, with the options that tests want.

Each has a uid made from its kind, namespace and name, so that owners can be named before anything is stored; pass `uid`
for another object of the same name. Times are those of the simulator's test epoch unless given.
"""

from __future__ import annotations

from .metadata import SINCE, metadata, owner_reference, uid_of
from .nodes import namespace, node
from .pods import IMAGE, behaviour, pod, pod_spec, pod_status
from .policy import budget, quota
from .volumes import claim, csi_node, storage_class, volume, volume_attachment
from .workloads import cron_job, daemon_set, deployment, job, pods_of, replica_set, stateful_set, template

__all__ = [
    "IMAGE",
    "SINCE",
    "behaviour",
    "budget",
    "claim",
    "cron_job",
    "csi_node",
    "daemon_set",
    "deployment",
    "job",
    "metadata",
    "namespace",
    "node",
    "owner_reference",
    "pod",
    "pod_spec",
    "pod_status",
    "pods_of",
    "quota",
    "replica_set",
    "stateful_set",
    "storage_class",
    "template",
    "uid_of",
    "volume",
    "volume_attachment",
]
