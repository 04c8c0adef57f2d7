# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a node for maintenance: its own object as one flat dict, its pods, and its CSI drivers."""

from __future__ import annotations

from typing import Any

from ..objects import (
    Obj,
    controller_of,
    is_mirror,
    is_ready,
    is_terminating,
    is_unschedulable,
    labels_of,
    mapping_at,
    mappings_at,
    name_of,
    namespace_of,
)

# What k8s_node_info can gather besides the Node object.
DAEMONSET_PODS, STATIC_PODS, CSI_DRIVERS = "daemonset_pods", "static_pods", "csi_drivers"

# kubeadm labels static pods of the control plane with their component:
# https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/
_COMPONENT = "component"
# Keys of a node's facts, and their fields in status.nodeInfo.
_REPORTED = {
    "boot_id": "bootID",
    "kubelet_version": "kubeletVersion",
    "os_image": "osImage",
    "kernel_version": "kernelVersion",
    "container_runtime_version": "containerRuntimeVersion",
    "architecture": "architecture",
}


def node_facts(node: Obj) -> dict[str, Any]:
    """Return a node's facts as in RETURN of k8s_node_info: always all keys, "" where the kubelet reports nothing."""
    reported = mapping_at(node, "status", "nodeInfo")
    addresses = [_texts(address, "type", "address") for address in mappings_at(node, "status", "addresses")]
    facts: dict[str, Any] = {
        "name": name_of(node),
        # A node whose kubelet stopped reporting is not ready; its other facts are as last reported.
        "ready": is_ready(node),
        "unschedulable": is_unschedulable(node),
    }
    facts.update({key: str(reported.get(field) or "") for key, field in _REPORTED.items()})
    facts.update(
        internal_ip=next((entry["address"] for entry in addresses if entry["type"] == "InternalIP"), ""),
        addresses=addresses,
        labels=dict(labels_of(node)),
        annotations=dict(mapping_at(node, "metadata", "annotations")),
        taints=[_texts(taint, "key", "value", "effect") for taint in mappings_at(node, "spec", "taints")],
        conditions={
            str(condition["type"]): str(condition.get("status") or "Unknown")
            for condition in mappings_at(node, "status", "conditions")
            if condition.get("type")
        },
        created=str(mapping_at(node, "metadata").get("creationTimestamp") or ""),
    )
    return facts


def _texts(entry: Obj, *keys: str) -> dict[str, str]:
    return {key: str(entry.get(key) or "") for key in keys}


def daemonset_pods(pods: list[Obj]) -> list[dict[str, Any]]:
    """Return namespace, name, daemonset and ready of each pod that a DaemonSet manages, sorted by name."""
    found = []
    for pod in pods:
        owner = controller_of(pod) or {}
        if owner.get("kind") == "DaemonSet":
            found.append(dict(_named(pod), daemonset=str(owner.get("name") or "")))
    return _sorted(found)


def static_pods(pods: list[Obj]) -> list[dict[str, Any]]:
    """Return namespace, name, component and ready of each static pod, sorted by name."""
    return _sorted([dict(_named(pod), component=_component(pod)) for pod in pods if is_mirror(pod)])


def csi_drivers(csi_node: Obj) -> list[str]:
    """Return the names of the CSI drivers that a CSINode lists, sorted."""
    return sorted(str(driver["name"]) for driver in mappings_at(csi_node, "spec", "drivers") if driver.get("name"))


def _named(pod: Obj) -> dict[str, Any]:
    return {
        "namespace": namespace_of(pod),
        "name": name_of(pod),
        "ready": is_ready(pod) and not is_terminating(pod),
    }


def _component(pod: Obj) -> str:
    """Return the component, such as etcd. The kubelet appends the node's name to the name in the manifest."""
    labelled = labels_of(pod).get(_COMPONENT)
    if labelled:
        return str(labelled)
    name, node = name_of(pod), str(mapping_at(pod, "spec").get("nodeName") or "")
    return name[: -len(node) - 1] if node and name.endswith("-" + node) else name


def _sorted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda entry: (entry["namespace"], entry["name"]))
