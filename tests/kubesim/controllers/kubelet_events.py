# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events that kubelets record of pods that start and stop as they should."""

from __future__ import annotations

from ..objects import Object
from .world import World

KUBELET = "kubelet"


def say_started(world: World, pod: Object) -> None:
    """Record that all containers were made and run."""
    for container in pod["spec"]["containers"]:
        field = f"spec.containers{{{container['name']}}}"
        message = f'Container image "{container.get("image", "")}" already present on machine'
        world.record(pod, "Pulled", message, KUBELET, field)
        say_container_started(world, pod, container["name"], field)


def say_container_started(world: World, pod: Object, name: str, field: str) -> None:
    """Record that one container was made and runs."""
    world.record(pod, "Created", f"Created container: {name}", KUBELET, field)
    world.record(pod, "Started", f"Started container {name}", KUBELET, field)


def say_stopping(world: World, pod: Object) -> None:
    """Record that the running containers are being stopped."""
    for entry in (pod.get("status") or {}).get("containerStatuses") or ():
        if "running" in (entry.get("state") or {}):
            field = f"spec.containers{{{entry['name']}}}"
            world.record(pod, "Killing", f"Stopping container {entry['name']}", KUBELET, field)
