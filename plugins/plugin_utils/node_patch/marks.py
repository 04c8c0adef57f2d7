# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the mark that the role leaves on a node, for a later run. Other programs may have written there, too.

Parts of it go through templates, which ansible-core before 2.19 converts to text and back: it must not hold what Python
cannot read back, such as an infinite number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ...module_utils.cluster.cordon_owners import owners_of
from ...module_utils.objects import mapping_at

MARK = "kubeops.maintenance/node-patch"
# What the node was like before the patch, with the type of each part.
_BEFORE = {"boot_id": str, "kubelet_version": str, "daemonsets": list, "csi_drivers": list, "taints": list}
# The other parts.
_PARTS = {"state": str, "at": (int, float), "finished": str, "reboots": bool, "workloads": list, "before": dict}
_WORKLOAD = ("api_version", "kind", "namespace", "name")
_TAINT = ("key", "value", "effect")
# Later times, in seconds since 1970, are not valid: infinity, for one, and numbers too large to calculate with.
_LATEST = 1e12
# Seconds by which the clocks of two controllers may differ.
SKEW = 120.0
# A cluster has more workloads than fit into an annotation; these are the ones that the run waits for in the end.
_MAX_WORKLOADS = 200


def mark_of(written: Any, campaign: Any) -> dict[str, Any]:
    """Return the mark in an annotation, {} if it is of another campaign or not a mark.

    Parts that are not as the role writes them are left out: without them the node counts as not begun.
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


def write_mark(state: str, campaign: str, owner: str, record: Mapping[str, Any], now: float) -> str:
    """Return the annotation that a later run needs to continue from this state, from the node's record."""
    mark: dict[str, Any] = {"campaign": campaign, "owner": owner, "state": state, "at": int(now)}
    if state == "done":
        mark["finished"] = datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        mark["kubelet_version"] = record["kubelet_after"]
    else:
        mark["before"] = record["before"]
        mark["reboots"] = record.get("reboots", False)
        mark["workloads"] = record["workloads"][:_MAX_WORKLOADS]
    return json.dumps(mark)


def as_it_is(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mark says of a node before its patch, from the node's facts as k8s_node_info returns them."""
    pods = [pod for pod in node.get("daemonset_pods") or () if pod["ready"]]
    # Those of Kubernetes itself come and go with the node's state.
    lasting = [taint for taint in node["taints"] if not str(taint["key"]).startswith("node.kubernetes.io/")]
    return {
        "boot_id": str(node["boot_id"]),
        "kubelet_version": str(node["kubelet_version"]),
        "daemonsets": [f"{pod['namespace']}/{pod['daemonset']}" for pod in pods],
        "csi_drivers": [str(driver) for driver in node.get("csi_drivers") or ()],
        "taints": [{key: str(taint.get(key) or "") for key in _TAINT} for taint in lasting],
    }


def is_held(node: Mapping[str, Any], owner: str) -> bool:
    """Return whether a node, as k8s_node_info returns it, carries an owner's cordon."""
    return owner in owners_of({"metadata": {"annotations": mapping_at(dict(node), "annotations")}}).entries


def hours_ago(mark: Mapping[str, Any], now: float) -> float | None:
    """Return how many hours ago a mark was written: 0 if the writer's clock is a little ahead, negative if it lies in
    the future, None if it has no time. now: in seconds since 1970, as in the mark.
    """
    if "at" not in mark:
        return None
    seconds = now - float(mark["at"])
    return (seconds if seconds < -SKEW else max(0.0, seconds)) / 3600


def _mapping(written: Any) -> Mapping[str, Any]:
    try:
        found = json.loads(written)
    except (TypeError, ValueError, RecursionError):
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
    """Return the entries with these keys alone; None if one of them has anything but texts there."""
    entries = []
    for entry in found:
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(key), str) for key in needed):
            return None
        kept = {key: entry[key] for key in keys if key in entry}
        if not all(isinstance(value, str) for value in kept.values()):
            return None
        entries.append(kept)
    return entries
