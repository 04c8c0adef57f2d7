# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an earlier run of the role left on a node. Anybody may have written there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# What the node was like before the patch, with the type of each part.
_BEFORE = {"boot_id": str, "kubelet_version": str, "daemonsets": list, "csi_drivers": list, "taints": list}
# The other parts.
_PARTS = {"state": str, "at": (int, float), "finished": str, "reboots": bool, "workloads": list, "before": dict}


def mark_of(text: Any, campaign: Any) -> dict[str, Any]:
    """Return the mark in an annotation, {} if it is of another campaign or is none.

    Parts that are not what the role writes are left out: without them the node counts as one that nobody has begun.
    """
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    if not isinstance(found, Mapping) or found.get("campaign") != str(campaign):
        return {}
    mark = {key: found[key] for key, kind in _PARTS.items() if isinstance(found.get(key), kind)}  # type: ignore[arg-type]
    before = mark.get("before", {})
    if not all(isinstance(before.get(key), kind) for key, kind in _BEFORE.items()):
        mark.pop("before", None)
    if not all(_is_workload(entry) for entry in mark.get("workloads", [])):
        del mark["workloads"]
    return mark


def _is_workload(entry: Any) -> bool:
    return isinstance(entry, Mapping) and all(isinstance(entry.get(key), str) for key in ("kind", "namespace", "name"))
