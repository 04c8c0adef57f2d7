# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say of a node what maintenance asks about it, in one flat dict."""

from __future__ import annotations

from typing import Any

from .objects import Obj, entries, is_ready, is_unschedulable, labels_of, name_of, part

# Keys of a node's facts, and where kubelets report them in status.nodeInfo.
_REPORTED = {
    "boot_id": "bootID",
    "kubelet_version": "kubeletVersion",
    "os_image": "osImage",
    "kernel_version": "kernelVersion",
    "container_runtime_version": "containerRuntimeVersion",
    "architecture": "architecture",
}


def node_facts(node: Obj) -> dict[str, Any]:
    """Return a node's facts as RETURN of k8s_node_info describes them: every key always, "" for what is unknown."""
    reported = part(node, "status", "nodeInfo")
    addresses = [_texts(address, "type", "address") for address in entries(node, "status", "addresses")]
    facts: dict[str, Any] = {
        "name": name_of(node),
        # As of its last report: a node that fell silent is not ready, its other facts stay as they were.
        "ready": is_ready(node),
        "unschedulable": is_unschedulable(node),
    }
    facts.update({key: str(reported.get(field) or "") for key, field in _REPORTED.items()})
    facts.update(
        internal_ip=next((entry["address"] for entry in addresses if entry["type"] == "InternalIP"), ""),
        addresses=addresses,
        labels=dict(labels_of(node)),
        annotations=dict(part(node, "metadata", "annotations")),
        taints=[_texts(taint, "key", "value", "effect") for taint in entries(node, "spec", "taints")],
        conditions={
            str(condition["type"]): str(condition.get("status") or "Unknown")
            for condition in entries(node, "status", "conditions")
            if condition.get("type")
        },
        created=str(part(node, "metadata").get("creationTimestamp") or ""),
    )
    return facts


def _texts(entry: Obj, *keys: str) -> dict[str, str]:
    return {key: str(entry.get(key) or "") for key in keys}
