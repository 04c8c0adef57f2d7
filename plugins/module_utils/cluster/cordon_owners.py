# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record on a node who cordoned it, so that nobody uncordons what another owner keeps cordoned.

The annotation holds a JSON map of owner to C(since) (RFC 3339) and C(prior_unschedulable): whether the node was
cordoned by somebody without an owner before the first owner came. A change rests on the annotation and on
C(spec.unschedulable) as they were read, so two tasks cannot overwrite each other's entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..objects import Obj, is_unschedulable, mapping_at
from .json_patch import Operation, set_field

ANNOTATION = "kubeops.maintenance/cordon-owners"
UNNAMED = "somebody who left no owner"
_OWNERS = ("metadata", "annotations", ANNOTATION)
_UNSCHEDULABLE = ("spec", "unschedulable")


@dataclass(frozen=True)
class Owners:
    """The owners of a node's cordon. invalid: what is wrong with an annotation that cannot be read, "" if it can."""

    entries: dict[str, Any] = field(default_factory=dict)
    invalid: str = ""


def annotation_of(node: Obj) -> Any:
    """Return the annotation as it stands on the node, None if there is none."""
    return mapping_at(node, *_OWNERS[:-1]).get(ANNOTATION)


def owners_of(node: Obj) -> Owners:
    """Return the owners in the node's annotation. An invalid one counts as a cordon of somebody without an owner."""
    text = annotation_of(node)
    if not text:
        return Owners()
    try:
        entries = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return Owners(invalid="is not JSON")
    if not isinstance(entries, dict):
        return Owners(invalid="is not a JSON map")
    return Owners(entries)


def claim(node: Obj, owner: str, since: str) -> list[Operation]:
    """Return the JSON patch that cordons the node for an owner, [] if it holds the cordon already.

    An owner that comes second inherits what the first one found, because the cordon that it sees is the first's.
    """
    entries = dict(owners_of(node).entries)
    if owner in entries and is_unschedulable(node):
        return []
    if owner not in entries:
        entries[owner] = {"since": since, "prior_unschedulable": _was_cordoned(entries, is_unschedulable(node))}
    return _patch(node, entries, True)


def release(node: Obj, owner: str) -> list[Operation]:
    """Return the JSON patch that removes the owner's entry, [] if it has none.

    The node becomes schedulable only if no other owner is left and the first one found it so.
    """
    entries = dict(owners_of(node).entries)
    if owner not in entries:
        return []
    was_cordoned = mapping_at(entries.pop(owner)).get("prior_unschedulable") is True
    stays = bool(entries) or was_cordoned
    return _patch(node, entries, True if stays and is_unschedulable(node) else None)


def holders(node: Obj) -> str:
    """Return who keeps the node cordoned, in words."""
    entries = owners_of(node).entries
    if not entries:
        return UNNAMED
    named = [f"{owner} since {mapping_at(entry).get('since') or '?'}" for owner, entry in sorted(entries.items())]
    return "cordon owner " + ", ".join(named)


def _was_cordoned(entries: dict[str, Any], cordoned: bool) -> bool:
    if not entries:
        return cordoned
    return any(mapping_at(entry).get("prior_unschedulable") is True for entry in entries.values())


def _patch(node: Obj, entries: dict[str, Any], unschedulable: bool | None) -> list[Operation]:
    text = json.dumps(entries, sort_keys=True) if entries else None
    return set_field(node, _OWNERS, text) + set_field(node, _UNSCHEDULABLE, unschedulable)
