# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Namespaces that are going away take their content with them."""

from __future__ import annotations

from collections import Counter

from ..objects import Object, is_terminating, set_condition
from ..resources import of_kind
from .workqueue import WorkQueue
from .world import World

# The controller waits this long after a deletion, so that every API server knows of it.
GRACE_SECONDS = 5.0


class Namespaces:
    """Empty terminating namespaces, pods first, and let them go when nothing is left."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[str] = WorkQueue(world.agenda, self._reconcile)
        self._begun: dict[str, float] = {}

    def observe(self, event: str, namespace: Object, old: Object | None) -> None:
        """Handle a change of a namespace."""
        name = namespace["metadata"]["name"]
        if event == "DELETED":
            self._begun.pop(name, None)
            self._queue.discard(name)
        elif is_terminating(namespace) and name not in self._begun:
            self._begun[name] = self._world.now + GRACE_SECONDS
            self._queue.add(name, GRACE_SECONDS)

    def observe_content(self, event: str, obj: Object, old: Object | None) -> None:
        """Handle a change of something in a namespace."""
        name = obj["metadata"].get("namespace")
        if name in self._begun and self._world.now >= self._begun[name]:
            self._queue.add(name)

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, name: str) -> None:
        namespace = self._world.store.get("Namespace", None, name)
        if namespace is None or not is_terminating(namespace):
            return
        content = self._world.index.in_namespace(name)
        first = [obj for obj in content if obj["kind"] == "Pod"] or content
        for obj in first:
            if not is_terminating(obj):
                self._world.delete(obj)
        left = self._world.index.in_namespace(name)
        if left:
            self._world.change(namespace, lambda obj: _report(obj, left, self._world.stamp()))
        else:
            self._world.change(namespace, lambda obj: obj["spec"].update(finalizers=[]))


def _report(namespace: Object, left: list[Object], stamp: str) -> None:
    resources: Counter[str] = Counter()
    finalizers: Counter[str] = Counter()
    for obj in left:
        resource = of_kind(obj["kind"])
        resources[f"{resource.plural}.{resource.group}"] += 1
        finalizers.update(obj["metadata"].get("finalizers") or ())
    remaining = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(resources.items()))
    held = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items()))
    kept = f"Some resources are remaining: {remaining}"
    lasting = f"Some content in the namespace has finalizers remaining: {held}" if held else ""
    entries = (
        ("NamespaceContentRemaining", True, "SomeResourcesRemain", "", kept),
        ("NamespaceFinalizersRemaining", bool(held), "SomeFinalizersRemain", "ContentHasNoFinalizers", lasting),
    )
    for kind, value, reason, otherwise, message in entries:
        entry: Object = {
            "type": kind,
            "status": str(value),
            "lastTransitionTime": stamp,
            "reason": reason if value else otherwise,
            "message": message or "All content-preserving finalizers finished",
        }
        set_condition(namespace["status"], entry)
