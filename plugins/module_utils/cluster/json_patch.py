# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write JSON patches (RFC 6902) whose C(test) operations say what a change rests on, and predict what they make.

A test of one field holds while a kubelet writes others, where a resourceVersion in a merge patch would conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import MissingLibrary
from ..objects import Obj

Operation = dict[str, Any]


def set_field(obj: Obj, path: tuple[str, ...], value: Any) -> list[Operation]:
    """Return the operations that give a field this value, None to remove it, if it still is as it is in C(obj).

    A test for null passes where the field is absent: the API server's library takes it so, as RFC 6902 leaves open.
    The mapping that the field stands in is made where it is absent.
    """
    parent: Any = obj
    for depth, key in enumerate(path[:-1]):
        inner = parent.get(key)
        if not isinstance(inner, dict):
            made: Any = value
            for missing in reversed(path[depth + 1 :]):
                made = {missing: made}
            add = [] if value is None else [_operation("add", path[: depth + 1], made)]
            return [_operation("test", path[: depth + 1], inner), *add]
        parent = inner
    present = parent.get(path[-1])
    test = _operation("test", path, present)
    if value is not None:
        return [test, _operation("add", path, value)]
    # The API server refuses to remove what is not there.
    return [test] if path[-1] not in parent else [test, {"op": "remove", "path": pointer(path)}]


def pointer(path: Iterable[str]) -> str:
    """Return a path of keys as a JSON pointer (RFC 6901)."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path)


def apply(obj: Obj, operations: list[Operation]) -> Obj:
    """Return a copy of the object that the operations were made from, changed by them.

    Raise MissingLibrary where the Python package jsonpatch is not there.
    """
    try:
        import jsonpatch
    except ImportError:
        raise MissingLibrary(
            "the Python package jsonpatch is missing, which check mode with cordon_owner needs:"
            " install jsonpatch where the module runs"
        ) from None
    # The tests were made from this object, so they pass; the library fails those for null of an absent field.
    changes = [operation for operation in operations if operation["op"] != "test"]
    changed: Obj = jsonpatch.apply_patch(obj, changes)
    return changed


def _operation(op: str, path: tuple[str, ...], value: Any) -> Operation:
    return {"op": op, "path": pointer(path), "value": value}
