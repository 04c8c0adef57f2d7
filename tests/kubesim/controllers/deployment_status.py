# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Deployment's status: counts, Available, Progressing with its deadline, ReplicaFailure."""

from __future__ import annotations

from ..agenda import seconds_of
from ..objects import Object
from .deployment_scale import ReplicaSetsOf, max_unavailable, replicas_of
from .world import World

NO_DEADLINE = 2**31 - 1


def _count(obj: Object | None, key: str) -> int:
    return int(((obj or {}).get("status") or {}).get(key) or 0)


def condition_of(status: Object, kind: str) -> Object | None:
    """Return the condition of a type from a status."""
    return next((found for found in status.get("conditions") or () if found["type"] == kind), None)


def is_complete(deployment: Object, status: Object) -> bool:
    """Return whether all pods are of the new revision and available, and none is left of the old ones."""
    wanted = replicas_of(deployment)
    return bool(
        status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
        and status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 1)
    )


def next_status(world: World, sets: ReplicaSetsOf) -> Object:
    """Return the status that the Deployment should have now."""
    deployment, new, everything = sets.deployment, sets.new(), sets.all()
    available = sum(_count(found, "availableReplicas") for found in everything)
    counts = {
        "observedGeneration": deployment["metadata"].get("generation", 1),
        "replicas": sum(_count(found, "replicas") for found in everything),
        "updatedReplicas": _count(new, "replicas"),
        "readyReplicas": sum(_count(found, "readyReplicas") for found in everything),
        "availableReplicas": available,
        "unavailableReplicas": max(sum(replicas_of(found) for found in everything) - available, 0),
    }
    status: Object = {key: count for key, count in counts.items() if count}
    status["terminatingReplicas"] = sum(_count(found, "terminatingReplicas") for found in everything)
    before = deployment.get("status") or {}
    if "collisionCount" in before:
        status["collisionCount"] = before["collisionCount"]
    conditions = [dict(found) for found in before.get("conditions") or ()]
    _put(conditions, _availability(deployment, available, world.stamp()))
    _progress(conditions, deployment, new, status, world)
    _failures(conditions, new, sets.old(), world.stamp())
    status["conditions"] = conditions
    return status


def _entry(kind: str, value: str, reason: str, message: str, stamp: str) -> Object:
    return {
        "type": kind,
        "status": value,
        "lastUpdateTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def _put(conditions: list[Object], entry: Object, always: bool = False) -> None:
    """Set a condition; one of the same status and reason stays as it is unless `always`."""
    for index, found in enumerate(conditions):
        if found["type"] != entry["type"]:
            continue
        if found["status"] == entry["status"]:
            if found.get("reason") == entry["reason"] and not always:
                return
            entry = {**entry, "lastTransitionTime": found.get("lastTransitionTime", entry["lastTransitionTime"])}
        conditions[index] = entry
        return
    conditions.append(entry)


def _availability(deployment: Object, available: int, stamp: str) -> Object:
    if available >= replicas_of(deployment) - max_unavailable(deployment):
        return _entry("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", stamp)
    message = "Deployment does not have minimum availability."
    return _entry("Available", "False", "MinimumReplicasUnavailable", message, stamp)


def has_deadline(deployment: Object) -> bool:
    """Return whether its progress is timed."""
    deadline = deployment["spec"].get("progressDeadlineSeconds", 600)
    return deadline is not None and deadline != NO_DEADLINE


def _progress(conditions: list[Object], deployment: Object, new: Object | None, status: Object, world: World) -> None:
    if not has_deadline(deployment):
        conditions[:] = [found for found in conditions if found["type"] != "Progressing"]
        return
    stamp, present = world.stamp(), condition_of({"conditions": conditions}, "Progressing")
    reason = (present or {}).get("reason")
    if deployment["spec"].get("paused"):
        if reason not in ("DeploymentPaused", "ProgressDeadlineExceeded"):
            _put(conditions, _entry("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused", stamp))
        return
    if reason == "DeploymentPaused":
        _put(conditions, _entry("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed", stamp))
    if reason == "NewReplicaSetAvailable" and status.get("replicas", 0) == status.get("updatedReplicas", 0):
        return
    name = f'ReplicaSet "{new["metadata"]["name"]}"' if new else f'Deployment "{deployment["metadata"]["name"]}"'
    if is_complete(deployment, status):
        message = f"{name} has successfully progressed."
        _put(conditions, _entry("Progressing", "True", "NewReplicaSetAvailable", message, stamp))
    elif _has_progressed(deployment.get("status") or {}, status):
        _put(
            conditions,
            _entry("Progressing", "True", "ReplicaSetUpdated", f"{name} is progressing.", stamp),
            always=True,
        )
    elif _timed_out(deployment, present, world.now):
        message = f"{name} has timed out progressing."
        _put(conditions, _entry("Progressing", "False", "ProgressDeadlineExceeded", message, stamp))


def _has_progressed(before: Object, status: Object) -> bool:
    updated, was_updated = status.get("updatedReplicas", 0), before.get("updatedReplicas", 0)
    left, was_left = status.get("replicas", 0) - updated, before.get("replicas", 0) - was_updated
    grown = ("readyReplicas", "availableReplicas")
    return bool(
        updated > was_updated or left < was_left or any(status.get(key, 0) > before.get(key, 0) for key in grown)
    )


def _deadline(deployment: Object, present: Object) -> float:
    limit = deployment["spec"].get("progressDeadlineSeconds", 600)
    return float(seconds_of(present["lastUpdateTime"]) + limit)


def _timed_out(deployment: Object, present: Object | None, now: float) -> bool:
    if present is None or present.get("reason") == "NewReplicaSetAvailable":
        return False
    if present.get("reason") == "ProgressDeadlineExceeded":
        return True
    return _deadline(deployment, present) < now


def seconds_to_deadline(deployment: Object, status: Object, now: float) -> float | None:
    """Return in how many seconds the progress deadline must be checked; None when it need not."""
    present = condition_of(status, "Progressing")
    if present is None or deployment["spec"].get("paused") or not has_deadline(deployment):
        return None
    if present["reason"] in ("NewReplicaSetAvailable", "ProgressDeadlineExceeded") or is_complete(deployment, status):
        return None
    return max(_deadline(deployment, present) - now, 0.0) + 1.0  # times are kept in whole seconds


def _failures(conditions: list[Object], new: Object | None, old: list[Object], stamp: str) -> None:
    for replica_set in [new, *old] if new else old:
        failed = condition_of((replica_set or {}).get("status") or {}, "ReplicaFailure")
        if failed is not None:
            entry = _entry("ReplicaFailure", failed["status"], failed["reason"], failed["message"], stamp)
            _put(conditions, entry)
            return
    conditions[:] = [found for found in conditions if found["type"] != "ReplicaFailure"]
