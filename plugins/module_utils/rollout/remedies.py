# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what somebody can do about a pod that keeps a rollout from being complete."""

from __future__ import annotations

from .pod_status import Trouble

# By reason; a paused Deployment's words hold its remedy. The guide on rollout status has more of each.
_REMEDIES = {
    "image_pull": "correct the image's name or the pull secret",
    "container_config": "create the ConfigMap, Secret or key that is missing, or correct its name in the template",
    "container_create": "correct the container's command, mounts or security context",
    "crash_loop": "see its log for why it ends",
    "oom_killed": "raise its memory limit, or find out what uses so much",
    "init_failed": "see its log for why it fails",
    "probe_failed": "see why its probe fails, or give a slow starter a startup probe",
    "unschedulable": "make room on the nodes, or correct what keeps it from them",
    "volume": "see its PersistentVolumeClaim and the storage driver of its node",
    "sandbox": "see the network plugin and the container runtime of its node",
    "pod_failed": "see what its node lacks",
    "quota": "raise the quota, or let the rollout surge less",
    "create_refused": "do what the refusal asks for, or ask those who made the rule",
    "not_created": "see the events of the workload, and whether kube-controller-manager is running",
    "scheduling_gated": "find out who removes the gate",
    "starting": "give it more time (wait_timeout), or see the pod's events",
    "not_ready": "see the container's log and its readiness probe",
    "terminating": "give it more time (wait_timeout), or see what its node's kubelet is waiting for",
    "forbidden": "grant the account the right to list pods there",
}


def with_remedy(trouble: Trouble) -> str:
    """Return a trouble's message, without a stop at its end, and what to do."""
    message, remedy = trouble.message.rstrip("."), _REMEDIES.get(trouble.reason)
    return "%s; %s" % (message, remedy) if remedy else message
