# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes: claims, what they are bound to, and where that is attached."""

from __future__ import annotations

from ..objects import Object
from .metadata import metadata, uid_of

DRIVER = "csi.example"


def claim(
    name: str,
    namespace: str = "default",
    *,
    volume: str | None = None,
    storage_class: str | None = None,
    access: str = "ReadWriteOnce",
    size: str = "1Gi",
    annotations: dict[str, str] | None = None,
) -> Object:
    """Return a PersistentVolumeClaim, bound when `volume` names its PersistentVolume, else pending."""
    spec: Object = {"accessModes": [access], "resources": {"requests": {"storage": size}}, "volumeMode": "Filesystem"}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    status: Object = {"phase": "Pending"}
    if volume:
        spec["volumeName"] = volume
        status = {"phase": "Bound", "accessModes": [access], "capacity": {"storage": size}}
    meta = metadata("PersistentVolumeClaim", name, namespace, annotations=annotations)
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": status}


def volume(
    name: str,
    claim: str | None = None,
    namespace: str = "default",
    *,
    driver: str | None = DRIVER,
    access: str = "ReadWriteOnce",
    size: str = "1Gi",
    storage_class: str | None = None,
    annotations: dict[str, str] | None = None,
    node: str | None = None,
) -> Object:
    """Return a PersistentVolume bound to a claim; `driver` None makes it a folder that nothing attaches.

    `node` says where alone it can be used.
    """
    spec: Object = {"accessModes": [access], "capacity": {"storage": size}, "persistentVolumeReclaimPolicy": "Delete"}
    spec["volumeMode"] = "Filesystem"
    spec.update({"csi": {"driver": driver, "volumeHandle": name}} if driver else {"hostPath": {"path": f"/{name}"}})
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    if claim:
        named = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "name": claim, "namespace": namespace}
        spec["claimRef"] = {**named, "uid": uid_of("PersistentVolumeClaim", namespace, claim)}
    if node:
        rule = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}
    meta = metadata("PersistentVolume", name, annotations=annotations)
    status = {"phase": "Bound" if claim else "Available"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec, "status": status}


def storage_class(name: str, *, driver: str = DRIVER, waits: bool = False, default: bool = False) -> Object:
    """Return a StorageClass; `waits` binds a claim only when a pod that uses it has its node."""
    notes = {"storageclass.kubernetes.io/is-default-class": "true"} if default else None
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata("StorageClass", name, annotations=notes),
        "provisioner": driver,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate",
    }


def csi_node(node: str, drivers: tuple[str, ...] = (DRIVER,)) -> Object:
    """Return the CSINode of a node with the drivers that run there."""
    spec = {"drivers": [{"name": driver, "nodeID": node, "topologyKeys": None} for driver in drivers]}
    meta = metadata("CSINode", node, owner=f"Node/{node}")
    meta["ownerReferences"][0] = {k: v for k, v in meta["ownerReferences"][0].items() if k in _OWNED}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta, "spec": spec}


_OWNED = ("apiVersion", "kind", "name", "uid")


def volume_attachment(name: str, node: str, volume: str, *, attached: bool = True, driver: str = DRIVER) -> Object:
    """Return the VolumeAttachment of a PersistentVolume to a node."""
    spec = {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": volume}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": metadata("VolumeAttachment", name),
        "spec": spec,
        "status": {"attached": attached},
    }
