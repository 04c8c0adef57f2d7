# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metadata and owner references of objects that tests make."""

from __future__ import annotations

import uuid

from ..agenda import TEST_EPOCH, timestamp
from ..objects import Object

SINCE = timestamp(TEST_EPOCH - 3600)
_UIDS = uuid.UUID("6b75626f-7073-5d61-b69e-74656e616e63")


def uid_of(kind: str, namespace: str, name: str) -> str:
    """Return the uid that builders give to an object."""
    return str(uuid.uuid5(_UIDS, f"{kind}/{namespace}/{name}"))


def metadata(
    kind: str,
    name: str,
    namespace: str = "",
    *,
    uid: str | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    owner: Object | str | None = None,
    finalizers: list[str] | None = None,
    created: str | None = None,
    deleted: str | None = None,
) -> Object:
    """Return metadata; `owner` is an object, or "Kind/name" of one made by these builders in the same namespace."""
    meta: Object = {"name": name, "uid": uid or uid_of(kind, namespace, name)}
    if namespace:
        meta["namespace"] = namespace
    optional = {
        "creationTimestamp": created,
        "deletionTimestamp": deleted,
        "labels": labels and dict(labels),
        "annotations": annotations and dict(annotations),
        "finalizers": finalizers and list(finalizers),
        "ownerReferences": owner and [owner_reference(owner, namespace)],
    }
    meta.update({key: value for key, value in optional.items() if value})
    return meta


_API_VERSIONS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "Node": "v1",
    "ReplicationController": "v1",
}


def owner_reference(owner: Object | str, namespace: str) -> Object:
    """Return the reference that makes `owner` (an object or "Kind/name") the controller."""
    if isinstance(owner, str):
        kind, name = owner.split("/")
        home = "" if kind == "Node" else namespace
        owner = {
            "apiVersion": _API_VERSIONS.get(kind, "example.com/v1"),
            "kind": kind,
            "metadata": {"name": name, "uid": uid_of(kind, home, name)},
        }
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
