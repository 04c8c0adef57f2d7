# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of the cluster with the rules of their storage: versions, uids, graceful deletion, finalizers."""

from __future__ import annotations

import random
import uuid
from collections import deque
from collections.abc import Callable, Iterable

from . import admission, errors, lifecycle
from .agenda import Agenda, timestamp
from .objects import Object, copied
from .resources import of_kind

Key = tuple[str, str]
Listener = Callable[[str, Object, "Object | None"], None]

_NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # the alphabet of generateName suffixes (no vowels, nothing ambiguous)


class Store:
    """Objects by kind, namespace and name. Callers must not change one: every change is a new object."""

    def __init__(self, agenda: Agenda, seed: int = 1) -> None:
        self.agenda = agenda
        self.resource_version = 1000
        self._random = random.Random(seed)
        self._objects: dict[str, dict[Key, Object]] = {}
        self._sorted: dict[str, list[Object]] = {}
        self._listeners: list[Listener] = []
        self._events: deque[tuple[str, Object, Object | None]] = deque()
        self._notifying = False

    def get(self, kind: str, namespace: str | None, name: str) -> Object | None:
        """Return the stored object, None when there is none."""
        return self._objects.get(kind, {}).get((namespace or "", name))

    def list(self, kind: str, namespace: str | None = None) -> list[Object]:
        """Return all objects of a kind, in the order of their keys in etcd: as texts `namespace/name`."""
        ordered = self._sorted.get(kind)
        if ordered is None:
            kept = self._objects.get(kind, {})
            ordered = self._sorted[kind] = [kept[key] for key in sorted(kept, key="/".join)]
        if namespace is None:
            return list(ordered)
        return [obj for obj in ordered if obj["metadata"].get("namespace") == namespace]

    def kinds(self) -> Iterable[str]:
        """Return every kind of which there was an object."""
        return list(self._objects)

    def subscribe(self, listener: Listener) -> None:
        """Notify `listener` of every change, after it and in order: (ADDED|MODIFIED|DELETED, new, old)."""
        self._listeners.append(listener)

    def create(self, obj: Object) -> Object:
        """Store a new object; ApiStatus 409 when its name is taken, 403 when its namespace is going away."""
        obj = self.prepare_new(obj)
        return self._put("ADDED", obj, None)

    def prepare_new(self, obj: Object) -> Object:
        """Return the object as `create` would store it, without storing it (a dry run), or raise as `create` does."""
        kind = obj["kind"]
        resource = of_kind(kind)
        obj = {"kind": kind, "apiVersion": obj.get("apiVersion") or resource.api_version, **copied(obj)}
        meta = obj["metadata"] = dict(obj.get("metadata") or {})
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"] + "".join(self._random.choices(_NAME_LETTERS, k=5))
        namespace = meta.get("namespace")
        if self.get(kind, namespace, meta["name"]) is not None:
            raise errors.already_exists(resource.plural, meta["name"], resource.group)
        home = self.get("Namespace", None, namespace) if namespace else None
        if home is not None and home["metadata"].get("deletionTimestamp"):
            raise errors.terminating_namespace(resource.plural, meta["name"], meta["namespace"], resource.group)
        if kind == "Pod":
            admission.check_pod(self, obj)
        meta["uid"] = self.new_uid()
        meta["creationTimestamp"] = timestamp(self.agenda.now)
        for unwanted in ("deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "generation"):
            meta.pop(unwanted, None)
        if resource.generation:
            meta["generation"] = 1
        lifecycle.fill_namespace(obj)
        return obj

    def update(self, obj: Object) -> Object:
        """Replace an object whole, status included; equal content changes nothing.

        ApiStatus 404 when there is none, 409 when its resourceVersion is given and not the stored one.
        """
        kind, meta = obj["kind"], obj["metadata"]
        resource = of_kind(kind)
        old = self.get(kind, meta.get("namespace"), meta["name"])
        if old is None:
            raise errors.not_found(resource.plural, meta["name"], resource.group)
        seen = meta.get("resourceVersion")
        if seen and seen != old["metadata"]["resourceVersion"]:
            raise errors.modified(resource.plural, meta["name"], resource.group)
        obj = self.prepared(obj, old)
        if obj == old:
            return old
        if lifecycle.deletion_is_due(obj):
            return self._drop(obj, old)
        return self._put("MODIFIED", obj, old)

    def prepared(self, obj: Object, old: Object) -> Object:
        """Return `obj` with what no writer may change (uid, creation, deletion) and the generation that is due."""
        obj = copied(obj)
        meta, was = obj["metadata"], old["metadata"]
        for kept in (
            "uid",
            "creationTimestamp",
            "resourceVersion",
            "generation",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ):
            if kept in was:
                meta[kept] = was[kept]
            else:
                meta.pop(kept, None)
        for emptied in ("finalizers", "ownerReferences", "labels", "annotations"):
            if emptied in meta and not meta[emptied]:
                del meta[emptied]
        if of_kind(obj["kind"]).generation and lifecycle.wanted(obj) != lifecycle.wanted(old):
            meta["generation"] = was.get("generation", 0) + 1
        return obj

    def mutate(self, kind: str, namespace: str | None, name: str, change: Callable[[Object], None]) -> Object | None:
        """Let `change` work on a copy and store it; None when the object does not exist."""
        old = self.get(kind, namespace, name)
        if old is None:
            return None
        obj = copied(old)
        change(obj)
        return self.update(obj)

    def delete(
        self,
        kind: str,
        namespace: str | None,
        name: str,
        grace: int | None = None,
        uid: str | None = None,
        background: bool = True,
    ) -> Object | None:
        """Begin a deletion as the API does.

        Return the object as it is left (also when it is gone), None when there is none.
        """
        old = self.get(kind, namespace, name)
        if old is None or (uid is not None and old["metadata"].get("uid") != uid):
            return None
        obj, gone = lifecycle.deleted(old, grace, self.agenda.now, background)
        if gone:
            return self._drop(obj, old)
        return old if obj == old else self._put("MODIFIED", obj, old)

    def remove(self, kind: str, namespace: str | None, name: str) -> None:
        """Take the object away now, whatever its grace; one with finalizers stays, marked as deleted with grace 0."""
        old = self.get(kind, namespace, name)
        if old is None:
            return
        obj = copied(old)
        meta = obj["metadata"]
        if not meta.get("deletionTimestamp"):
            meta["deletionTimestamp"] = timestamp(self.agenda.now)
        meta["deletionGracePeriodSeconds"] = 0
        if meta.get("finalizers"):
            if obj != old:
                self._put("MODIFIED", obj, old)
        else:
            self._drop(obj, old)

    def load(self, objects: Iterable[Object]) -> None:
        """Take objects over as recorded: uid, times, status and deletion stay, resourceVersions are new.

        Lists are taken apart, missing namespaces are made.
        """
        for obj in objects:
            if "items" in obj and obj.get("kind", "").endswith("List"):
                kind = obj["kind"][: -len("List")]
                self.load([{"kind": kind, "apiVersion": obj.get("apiVersion", "v1"), **item} for item in obj["items"]])
                continue
            resource = of_kind(obj["kind"])
            obj = {"kind": obj["kind"], "apiVersion": obj.get("apiVersion") or resource.api_version, **copied(obj)}
            meta = obj["metadata"]
            if resource.namespaced:
                namespace = meta.setdefault("namespace", "default")
                if self.get("Namespace", None, namespace) is None:
                    self.create({"kind": "Namespace", "metadata": {"name": namespace}})
            meta.setdefault("uid", self.new_uid())
            meta.setdefault("creationTimestamp", timestamp(self.agenda.now))
            if resource.generation:
                meta.setdefault("generation", 1)
            lifecycle.fill_namespace(obj)
            old = self.get(obj["kind"], meta.get("namespace"), meta["name"])
            self._put("ADDED" if old is None else "MODIFIED", obj, old)

    def clear(self) -> None:
        """Forget every object and every listener, without telling anybody; versions go on counting."""
        self._objects.clear()
        self._sorted.clear()
        self._listeners.clear()
        self.resource_version += 1

    def new_uid(self) -> str:
        """Return a uid; the same seed gives the same ones."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _put(self, event: str, obj: Object, old: Object | None) -> Object:
        meta = obj["metadata"]
        self.resource_version += 1
        meta["resourceVersion"] = str(self.resource_version)
        kind = obj["kind"]
        self._objects.setdefault(kind, {})[meta.get("namespace") or "", meta["name"]] = obj
        self._sorted.pop(kind, None)
        self._notify(event, obj, old)
        return obj

    def _drop(self, obj: Object, old: Object) -> Object:
        meta = obj["metadata"]
        self.resource_version += 1
        meta["resourceVersion"] = str(self.resource_version)
        self._objects[obj["kind"]].pop((meta.get("namespace") or "", meta["name"]), None)
        self._sorted.pop(obj["kind"], None)
        self._notify("DELETED", obj, old)
        return obj

    def _notify(self, event: str, obj: Object, old: Object | None) -> None:
        # A listener may change the store itself. That change is queued behind this one, so that all listeners see the
        # same order.
        self._events.append((event, obj, old))
        if self._notifying:
            return
        self._notifying = True
        try:
            while self._events:
                event_args = self._events.popleft()
                for listener in self._listeners:
                    listener(*event_args)
        finally:
            self._notifying = False
