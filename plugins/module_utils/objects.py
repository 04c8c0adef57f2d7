# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read Kubernetes objects as the plain dicts that the API sends.

Every reader here takes an object in which any field may be absent or null, because servers leave out what is
zero and older ones write null where newer ones write nothing.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from typing import Any

Obj = dict[str, Any]

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
# 2026-11-30T10:02:00Z, also with a fraction or an offset (RFC 3339).
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")


def mapping_at(obj: Any, *path: str) -> Obj:
    """Return the mapping at a path of keys, {} where any step is absent, null or not a mapping."""
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj if isinstance(obj, dict) else {}


def fields_at(obj: Any, *path: str, keys: Iterable[str]) -> Obj:
    """Return those fields of the mapping at a path that are there and not null."""
    found = mapping_at(obj, *path)
    return {key: found[key] for key in keys if found.get(key) is not None}


def mappings_at(obj: Any, *path: str) -> list[Obj]:
    """Return the mappings of the list at a path of keys, [] where there is none."""
    found = mapping_at(obj, *path[:-1]).get(path[-1])
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def strings_at(obj: Any, *path: str) -> list[str]:
    """Return the strings of the list at a path of keys, [] where there is none."""
    found = mapping_at(obj, *path[:-1]).get(path[-1])
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def int_field(value: Any, default: int = 0) -> int:
    """Return an integer field's value, the default where it is absent, null or not a number.

    A whole number that something on the way wrote as 3.0 or "3" is that number: otherwise it would count as 0.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = parse_int(value) if isinstance(value, str) else value
    return found if isinstance(found, int) and not isinstance(found, bool) else default


def parse_int(text: str) -> int | None:
    """Return the number that plain digits write, None for every other text; no number of a cluster is longer."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 40 else None


def name_of(obj: Obj) -> str:
    """Return metadata.name."""
    return str(mapping_at(obj, "metadata").get("name") or "")


def namespace_of(obj: Obj) -> str:
    """Return metadata.namespace, "" for objects of the cluster."""
    return str(mapping_at(obj, "metadata").get("namespace") or "")


def uid_of(obj: Obj) -> str:
    """Return metadata.uid: what identifies a pod, whatever its name (design: a pod is its uid)."""
    return str(mapping_at(obj, "metadata").get("uid") or "")


def identity_of(obj: Obj) -> str:
    """Return what identifies an object: its uid, or namespace/name where a server gives none."""
    return uid_of(obj) or full_name(obj)


def version_of(obj: Obj) -> str:
    """Return metadata.resourceVersion, an opaque text."""
    return str(mapping_at(obj, "metadata").get("resourceVersion") or "")


def age_of(version: str) -> int:
    """Return a resourceVersion as a number, of which the greater one is the newer, 0 if it is none.

    https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
    """
    return parse_int(version) or 0


def full_name(obj: Obj) -> str:
    """Return namespace/name, or the name alone for objects of the cluster."""
    namespace = namespace_of(obj)
    return f"{namespace}/{name_of(obj)}" if namespace else name_of(obj)


def labels_of(obj: Obj) -> dict[str, str]:
    """Return metadata.labels."""
    return mapping_at(obj, "metadata", "labels")


def controller_of(obj: Obj) -> Obj | None:
    """Return the one owner reference with C(controller) set, as every built-in controller writes it."""
    for reference in mappings_at(obj, "metadata", "ownerReferences"):
        if reference.get("controller") is True:
            return reference
    return None


def condition_of(obj: Obj, kind: str) -> Obj:
    """Return the entry of status.conditions with that type, {} if there is none."""
    for condition in mappings_at(obj, "status", "conditions"):
        if condition.get("type") == kind:
            return condition
    return {}


def is_ready(obj: Obj) -> bool:
    """Return whether a pod's or node's Ready condition is True."""
    return condition_of(obj, "Ready").get("status") == "True"


def is_finished(pod: Obj) -> bool:
    """Return whether all containers of the pod have terminated for good."""
    return mapping_at(pod, "status").get("phase") in ("Succeeded", "Failed")


def is_mirror(pod: Obj) -> bool:
    """Return whether the pod is the mirror of a static pod."""
    return MIRROR_ANNOTATION in mapping_at(pod, "metadata", "annotations")


def has_emptydir(pod: Obj) -> bool:
    """Return whether the pod has a volume that is deleted with it."""
    # `emptyDir: {}` is the usual form; null is the same as no such key.
    return any(volume.get("emptyDir") is not None for volume in mappings_at(pod, "spec", "volumes"))


def is_unschedulable(node: Obj) -> bool:
    """Return whether the node is cordoned."""
    return mapping_at(node, "spec").get("unschedulable") is True


def parse_time(text: Any) -> float | None:
    """Return an RFC 3339 time as seconds since 1970, None if the text is not one."""
    match = _TIME.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match.group(n)) for n in range(1, 7))
    offset = match.group(8)
    shift = 0
    if offset not in ("Z", "z"):
        shift = (int(offset[1:3]) * 3600 + int(offset[4:6]) * 60) * (-1 if offset[0] == "-" else 1)
    try:
        return calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0)) - shift + float(match.group(7) or 0)
    except ValueError:
        # No month has that number.
        return None


def deletion_time(obj: Obj) -> float | None:
    """Return metadata.deletionTimestamp in seconds since 1970: when the grace period of a deleted pod is over."""
    return parse_time(mapping_at(obj, "metadata").get("deletionTimestamp"))


def is_terminating(obj: Obj) -> bool:
    """Return whether the object is being deleted."""
    return bool(mapping_at(obj, "metadata").get("deletionTimestamp"))
