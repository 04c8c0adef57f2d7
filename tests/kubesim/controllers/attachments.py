# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaching and detaching: VolumeAttachments that follow the pods, and the CSINode of each node.

On a PersistentVolume with a csi source:

fake/attach         seconds from a pod's arrival on a node until the volume is attached there (default 0.1)
fake/attach-error   why it never is
fake/detach         seconds from the end of the last pod that used it there until it is detached (default 1);
                    anything that is not a number: never
fake/detach-error   why it never is, once somebody has tried

A VolumeAttachment without the finalizer of an external attacher is nobody's here: it is neither changed nor removed.
"""

from __future__ import annotations

import hashlib
from functools import partial

from ..objects import Object, is_terminating
from .nodes import readiness
from .pods import is_finished
from .volume_uses import driver_of, note_of, seconds_in, uses_of
from .workqueue import WorkQueue
from .world import World

CONTROLLER = "attachdetach-controller"
ATTACH_SECONDS, DETACH_SECONDS = 0.1, 1.0
# How long a volume stays attached to a node whose kubelet cannot say that it unmounted it.
UNREACHABLE_SECONDS = 360.0
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_FINALIZER = "external-attacher/"
Place = tuple[str, str]  # node, volume


def attachment_name(driver: str, handle: str, node: str) -> str:
    """Return the name that the controller gives to a VolumeAttachment."""
    return "csi-" + hashlib.sha256(f"{handle}{driver}{node}".encode()).hexdigest()


class Attachments:
    """Attach volumes where pods that use them have come, and detach them where the last one has gone."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Place] = WorkQueue(world.agenda, self._reconcile)
        self._users: dict[Place, dict[str, Object]] = {}  # pods by uid
        self._places: dict[str, set[Place]] = {}  # by pod uid
        self._pauses: dict[Place, float] = {}

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if event == "DELETED" or is_finished(pod):
            for place in self._places.pop(uid, ()):
                users = self._users.get(place, {})
                users.pop(uid, None)
                if not users:
                    self._users.pop(place, None)
                self._queue.add(place)
            return
        if not node or not pod["spec"].get("volumes"):
            return
        for use in uses_of(self._world.store, pod):
            if use.volume is not None and driver_of(use.volume):
                place = (node, use.volume["metadata"]["name"])
                if uid not in self._users.setdefault(place, {}):
                    self._queue.add(place)
                self._users[place][uid] = pod
                self._places.setdefault(uid, set()).add(place)

    def observe_claim(self, event: str, claim: Object, old: Object | None) -> None:
        """Handle a claim that may have got its volume."""
        for pod in self._world.index.pods_in(claim["metadata"]["namespace"]):
            self.observe_pod("MODIFIED", pod, pod)

    def observe_volume(self, event: str, volume: Object, old: Object | None) -> None:
        """Handle a volume: its claim's pods may have been there before it."""
        holder = volume["spec"].get("claimRef") or {}
        for pod in self._world.index.pods_in(holder.get("namespace", "")):
            self.observe_pod("MODIFIED", pod, pod)
        for node, name in list(self._users):
            if name == volume["metadata"]["name"]:
                self._queue.add((node, name))

    def observe_attachment(self, event: str, attachment: Object, old: Object | None) -> None:
        """Handle an attachment: where it is gone, another node may have the volume."""
        spec = attachment["spec"]
        name = (spec.get("source") or {}).get("persistentVolumeName") or ""
        self._queue.add((spec["nodeName"], name))
        if event == "DELETED":
            for place in list(self._users):
                if place[1] == name:
                    self._queue.add(place)

    def observe_node(self, event: str, node: Object, old: Object | None) -> None:
        """Handle a node: it gets its CSINode."""
        if event == "ADDED":
            self._world.agenda.after(0, partial(self._register, node))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _register(self, node: Object) -> None:
        meta = node["metadata"]
        if self._world.store.get("CSINode", None, meta["name"]) is not None:
            return
        owner = {"apiVersion": "v1", "kind": "Node", "name": meta["name"], "uid": meta["uid"]}
        driver = {"name": "csi.example", "nodeID": meta["name"], "topologyKeys": None}
        made: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": {"drivers": [driver]}}
        self._world.store.create({**made, "metadata": {"name": meta["name"], "ownerReferences": [owner]}})

    def _reconcile(self, place: Place) -> None:
        node, name = place
        volume = self._world.store.get("PersistentVolume", None, name)
        attachment = self._attachment(place)
        if self._users.get(place):
            if attachment is None and volume is not None:
                self._attach(place, volume)
        elif attachment is not None and not is_terminating(attachment) and _is_ours(attachment):
            self._world.delete(attachment)
            after = self._detach_seconds(node, volume)
            if after is not None:
                self._world.agenda.after(after, partial(self._detached, attachment))
            elif volume is not None and note_of(volume, "fake/detach-error"):
                error = {"message": note_of(volume, "fake/detach-error"), "time": self._world.stamp()}
                self._world.change(attachment, lambda obj: obj["status"].update(detachError=error))

    def _attachment(self, place: Place) -> Object | None:
        return next((found for found in self._of_volume(place[1]) if found["spec"]["nodeName"] == place[0]), None)

    def _of_volume(self, name: str) -> list[Object]:
        everything = self._world.store.list("VolumeAttachment")
        return [va for va in everything if (va["spec"].get("source") or {}).get("persistentVolumeName") == name]

    def _attach(self, place: Place, volume: Object) -> None:
        elsewhere = [va for va in self._of_volume(place[1]) if va["spec"]["nodeName"] != place[0]]
        if elsewhere and not {"ReadWriteMany", "ReadOnlyMany"} & set(volume["spec"].get("accessModes") or ()):
            self._refuse(place, self._multi_attach(place, elsewhere))
            return
        self._pauses.pop(place, None)
        driver = driver_of(volume)
        made: Object = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttachment",
            "metadata": {
                "name": attachment_name(driver, volume["spec"]["csi"].get("volumeHandle", ""), place[0]),
                "finalizers": [_FINALIZER + driver.replace(".", "-")],
            },
            "spec": {"attacher": driver, "nodeName": place[0], "source": {"persistentVolumeName": place[1]}},
            "status": {"attached": False},
        }
        made = self._world.store.create(made)
        error = note_of(volume, "fake/attach-error")
        if error is None:
            after = seconds_in(volume, "fake/attach", ATTACH_SECONDS)
            self._world.agenda.after(after, partial(self._attached, place, made))
        else:
            self._failed(place, made, error)

    def _attached(self, place: Place, attachment: Object) -> None:
        if self._world.change(attachment, lambda obj: obj.update(status={"attached": True})) is None:
            return
        for pod in self._users.get(place, {}).values():
            words = f'AttachVolume.Attach succeeded for volume "{place[1]}" '
            self._world.record(pod, "SuccessfulAttachVolume", words, CONTROLLER)

    def _failed(self, place: Place, attachment: Object, error: str) -> None:
        """Write the attacher's error; look again later whether it still stands."""
        volume = self._world.store.get("PersistentVolume", None, place[1])
        if not self._users.get(place) or volume is None:
            return
        if note_of(volume, "fake/attach-error") is None:
            self._attached(place, attachment)
            return
        status = {"attached": False, "attachError": {"message": error, "time": self._world.stamp()}}
        if self._world.change(attachment, lambda obj: obj.update(status=status)) is not None:
            pause = self._warn(place, f'AttachVolume.Attach failed for volume "{place[1]}" : {error}')
            self._world.agenda.after(pause, partial(self._failed, place, attachment, error))

    def _refuse(self, place: Place, message: str) -> None:
        self._queue.add(place, self._warn(place, message))

    def _warn(self, place: Place, message: str) -> float:
        for pod in self._users.get(place, {}).values():
            self._world.warn(pod, "FailedAttachVolume", message, CONTROLLER)
        self._pauses[place] = pause = min(self._pauses.get(place, 0.25) * 2, 122.0)
        return pause

    def _multi_attach(self, place: Place, elsewhere: list[Object]) -> str:
        nodes = {va["spec"]["nodeName"] for va in elsewhere}
        users = [pod for node in nodes for pod in self._users.get((node, place[1]), {}).values()]
        names = ", ".join(sorted(pod["metadata"]["name"] for pod in users))
        head = f'Multi-Attach error for volume "{place[1]}" Volume is already'
        if names:
            return f"{head} used by pod(s) {names}"
        return f"{head} exclusively attached to one node and can't be attached to another"

    def _detach_seconds(self, node: str, volume: Object | None) -> float | None:
        if volume is None:
            return DETACH_SECONDS
        if note_of(volume, "fake/detach-error"):
            return None
        asked = note_of(volume, "fake/detach")
        seconds = seconds_in(volume, "fake/detach", -1.0) if asked is not None else DETACH_SECONDS
        home = self._world.store.get("Node", None, node)
        if home is not None and readiness(home) == "Unknown" and not _is_out_of_service(home):
            return max(seconds, UNREACHABLE_SECONDS)
        return seconds if seconds >= 0 else None

    def _detached(self, attachment: Object) -> None:
        def lift(obj: Object) -> None:
            obj["metadata"]["finalizers"] = [f for f in obj["metadata"]["finalizers"] if not f.startswith(_FINALIZER)]

        self._world.change(attachment, lift)


def _is_ours(attachment: Object) -> bool:
    return any(found.startswith(_FINALIZER) for found in attachment["metadata"].get("finalizers") or ())


def _is_out_of_service(node: Object) -> bool:
    return any(taint["key"] == OUT_OF_SERVICE for taint in (node.get("spec") or {}).get("taints") or ())
