# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How objects begin and end, what a deletion does to them. Rules: BeforeDelete of the API server."""

from __future__ import annotations

from .agenda import seconds_of, timestamp
from .objects import Object, copied

FOREGROUND = "foregroundDeletion"


def deleted(old: Object, grace: int | None, now: float, background: bool = True) -> tuple[Object, bool]:
    """Return the object as a deletion leaves it, and whether it is gone then; `grace` in seconds, None: its own."""
    obj = copied(old)
    meta = obj["metadata"]
    if grace is not None and grace < 0:
        grace = 1
    if not background and FOREGROUND not in (meta.get("finalizers") or ()):
        meta["finalizers"] = [*(meta.get("finalizers") or ()), FOREGROUND]
    if not meta.get("deletionTimestamp"):
        seconds = _graceful_seconds(obj, grace)
        if "generation" in meta:
            meta["generation"] += 1
        meta["deletionTimestamp"] = timestamp(now + seconds)
        meta["deletionGracePeriodSeconds"] = seconds
    elif grace is not None and grace < meta.get("deletionGracePeriodSeconds", 0):
        # may only be shortened: counted from when the deletion began, not from now
        began = seconds_of(meta["deletionTimestamp"]) - meta["deletionGracePeriodSeconds"]
        meta["deletionTimestamp"] = timestamp(began + grace)
        meta["deletionGracePeriodSeconds"] = grace
    if obj["kind"] == "Namespace":
        meta.pop("deletionGracePeriodSeconds", None)
        obj.setdefault("status", {})["phase"] = "Terminating"
    return obj, deletion_is_due(obj)


def deletion_is_due(obj: Object) -> bool:
    """Return whether nothing keeps an object that is being deleted: no finalizer, no grace."""
    meta = obj["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers"):
        return False
    if obj["kind"] == "Namespace" and obj.get("spec", {}).get("finalizers"):
        return False
    return not meta.get("deletionGracePeriodSeconds")


def fill_namespace(obj: Object) -> None:
    """Give a namespace, in place, the label, finalizer and phase that each has; leave other kinds alone."""
    if obj["kind"] != "Namespace":
        return
    meta = obj["metadata"]
    meta["labels"] = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta["name"]}
    obj["spec"] = {"finalizers": ["kubernetes"], **(obj.get("spec") or {})}
    obj["status"] = {"phase": "Active", **(obj.get("status") or {})}


def wanted(obj: Object) -> Object:
    """Return the spec whose change makes a new generation: binding a pod to its node does not."""
    spec: Object = obj.get("spec") or {}
    if obj["kind"] == "Pod":
        return {key: value for key, value in spec.items() if key != "nodeName"}
    return spec


def _graceful_seconds(obj: Object, grace: int | None) -> int:
    """Return how long containers get to stop: only those of a bound pod that has not finished."""
    spec: Object = obj.get("spec") or {}
    if obj["kind"] != "Pod" or not spec.get("nodeName"):
        return 0
    if (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    own: int = spec.get("terminationGracePeriodSeconds", 30)
    return own if grace is None else grace
