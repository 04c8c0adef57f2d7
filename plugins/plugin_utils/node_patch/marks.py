# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an earlier run of the role left on a node. Anybody may have written there.

What comes out of here goes through templates, which ansible-core before 2.19 writes down as text and reads again:
nothing may be in it that Python does not read as it writes it, such as an infinite number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...module_utils.cluster.cordon_owners import ANNOTATION as OWNERS
from ...module_utils.cluster.cordon_owners import owners_of
from ...module_utils.objects import mapping_at

# What the node was like before the patch, with the type of each part.
_BEFORE = {"boot_id": str, "kubelet_version": str, "daemonsets": list, "csi_drivers": list, "taints": list}
# The other parts.
_PARTS = {"state": str, "at": (int, float), "finished": str, "reboots": bool, "workloads": list, "before": dict}
_WORKLOAD = ("api_version", "kind", "namespace", "name")
_TAINT = ("key", "value", "effect")
# No time is as late, in seconds since 1970. Infinity is, and so are numbers too long to calculate with.
_LATEST = 1e12
# Seconds by which the clocks of two controllers may differ.
SKEW = 120.0


def mark_of(written: Any, campaign: Any) -> dict[str, Any]:
    """Return the mark in an annotation, {} if it is of another campaign or is none.

    written: the annotation, as text or as the mapping that templates of ansible-core before 2.19 make of such a text.
    Parts that are not what the role writes are left out: without them the node counts as one that nobody has begun.
    """
    found = _mapping(written)
    if str(found.get("campaign")) != str(campaign):
        return {}
    mark = {key: found[key] for key, kind in _PARTS.items() if isinstance(found.get(key), kind)}  # type: ignore[arg-type]
    if not abs(mark.get("at", 0)) < _LATEST:
        del mark["at"]
    if "before" in mark:
        mark["before"] = _before(mark["before"])
    if "workloads" in mark:
        mark["workloads"] = _texts(mark["workloads"], _WORKLOAD, ("kind", "namespace", "name"))
    return {key: value for key, value in mark.items() if value is not None}


def as_it_is(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mark says of a node before its patch, from the node's facts as k8s_node_info returns them."""
    pods = [pod for pod in node.get("daemonset_pods") or () if pod["ready"]]
    # Those of Kubernetes itself come and go with the node's state.
    lasting = [taint for taint in node["taints"] if not str(taint["key"]).startswith("node.kubernetes.io/")]
    return {
        "boot_id": str(node["boot_id"]),
        "kubelet_version": str(node["kubelet_version"]),
        "daemonsets": ["%s/%s" % (pod["namespace"], pod["daemonset"]) for pod in pods],
        "csi_drivers": [str(driver) for driver in node.get("csi_drivers") or ()],
        "taints": [{key: str(taint.get(key) or "") for key in _TAINT} for taint in lasting],
    }


def is_held(node: Mapping[str, Any], owner: Any) -> bool:
    """Tell whether a node, as k8s_node_info returns it, carries an owner's cordon."""
    annotations = dict(mapping_at(dict(node), "annotations"))
    if isinstance(annotations.get(OWNERS), Mapping):
        annotations[OWNERS] = json.dumps(annotations[OWNERS])
    return str(owner) in owners_of({"metadata": {"annotations": annotations}}).entries


def hours_ago(mark: Mapping[str, Any], now: float) -> float | None:
    """Return how many hours ago a mark was written: 0 if the clock of whoever wrote it is a little ahead, less if it
    lies in the future, None if it does not say. now: in seconds since 1970, as the mark has it.
    """
    if "at" not in mark:
        return None
    seconds = now - float(mark["at"])
    return (seconds if seconds < -SKEW else max(0.0, seconds)) / 3600


def _mapping(written: Any) -> Mapping[str, Any]:
    found = written
    if isinstance(written, str):
        try:
            found = json.loads(written)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, Mapping) else {}


def _before(found: Mapping[str, Any]) -> dict[str, Any] | None:
    if not all(isinstance(found.get(key), kind) for key, kind in _BEFORE.items()):
        return None
    taints = _texts(found["taints"], _TAINT, ("key", "effect"))
    if taints is None or not all(isinstance(name, str) for name in [*found["daemonsets"], *found["csi_drivers"]]):
        return None
    return {**{key: found[key] for key in _BEFORE}, "taints": taints}


def _texts(found: list[Any], keys: tuple[str, ...], needed: tuple[str, ...]) -> list[dict[str, str]] | None:
    """Return the entries with these keys alone; None if one of them has something else than texts there."""
    entries = []
    for entry in found:
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(key), str) for key in needed):
            return None
        kept = {key: entry[key] for key in keys if key in entry}
        if not all(isinstance(value, str) for value in kept.values()):
            return None
        entries.append(kept)
    return entries
