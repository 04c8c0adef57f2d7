# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions about pods, and pods made from templates."""

from __future__ import annotations

from ..agenda import seconds_of
from ..api.defaults import fill
from ..errors import ApiStatus
from ..objects import Object, controller_of, copied, is_pod_ready, is_terminating
from .world import World


def phase(pod: Object) -> str:
    """Return status.phase; a pod without one is Pending."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def is_finished(pod: Object) -> bool:
    """Return whether its containers have ended for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Object) -> bool:
    """Return whether a controller counts it: neither finished nor going away."""
    return not is_finished(pod) and not is_terminating(pod)


def condition(pod: Object, kind: str) -> Object | None:
    """Return the pod's condition of a type."""
    for found in (pod.get("status") or {}).get("conditions") or ():
        if found.get("type") == kind:
            return dict(found)
    return None


def available_in(pod: Object, min_ready_seconds: int, now: float) -> float | None:
    """Return in how many seconds a pod counts as available: 0 when it does, None when it is not even ready."""
    if not is_pod_ready(pod):
        return None
    if not min_ready_seconds:
        return 0.0
    ready = condition(pod, "Ready") or {}
    since = ready.get("lastTransitionTime")
    if not since:
        return None
    return max(seconds_of(since) + min_ready_seconds - now, 0.0)


def is_available(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Return whether it has been ready for long enough."""
    return available_in(pod, min_ready_seconds, now) == 0.0


def reference_to(owner: Object) -> Object:
    """Return the ownerReference that makes `owner` the controller of what carries it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Return whether `owner` is the object's controller."""
    controller = controller_of(obj)
    return controller is not None and controller.get("uid") == owner["metadata"]["uid"]


def pod_of(template: Object, owner: Object, name: str | None = None) -> Object:
    """Return a new pod of a template as admission would let it in, with a generated name unless one is given."""
    template = copied(template)
    meta = template.get("metadata") or {}
    metadata: Object = {"name": name} if name else {}
    metadata["generateName"] = owner["metadata"]["name"] + "-"
    metadata["namespace"] = owner["metadata"]["namespace"]
    for kept in ("labels", "annotations", "finalizers"):
        if meta.get(kept):
            metadata[kept] = meta[kept]
    metadata["ownerReferences"] = [reference_to(owner)]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}
    fill(pod)
    return pod


def create(world: World, pod: Object) -> Object | ApiStatus:
    """Create the pod and return it, or the refusal when there is one."""
    try:
        return world.store.create(pod)
    except ApiStatus as refusal:
        return refusal
