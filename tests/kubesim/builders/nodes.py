# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes and namespaces."""

from __future__ import annotations

from ..agenda import TEST_EPOCH, timestamp
from ..objects import Object
from .metadata import SINCE, metadata, uid_of


def namespace(name: str, *, labels: dict[str, str] | None = None, terminating: bool = False) -> Object:
    """Return a Namespace; a terminating one was deleted at the test epoch."""
    meta = metadata("Namespace", name, labels=labels, deleted=timestamp(TEST_EPOCH) if terminating else None)
    phase = "Terminating" if terminating else "Active"
    spec = {"finalizers": ["kubernetes"]}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def node(
    name: str,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    unschedulable: bool = False,
    ready: bool | str = True,
    taints: list[Object] | None = None,
    control_plane: bool = False,
    kubelet_version: str = "v1.36.2",
    pods: int = 110,
    address: str = "",
    uid: str | None = None,
) -> Object:
    """Return a Node; `ready` is True, False or "Unknown", `pods` how many it takes."""
    all_labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    taints = list(taints or ())
    if control_plane:
        all_labels["node-role.kubernetes.io/control-plane"] = ""
        taints.append({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"})
    spec: Object = {"unschedulable": True} if unschedulable else {}
    if taints:
        spec["taints"] = taints
    all_labels.update(labels or {})
    room = {"cpu": "8", "memory": "32Gi", "pods": str(pods)}
    addresses = [{"type": "InternalIP", "address": address}] if address else []
    status = {
        "capacity": room,
        "allocatable": dict(room),
        "conditions": _node_conditions(str(ready)),
        "addresses": [*addresses, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": _node_info(name, kubelet_version),
    }
    meta = metadata("Node", name, labels=all_labels, annotations=annotations, uid=uid)
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def _node_info(name: str, kubelet_version: str) -> Object:
    return {
        "machineID": uid_of("Machine", "", name).replace("-", ""),
        "systemUUID": uid_of("System", "", name),
        "bootID": uid_of("Boot", "", name),
        "kernelVersion": "6.8.0-31-generic",
        "osImage": "Ubuntu 24.04 LTS",
        "containerRuntimeVersion": "containerd://2.1.3",
        "kubeletVersion": kubelet_version,
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def _node_conditions(ready: str) -> list[Object]:
    def entry(kind: str, status: str, reason: str, message: str) -> Object:
        if ready == "Unknown":
            status, reason, message = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
        times = {"lastHeartbeatTime": SINCE, "lastTransitionTime": SINCE}
        return {"type": kind, "status": status, **times, "reason": reason, "message": message}

    speaks = "kubelet is posting ready status" if ready == "True" else "container runtime is down"
    return [
        entry("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        entry("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        entry("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        entry("Ready", ready, "KubeletReady" if ready == "True" else "KubeletNotReady", speaks),
    ]
