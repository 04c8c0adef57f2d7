# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines under the nodes: reboots, dead kubelets, and their return."""

from __future__ import annotations

import uuid
from functools import partial

from ..agenda import Handle
from ..errors import not_found
from ..objects import Object, set_condition
from .kubelet import Kubelets
from .world import World

# What a kubelet says of a pressure that is not there.
_CALM = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


class Machines:
    """Do to a node what people and power cuts do. A node that does not exist is refused with ApiStatus 404."""

    def __init__(self, world: World, kubelets: Kubelets) -> None:
        self._world = world
        self._kubelets = kubelets
        self._rebooting: dict[str, Handle] = {}

    def reboot(self, node: str, down: float, kubelet_version: str | None = None) -> None:
        """Let the node be NotReady at once and back after `down` seconds: new bootID, containers restarted."""
        self._known(node)
        self._cancel(node)
        self._say(node, "False", "KubeletNotReady", "node is shutting down")
        self._kubelets.silence(node)
        self._rebooting[node] = self._world.agenda.after(down, partial(self._back, node, kubelet_version))

    def fail(self, node: str) -> None:
        """Let the kubelet fall silent: every condition Unknown, pods neither start nor end there."""
        self._known(node)
        self._cancel(node)
        self._kubelets.silence(node)
        self._say(node, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")

    def recover(self, node: str) -> None:
        """Let a silent kubelet speak again; what is due on its pods happens then."""
        self._known(node)
        if node in self._rebooting:
            return
        self._say(node, "True", "KubeletReady", "kubelet is posting ready status")
        self._kubelets.speak(node)

    def stop(self) -> None:
        """Strike everything planned."""
        for node in list(self._rebooting):
            self._cancel(node)

    def _known(self, node: str) -> None:
        if self._world.store.get("Node", None, node) is None:
            raise not_found("nodes", node)

    def _cancel(self, node: str) -> None:
        planned = self._rebooting.pop(node, None)
        if planned is not None:
            planned.cancel()

    def _back(self, node: str, kubelet_version: str | None) -> None:
        self._rebooting.pop(node, None)
        boot = str(uuid.UUID(int=self._world.chance.getrandbits(128), version=4))

        def booted(obj: Object) -> None:
            info = obj.setdefault("status", {}).setdefault("nodeInfo", {})
            info["bootID"] = boot
            if kubelet_version:
                info["kubeletVersion"] = kubelet_version

        self._world.store.mutate("Node", None, node, booted)
        self._say(node, "True", "KubeletReady", "kubelet is posting ready status")
        self._kubelets.reboot(node)
        self._kubelets.speak(node)

    def _say(self, node: str, ready: str, reason: str, message: str) -> None:
        stamp = self._world.stamp()

        def report(obj: Object) -> None:
            status = obj.setdefault("status", {})
            pressures = [c["type"] for c in status.get("conditions") or () if c["type"] != "Ready"]
            for kind in pressures if ready != "False" else ():
                known = dict(zip(("reason", "message"), _CALM.get(kind, ("KubeletReady", "")), strict=True))
                entry = {
                    "type": kind,
                    "status": "False",
                    "lastHeartbeatTime": stamp,
                    "lastTransitionTime": stamp,
                    **known,
                }
                if ready == "Unknown":
                    entry.update(status="Unknown", reason=reason, message=message)
                set_condition(status, entry)
            ready_entry = {
                "type": "Ready",
                "status": ready,
                "lastHeartbeatTime": stamp,
                "lastTransitionTime": stamp,
                "reason": reason,
                "message": message,
            }
            set_condition(status, ready_entry)

        self._world.store.mutate("Node", None, node, report)
