# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PersistentVolumeClaims: a volume is made for each, or found, or the claim stays pending.

fake/provision  seconds until a volume is made (on the claim, default 0.1)
fake/pending    why none is ever made (on the claim)

A claim that names no class gets a volume of the default class, and where the cluster has no classes at all one of the
driver csi.example.
"""

from __future__ import annotations

from functools import partial

from .. import quantities
from ..objects import Object, is_terminating
from .volume_uses import is_bound, note_of, seconds_in
from .workqueue import WorkQueue
from .world import World

CONTROLLER = "persistentvolume-controller"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_DRIVER = "csi.example"
_NO_VOLUME = "no persistent volumes available for this claim and no storage class is set"
_WAITS = "waiting for first consumer to be created before binding"
Key = tuple[str, str]


def class_of(world: World, claim: Object) -> tuple[str, Object | None]:
    """Return name and object of a claim's storage class; no name: only volumes that exist already are taken."""
    name = claim["spec"].get("storageClassName")
    classes = world.store.list("StorageClass")
    if name is None:
        default = next((found for found in classes if note_of(found, DEFAULT_CLASS) == "true"), None)
        if default is not None:
            return default["metadata"]["name"], default
        plain: Object = {"metadata": {"name": "standard"}, "provisioner": _DRIVER}
        return ("", None) if classes else ("standard", plain)
    return name, world.store.get("StorageClass", None, name)


def waits_for_pod(world: World, claim: Object) -> bool:
    """Return whether the claim is only bound when a pod that uses it has its node."""
    return (class_of(world, claim)[1] or {}).get("volumeBindingMode") == "WaitForFirstConsumer"


class Claims:
    """Bind claims to volumes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._being_made: set[str] = set()

    def observe(self, event: str, claim: Object, old: Object | None) -> None:
        """Handle a change of a claim; a volume is deleted with it where it is to be deleted."""
        if event != "DELETED":
            self._queue.add((claim["metadata"]["namespace"], claim["metadata"]["name"]))
            return
        volume = self._world.store.get("PersistentVolume", None, claim["spec"].get("volumeName") or "")
        if volume is not None and (volume["spec"].get("claimRef") or {}).get("uid") == claim["metadata"]["uid"]:
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                self._world.agenda.after(0, partial(self._world.delete, volume))
            else:
                self._world.agenda.after(0, partial(self._world.report, volume, {"phase": "Released"}))

    def observe_source(self, event: str, source: Object, old: Object | None) -> None:
        """Handle a new volume or class that a pending claim may wait for."""
        if event != "DELETED":
            for claim in self._world.store.list("PersistentVolumeClaim"):
                if not is_bound(claim):
                    self.observe("MODIFIED", claim, None)

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        claim = self._world.store.get("PersistentVolumeClaim", *key)
        if claim is None or is_bound(claim) or is_terminating(claim) or claim["metadata"]["uid"] in self._being_made:
            return
        named = claim["spec"].get("volumeName")
        volume = self._world.store.get("PersistentVolume", None, named) if named else self._match(claim)
        if volume is not None:
            self._bind(claim, volume)
            return
        if named:
            return
        name, storage_class = class_of(self._world, claim)
        if not name:
            self._world.record(claim, "FailedBinding", _NO_VOLUME, CONTROLLER)
        elif storage_class is None:
            missing = f'storageclass.storage.k8s.io "{name}" not found'
            self._world.warn(claim, "ProvisioningFailed", missing, CONTROLLER)
        elif waits_for_pod(self._world, claim) and not note_of(claim, SELECTED_NODE):
            self._world.record(claim, "WaitForFirstConsumer", _WAITS, CONTROLLER)
        else:
            self._provision(claim, storage_class)

    def _match(self, claim: Object) -> Object | None:
        """Return the smallest free volume that suits the claim."""
        wanted, size = class_of(self._world, claim)[0], quantities.amount(_size(claim))
        fitting = []
        for volume in self._world.store.list("PersistentVolume"):
            spec, holder = volume["spec"], volume["spec"].get("claimRef")
            if holder is not None and _is_for(holder, claim):
                return volume
            if holder is None and (spec.get("storageClassName") or "") == wanted:
                capacity = quantities.amount((spec.get("capacity") or {}).get("storage", "0"))
                modes = set(claim["spec"].get("accessModes") or ())
                if capacity >= size and modes <= set(spec.get("accessModes") or ()):
                    fitting.append((capacity, volume["metadata"]["name"], volume))
        return min(fitting, key=lambda found: found[:2])[2] if fitting else None

    def _provision(self, claim: Object, storage_class: Object) -> None:
        refused = note_of(claim, "fake/pending")
        name = storage_class["metadata"]["name"]
        if refused is not None:
            message = f'failed to provision volume with StorageClass "{name}": {refused}'
            self._world.warn(claim, "ProvisioningFailed", message, storage_class["provisioner"])
            return
        self._being_made.add(claim["metadata"]["uid"])
        after = seconds_in(claim, "fake/provision", 0.1)
        self._world.agenda.after(after, partial(self._provisioned, claim, storage_class))

    def _provisioned(self, claim: Object, storage_class: Object) -> None:
        meta, spec = claim["metadata"], claim["spec"]
        self._being_made.discard(meta["uid"])
        current = self._world.store.get("PersistentVolumeClaim", meta["namespace"], meta["name"])
        if current is None or current["metadata"]["uid"] != meta["uid"]:
            return
        name = f"pvc-{meta['uid']}"
        volume: Object = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": _size(claim)},
                "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
                "csi": {"driver": storage_class["provisioner"], "volumeHandle": name},
                "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
                "storageClassName": storage_class["metadata"]["name"],
                "volumeMode": spec.get("volumeMode", "Filesystem"),
            },
        }
        if self._world.store.get("PersistentVolume", None, name) is None:
            volume = self._world.store.create(volume)
        message = f"Successfully provisioned volume {name}"
        self._world.record(current, "ProvisioningSucceeded", message, storage_class["provisioner"])
        self._bind(current, volume)

    def _bind(self, claim: Object, volume: Object) -> None:
        meta, capacity = claim["metadata"], volume["spec"].get("capacity") or {}
        holder = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": meta["namespace"]}
        holder.update(name=meta["name"], uid=meta["uid"])

        def taken(obj: Object) -> None:
            obj["spec"]["claimRef"] = holder
            obj["status"] = {"phase": "Bound"}

        def bound(obj: Object) -> None:
            obj["spec"]["volumeName"] = volume["metadata"]["name"]
            obj["status"] = {"phase": "Bound", "accessModes": volume["spec"].get("accessModes"), "capacity": capacity}

        self._world.change(volume, taken)
        self._world.change(claim, bound)


def _size(claim: Object) -> str:
    return str(((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage", "1Gi"))


def _is_for(holder: Object, claim: Object) -> bool:
    meta = claim["metadata"]
    same = holder.get("namespace") == meta["namespace"] and holder.get("name") == meta["name"]
    return same and holder.get("uid") in (None, meta["uid"])
