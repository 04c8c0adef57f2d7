# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A StatefulSet's status."""

from __future__ import annotations

from ..objects import Object, is_pod_ready, is_terminating
from . import pods
from .deployment_scale import replicas_of
from .history import POD_LABEL


def next_status(stateful_set: Object, members: list[Object], current: str, update: str, now: float) -> Object:
    """Return the status for these pods; a finished rollout makes the update revision the current one."""
    minimum = stateful_set["spec"].get("minReadySeconds", 0)
    running = [pod for pod in members if pods.phase(pod) == "Running" and is_pod_ready(pod)]
    labels = [(pod["metadata"].get("labels") or {}).get(POD_LABEL) for pod in members if not is_terminating(pod)]
    ready, updated, on_current = len(running), labels.count(update), labels.count(current)
    wanted = replicas_of(stateful_set)
    rolls = (stateful_set["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate") == "RollingUpdate"
    if rolls and wanted == updated == ready == len(members):
        current, on_current = update, updated
    status: Object = {
        "observedGeneration": stateful_set["metadata"].get("generation", 1),
        "replicas": len(members),
        "readyReplicas": ready,
        "currentReplicas": on_current,
        "updatedReplicas": updated,
        "currentRevision": current,
        "updateRevision": update,
        "collisionCount": (stateful_set.get("status") or {}).get("collisionCount", 0),
        "availableReplicas": sum(pods.is_available(pod, minimum, now) for pod in running),
    }
    for omitted in ("readyReplicas", "currentReplicas", "updatedReplicas"):
        if not status[omitted]:
            del status[omitted]
    return status
