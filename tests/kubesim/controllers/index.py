# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects found by owner, node and namespace, without looking at all of them."""

from __future__ import annotations

from ..objects import Object, controller_of, name_of, namespace_of

Place = tuple[str, ...]
ObjectKey = tuple[str, str, str]

# Kinds that a controller may adopt when they have no controller and match its selector.
_ADOPTABLE = ("Pod", "ReplicaSet")


class Index:
    """Keep, from the store's changes, which objects lie where. They are the stored ones: never change them."""

    def __init__(self) -> None:
        self._tables: dict[Place, dict[ObjectKey, Object]] = {}

    def observe(self, event: str, obj: Object, old: Object | None) -> None:
        """Take one change of the store into account."""
        key = (obj["kind"], namespace_of(obj) or "", name_of(obj))
        places = [] if event == "DELETED" else self._places(obj)
        for place in self._places(old) if old is not None else ():
            if place not in places:
                table = self._tables.get(place, {})
                table.pop(key, None)
                if not table:
                    self._tables.pop(place, None)
        for place in places:
            self._tables.setdefault(place, {})[key] = obj

    def dependents(self, owner_uid: str) -> list[Object]:
        """Return every object that names this uid in its ownerReferences."""
        return self._look("owner", owner_uid)

    def owned(self, owner_uid: str, kind: str) -> list[Object]:
        """Return the objects of a kind whose controller has this uid."""
        found = []
        for obj in self._look("owner", owner_uid):
            controller = controller_of(obj) if obj["kind"] == kind else None
            if controller is not None and controller.get("uid") == owner_uid:
                found.append(obj)
        return found

    def orphans(self, namespace: str, kind: str) -> list[Object]:
        """Return the pods or ReplicaSets of a namespace that have no controller."""
        return self._look("orphan", namespace, kind)

    def pods_on(self, node: str) -> list[Object]:
        """Return the pods bound to a node."""
        return self._look("node", node)

    def count_on(self, node: str) -> int:
        """Return how many pods are bound to a node, finished ones included."""
        return len(self._tables.get(("node", node), ()))

    def siblings_on(self, node: str, owner_uid: str) -> int:
        """Return how many pods of one controller are bound to a node."""
        return len(self._tables.get(("sibling", node, owner_uid), ()))

    def pods_in(self, namespace: str) -> list[Object]:
        """Return the pods of a namespace."""
        return self._look("pods", namespace)

    def in_namespace(self, namespace: str) -> list[Object]:
        """Return every object of a namespace, of any kind."""
        return self._look("namespace", namespace)

    def of_kind_in(self, namespace: str, kind: str) -> list[Object]:
        """Return the budgets or other rarer objects of a kind in a namespace."""
        return self._look("kind", namespace, kind)

    def _look(self, *place: str) -> list[Object]:
        return list(self._tables.get(place, {}).values())

    @staticmethod
    def _places(obj: Object) -> list[Place]:
        kind, namespace = obj["kind"], namespace_of(obj)
        places: list[Place] = [("owner", owner["uid"]) for owner in obj["metadata"].get("ownerReferences") or ()]
        if namespace is None:
            return places
        places.append(("namespace", namespace))
        if kind in _ADOPTABLE and controller_of(obj) is None:
            places.append(("orphan", namespace, kind))
        if kind == "Pod":
            places.append(("pods", namespace))
            node = obj.get("spec", {}).get("nodeName")
            if node:
                controller = controller_of(obj) or {}
                places += [("node", node), ("sibling", node, controller.get("uid", ""))]
        else:
            places.append(("kind", namespace, kind))
        return places
