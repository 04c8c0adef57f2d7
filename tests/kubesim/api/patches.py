# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON patch, merge patch and strategic merge patch."""

from __future__ import annotations

from typing import Any

import jsonpatch
import jsonpointer

from .. import errors
from ..objects import Object, copied

# List fields that are merged by a key, wherever they stand in an object (struct tags of k8s.io/api). Lists that are
# not named here, taints and tolerations among them, are replaced whole.
MERGE_KEYS = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "resourceClaims": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
_SETS = ("finalizers", "podCIDRs")
_PORTS = ("containerPort", "port")
_ORDER = "$setElementOrder/"
_DELETE_PRIMITIVE = "$deleteFromPrimitiveList/"


def json_patch(obj: Object, operations: Any) -> Object:
    """Apply an RFC 6902 patch; ApiStatus 422 when it cannot be applied, 400 when it is not a patch at all."""
    if not isinstance(operations, list):
        raise errors.bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        )
    patched: Object = obj
    try:
        for operation in operations:
            if not _expects_absence(patched, operation):
                patched = jsonpatch.apply_patch(patched, [operation])
        return patched
    except (
        jsonpatch.JsonPatchException,
        jsonpointer.JsonPointerException,
        KeyError,
        TypeError,
        IndexError,
        ValueError,
        AttributeError,
    ):
        raise errors.unprocessable() from None


def _expects_absence(obj: Object, operation: Any) -> bool:
    """Return whether it is a test for null of a path that does not exist, which the API server's library lets pass."""
    if operation.get("op") != "test" or operation.get("value", "") is not None:
        return False
    absent = object()
    return jsonpointer.resolve_pointer(obj, operation["path"], absent) is absent


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply an RFC 7386 patch and return the result; `target` stays as it is."""
    if not isinstance(patch, dict):
        return copied(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_patch(target: Any, patch: Object) -> Object:
    """Apply a strategic merge patch and return the result; `target` stays as it is."""
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: copied(value) for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    result = dict(target) if isinstance(target, dict) else {}
    retained = patch.get("$retainKeys")
    if retained is not None:
        result = {key: value for key, value in result.items() if key in retained}
    for key, value in patch.items():
        if key.startswith(_DELETE_PRIMITIVE):
            field = key[len(_DELETE_PRIMITIVE) :]
            result[field] = [item for item in result.get(field) or [] if item not in value]
        elif not key.startswith("$"):
            _put(result, key, value)
    for key, order in patch.items():
        if key.startswith(_ORDER):
            field = key[len(_ORDER) :]
            if isinstance(result.get(field), list):
                result[field] = _ordered(field, result[field], order)
    return result


def _put(result: Object, key: str, value: Any) -> None:
    if value is None:
        result.pop(key, None)
    elif isinstance(value, dict):
        result[key] = strategic_patch(result.get(key), value)
    elif isinstance(value, list):
        result[key] = _merged_list(key, result.get(key) or [], value)
    else:
        result[key] = value


def _merge_key(field: str, items: list[Any]) -> str | None:
    if field == "ports":
        return next((key for key in _PORTS if any(isinstance(i, dict) and key in i for i in items)), None)
    return MERGE_KEYS.get(field)


def _merged_list(field: str, old: list[Any], new: list[Any]) -> list[Any]:
    if field in _SETS:
        return [*old, *(item for item in new if item not in old)]
    key = _merge_key(field, [*new, *old])
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in new):
        return [
            copied(item)
            for item in new
            if not (isinstance(item, dict) and item.get("$patch") == "replace" and len(item) == 1)
        ]
    if key is None or not all(isinstance(item, dict) for item in [*old, *new]):
        return [copied(item) for item in new]
    result = list(old)
    for item in new:
        at = next((index for index, other in enumerate(result) if other.get(key) == item.get(key)), None)
        if item.get("$patch") == "delete":
            result = [other for other in result if other.get(key) != item.get(key)]
        elif at is None:
            result.append(strategic_patch({}, item))
        else:
            result[at] = strategic_patch(result[at], item)
    return result


def _ordered(field: str, items: list[Any], order: list[Any]) -> list[Any]:
    key = _merge_key(field, items)

    def identity(item: Any) -> Any:
        return item.get(key) if isinstance(item, dict) and key else item

    wanted = [identity(item) for item in order]
    known = [item for item in items if identity(item) in wanted]
    known.sort(key=lambda item: wanted.index(identity(item)))
    return [*known, *(item for item in items if identity(item) not in wanted)]
