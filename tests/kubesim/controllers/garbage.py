# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Garbage collection: what belonged to an object that is gone goes too."""

from __future__ import annotations

from ..objects import Object, is_terminating
from .workqueue import WorkQueue
from .world import World

FOREGROUND = "foregroundDeletion"
Key = tuple[str, str, str, str]


class GarbageCollector:
    """Delete dependents of owners that were seen to go. An owner that was never there proves nothing: it is let be."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._gone: set[str] = set()
        self._waiting: dict[str, Key] = {}  # owners deleted in the foreground, by uid

    def observe(self, event: str, obj: Object, old: Object | None) -> None:
        """Handle a change of anything."""
        uid = obj["metadata"]["uid"]
        if event == "DELETED":
            dependents = self._world.index.dependents(uid)
            if dependents:
                self._gone.add(uid)
            for dependent in dependents:
                self._queue.add(_key(dependent))
            self._waiting.pop(uid, None)
            for owner in obj["metadata"].get("ownerReferences") or ():
                if owner["uid"] in self._waiting:
                    self._queue.add(self._waiting[owner["uid"]])
        elif any(owner["uid"] in self._gone for owner in obj["metadata"].get("ownerReferences") or ()):
            self._queue.add(_key(obj))
        elif is_terminating(obj) and FOREGROUND in (obj["metadata"].get("finalizers") or ()):
            self._waiting[uid] = _key(obj)
            self._queue.add(_key(obj))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        kind, namespace, name, uid = key
        obj = self._world.store.get(kind, namespace or None, name)
        if obj is None or obj["metadata"]["uid"] != uid:
            return
        if is_terminating(obj):
            if FOREGROUND in (obj["metadata"].get("finalizers") or ()):
                self._in_foreground(obj)
            return
        owners = obj["metadata"].get("ownerReferences") or []
        left = [owner for owner in owners if owner["uid"] not in self._gone]
        if left and len(left) < len(owners):
            self._world.change(obj, lambda changed: changed["metadata"].update(ownerReferences=left))
        elif not left and owners:
            self._world.delete(obj)

    def _in_foreground(self, owner: Object) -> None:
        dependents = self._world.index.dependents(owner["metadata"]["uid"])
        for dependent in dependents:
            if not is_terminating(dependent):
                meta = dependent["metadata"]
                has_own = bool(self._world.index.dependents(meta["uid"]))
                self._world.store.delete(
                    dependent["kind"], meta.get("namespace"), meta["name"], uid=meta["uid"], background=not has_own
                )
        if not self._world.index.dependents(owner["metadata"]["uid"]):
            self._world.change(owner, lambda obj: obj["metadata"]["finalizers"].remove(FOREGROUND))


def _key(obj: Object) -> Key:
    meta = obj["metadata"]
    return obj["kind"], meta.get("namespace") or "", meta["name"], meta["uid"]
