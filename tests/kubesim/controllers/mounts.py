# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes on a node: what a pod's containers wait for.

fake/mount-error (on a PersistentVolume) is why it cannot be mounted. A bound claim whose volume does not exist counts
as mounted.
"""

from __future__ import annotations

from ..objects import Object
from . import references
from .volume_uses import Use, driver_of, is_bound, note_of, uses_of
from .world import World

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 122.0
# How soon the kubelet looks again whether a volume is there by now: the longer it waits, the later.
POLL_SECONDS, LONGEST_POLL, POLL_SHARE = 0.1, 5.0, 0.1


class Mounts:
    """Say whether a pod's volumes are there, and record what keeps one away: at once, then after longer and longer."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._since: dict[str, float] = {}  # by pod uid: when it first had to wait
        self._warned: dict[str, tuple[str, float, float]] = {}  # by pod uid: message, next time, pause

    def wait(self, pod: Object) -> float | None:
        """Return in how many seconds to look again; None when everything is mounted."""
        if not pod["spec"].get("volumes"):
            return None
        obstacle = self._obstacle(pod)
        if obstacle is None:
            self.forget(pod)
            return None
        if obstacle:
            self._warn(pod, obstacle)
        waited = self._world.now - self._since.setdefault(pod["metadata"]["uid"], self._world.now)
        return min(max(waited * POLL_SHARE, POLL_SECONDS), LONGEST_POLL)

    def forget(self, pod: Object) -> None:
        """Forget a pod that is gone."""
        self._warned.pop(pod["metadata"]["uid"], None)
        self._since.pop(pod["metadata"]["uid"], None)

    def _obstacle(self, pod: Object) -> str | None:
        """Return what to record, "" for a volume that is on its way, None when nothing is missing."""
        found: str | None = None
        for use in uses_of(self._world.store, pod):
            complaint = self._of_claim(pod, use)
            if complaint:
                return complaint
            found = complaint if found is None else found
        for volume in pod["spec"]["volumes"]:
            complaint = references.missing_for_volume(self._world.store, pod["metadata"]["namespace"], volume)
            if complaint:
                return f'MountVolume.SetUp failed for volume "{volume["name"]}" : {complaint}'
        return found

    def _of_claim(self, pod: Object, use: Use) -> str | None:
        where = f"{pod['metadata']['namespace']}/{use.claim_name}"
        head = (
            f"Unable to attach or mount volumes: unmounted volumes=[{use.name}], unattached volumes=[], "
            f"failed to process volumes=[{use.name}]: error processing PVC {where}: "
        )
        if use.claim is None:
            return f'{head}failed to fetch PVC from API server: persistentvolumeclaims "{use.claim_name}" not found'
        if not is_bound(use.claim):
            return f"{head}PVC is not bound"
        if use.volume is None:
            return None
        name = use.volume["metadata"]["name"]
        if driver_of(use.volume) and not self._is_attached(pod["spec"]["nodeName"], name):
            return ""
        error = note_of(use.volume, "fake/mount-error")
        return None if error is None else f'MountVolume.MountDevice failed for volume "{name}" : {error}'

    def _is_attached(self, node: str, volume: str) -> bool:
        for attachment in self._world.store.list("VolumeAttachment"):
            spec = attachment["spec"]
            if spec["nodeName"] == node and (spec.get("source") or {}).get("persistentVolumeName") == volume:
                return bool((attachment.get("status") or {}).get("attached"))
        return False

    def _warn(self, pod: Object, message: str) -> None:
        uid, now = pod["metadata"]["uid"], self._world.now
        before, due, pause = self._warned.get(uid, ("", 0.0, 0.0))
        if before != message:
            due, pause = now, FIRST_PAUSE / 2
        if now >= due:
            pause = min(pause * 2, LONGEST_PAUSE)
            self._warned[uid] = (message, now + pause, pause)
            self._world.warn(pod, "FailedMount", message, "kubelet")
