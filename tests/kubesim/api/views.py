# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How objects are written: plain, metadata only, or as a table, as the Accept header asks."""

from __future__ import annotations

from typing import Any

from ..errors import ApiStatus
from ..objects import Object, copied, encoded
from ..resources import Resource
from . import tables

_META = "meta.k8s.io"
_MOST_KEPT = 20_000
_JSON = ("application/json", "*/*", "application/*")


class Encoder:
    """Write objects as JSON, each version of an object only once."""

    def __init__(self) -> None:
        self._written: dict[tuple[str, str, str], tuple[Object, bytes]] = {}

    def item(self, obj: Object) -> bytes:
        """Write it as an item of a list: without kind and apiVersion."""
        meta = obj["metadata"]
        key = (obj["kind"], meta.get("namespace") or "", meta.get("name") or "")
        known = self._written.get(key)
        if known is not None and known[0] is obj:
            return known[1]
        if len(self._written) > _MOST_KEPT:  # most of them are of objects that are gone
            self._written.clear()
        text = encoded({name: value for name, value in obj.items() if name not in ("kind", "apiVersion")})
        self._written[key] = (obj, text)
        return text

    def whole(self, obj: Object, api_version: str) -> bytes:
        """Write it with kind and apiVersion."""
        return b'{"kind":"%s","apiVersion":"%s",%s' % (obj["kind"].encode(), api_version.encode(), self.item(obj)[1:])


class View:
    """Objects of one resource as they are."""

    def __init__(self, encoder: Encoder, resource: Resource, api_version: str) -> None:
        self.encoder = encoder
        self.resource = resource
        self.api_version = api_version

    def one(self, obj: Object) -> bytes:
        """Write one object."""
        return self.encoder.whole(obj, self.api_version)

    def many(self, objects: list[Object], meta: Object) -> bytes:
        """Write a list."""
        head = {"kind": self.resource.list_kind, "apiVersion": self.api_version, "metadata": meta}
        return encoded(head)[:-1] + b',"items":[' + b",".join(map(self.encoder.item, objects)) + b"]}"

    def bookmark(self, version: int, annotations: dict[str, str] | None = None) -> bytes:
        """Write the object of a bookmark."""
        meta: Object = {"resourceVersion": str(version)}
        if annotations:
            meta["annotations"] = annotations
        obj: Object = {"kind": self.resource.kind, "apiVersion": self.api_version, "metadata": meta}
        if self.resource.kind == "Pod":
            obj.update(spec={"containers": None}, status={})
        return encoded(obj)


class PartialView(View):
    """Only the metadata."""

    @staticmethod
    def _partial(obj: Object) -> Object:
        return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}

    def one(self, obj: Object) -> bytes:
        """Write one object."""
        return encoded(self._partial(obj))

    def many(self, objects: list[Object], meta: Object) -> bytes:
        """Write a list."""
        items = [self._partial(obj) for obj in objects]
        return encoded(
            {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "items": items}
        )


class TableView(View):
    """Rows with the columns that kubectl prints."""

    def __init__(self, encoder: Encoder, resource: Resource, api_version: str, now: float, include: str) -> None:
        super().__init__(encoder, resource, api_version)
        self._now = now
        self._include = include

    def one(self, obj: Object) -> bytes:
        """Write one object."""
        return self.many([obj], {"resourceVersion": obj["metadata"].get("resourceVersion", "")})

    def many(self, objects: list[Object], meta: Object) -> bytes:
        """Write a list."""
        table = tables.table(self.resource.kind, objects, self._now)
        rows = table["rows"]
        for row, obj in zip(rows, objects, strict=False):
            row["object"] = self._object(obj)
        return encoded({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, **table})

    def _object(self, obj: Object) -> Any:
        if self._include == "None":
            return None
        if self._include == "Object":
            return {**copied(obj), "apiVersion": self.api_version}
        return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def view_for(accept: str, include: str, encoder: Encoder, resource: Resource, api_version: str, now: float) -> View:
    """Choose the first form of the Accept header that is served; ApiStatus 406 when none is."""
    for clause in (accept or "*/*").split(","):
        media, *parameters = [part.strip() for part in clause.split(";")]
        if media not in _JSON:
            continue
        named = dict(part.partition("=")[::2] for part in parameters)
        form = named.get("as", "")
        if not form:
            return View(encoder, resource, api_version)
        if named.get("g") != _META or named.get("v") != "v1":
            continue
        if form in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return PartialView(encoder, resource, api_version)
        if form == "Table":
            return TableView(encoder, resource, api_version, now, include)
    message = "only the following media types are accepted: application/json"
    raise ApiStatus(406, "NotAcceptable", message, {})
