# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say of a node's pods and drivers what its return after maintenance is judged by."""

from __future__ import annotations

from typing import Any

from .objects import (
    Obj,
    controller_of,
    entries,
    is_mirror,
    is_ready,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    part,
)

# What can be gathered of a node beside its own object.
DAEMONSET_PODS, STATIC_PODS, CSI_DRIVERS = "daemonset_pods", "static_pods", "csi_drivers"
PARTS = (DAEMONSET_PODS, STATIC_PODS, CSI_DRIVERS)

# kubeadm labels the pods of a control plane with what they are:
# https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/
_COMPONENT = "component"


def daemonset_pods(pods: list[Obj]) -> list[dict[str, Any]]:
    """Return namespace, name, daemonset and ready of each pod that a DaemonSet manages, sorted by name."""
    found = []
    for pod in pods:
        owner = controller_of(pod) or {}
        if owner.get("kind") == "DaemonSet":
            found.append(dict(_named(pod), daemonset=str(owner.get("name") or "")))
    return _sorted(found)


def static_pods(pods: list[Obj]) -> list[dict[str, Any]]:
    """Return namespace, name, component and ready of each pod that the kubelet runs from a file, sorted by name."""
    return _sorted([dict(_named(pod), component=_component(pod)) for pod in pods if is_mirror(pod)])


def csi_drivers(csi_node: Obj) -> list[str]:
    """Return the names of the storage drivers that a CSINode says are registered, sorted."""
    return sorted(str(driver["name"]) for driver in entries(csi_node, "spec", "drivers") if driver.get("name"))


def _named(pod: Obj) -> dict[str, Any]:
    return {
        "namespace": namespace_of(pod),
        "name": name_of(pod),
        "ready": is_ready(pod) and not is_terminating(pod),
    }


def _component(pod: Obj) -> str:
    """Return what the pod is, such as etcd. The kubelet appends the node's name to that in the file."""
    labelled = labels_of(pod).get(_COMPONENT)
    if labelled:
        return str(labelled)
    name, node = name_of(pod), str(part(pod, "spec").get("nodeName") or "")
    return name[: -len(node) - 1] if node and name.endswith("-" + node) else name


def _sorted(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda entry: (entry["namespace"], entry["name"]))
