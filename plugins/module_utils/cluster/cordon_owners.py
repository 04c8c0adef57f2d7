# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record on a node who cordoned it, so that nobody lifts somebody else's cordon.

The annotation holds a JSON map of owner to C(since) (RFC 3339) and C(prior_unschedulable): whether the node was
cordoned by somebody without an owner before the first owner came. It is changed only together with the node's
resourceVersion, so two tasks cannot overwrite each other's entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..objects import Obj, is_unschedulable, mapping_at, version_of

ANNOTATION = "kubeops.maintenance/cordon-owners"
NOBODY = "somebody who left no owner"


@dataclass(frozen=True)
class Owners:
    """Who holds a node's cordon; broken says what is wrong with an annotation that cannot be read."""

    entries: dict[str, Any] = field(default_factory=dict)
    broken: str = ""


def owners_of(node: Obj) -> Owners:
    """Return what the node's annotation says. A broken one counts as a cordon of somebody without an owner."""
    text = mapping_at(node, "metadata", "annotations").get(ANNOTATION)
    if not text:
        return Owners()
    try:
        entries = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return Owners(broken="is not JSON")
    if not isinstance(entries, dict):
        return Owners(broken="is not a JSON map")
    return Owners(entries)


def claim(node: Obj, owner: str, since: str) -> Obj | None:
    """Return the merge patch that cordons the node for an owner, None if it holds the node already.

    An owner that comes second inherits what the first one found, because the cordon that it sees is the first's.
    """
    entries = dict(owners_of(node).entries)
    if owner in entries and is_unschedulable(node):
        return None
    if owner not in entries:
        entries[owner] = {"since": since, "prior_unschedulable": _found(entries, is_unschedulable(node))}
    return _patch(node, entries, True)


def release(node: Obj, owner: str) -> Obj | None:
    """Return the merge patch that takes the owner's entry away, None if there is none.

    The node becomes schedulable only if no other owner is left and the first one found it so.
    """
    entries = dict(owners_of(node).entries)
    if owner not in entries:
        return None
    found_cordoned = mapping_at(entries.pop(owner)).get("prior_unschedulable") is True
    stays = bool(entries) or found_cordoned
    return _patch(node, entries, True if stays and is_unschedulable(node) else None)


def holders(node: Obj) -> str:
    """Return who keeps the node cordoned, in words."""
    entries = owners_of(node).entries
    if not entries:
        return NOBODY
    named = ["%s since %s" % (owner, mapping_at(entry).get("since") or "?") for owner, entry in sorted(entries.items())]
    return "cordon owner " + ", ".join(named)


def _found(entries: dict[str, Any], cordoned: bool) -> bool:
    if not entries:
        return cordoned
    return any(mapping_at(entry).get("prior_unschedulable") is True for entry in entries.values())


def _patch(node: Obj, entries: dict[str, Any], unschedulable: bool | None) -> Obj:
    text = json.dumps(entries, sort_keys=True) if entries else None
    return {
        "metadata": {"resourceVersion": version_of(node), "annotations": {ANNOTATION: text}},
        "spec": {"unschedulable": unschedulable},
    }
