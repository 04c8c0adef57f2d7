# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods whose start is not plain: init containers, and everything that goes wrong with containers."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..container_faults import has_fault
from ..objects import Object, is_terminating
from . import references
from .container_course import Course
from .containers import is_never_ready, put_condition, unready
from .world import World


class _Life:
    """The courses of all containers of one pod: init containers one after the other, then the others together."""

    def __init__(self, world: World, pod: Object, address: str) -> None:
        status, spec = pod.get("status") or {}, pod["spec"]
        before = {
            entry["name"]: entry
            for field in ("initContainerStatuses", "containerStatuses")
            for entry in status.get(field) or ()
        }
        self.address = address
        self.inits = [Course(world, pod, c, True, before.get(c["name"])) for c in spec.get("initContainers") or ()]
        self.mains = [Course(world, pod, c, False, before.get(c["name"])) for c in spec["containers"]]

    @property
    def courses(self) -> Iterator[Course]:
        yield from self.inits
        yield from self.mains

    @property
    def due(self) -> float:
        return min(course.due for course in self.courses)

    @property
    def is_initialized(self) -> bool:
        return all(course.is_passed for course in self.inits)

    def begin_next(self) -> None:
        """Let those containers begin that wait for nothing any more."""
        for course in self.inits:
            if not course.begun:
                course.begin()
            if not course.is_passed:
                return
        for course in self.mains:
            if not course.begun:
                course.begin()

    def phase(self) -> str:
        """Return the pod's phase as the kubelet computes it."""
        if any(course.is_done and course.exit_code for course in self.inits):
            return "Failed"
        if not self.is_initialized or any("waiting" in c.state and not c.last_state for c in self.mains):
            return "Pending"
        if not all(course.is_done for course in self.mains):
            return "Running"
        return "Failed" if any(course.exit_code for course in self.mains) else "Succeeded"


class PodLives:
    """Play the containers of pods that need it; the kubelet says when."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lives: dict[str, _Life] = {}

    def is_needed(self, pod: Object) -> bool:
        """Return whether the pod's start is not plain."""
        if pod["spec"].get("initContainers") or has_fault(pod):
            return True
        return references.has_references(pod) and any(
            references.missing_for(self._world.store, pod, container) for container in pod["spec"]["containers"]
        )

    def begin(self, pod: Object, address: str) -> None:
        """Begin with the pod's first containers at the next `step`."""
        self._lives[pod["metadata"]["uid"]] = _Life(self._world, pod, address)

    def forget(self, pod: Object) -> None:
        """Forget a pod that is gone or starts again."""
        self._lives.pop(pod["metadata"]["uid"], None)

    def next_step(self, pod: Object) -> float | None:
        """Return in how many seconds `step` has something to do; None when never, and for pods that are not played."""
        life = self._lives.get(pod["metadata"]["uid"])
        return None if life is None or life.due == math.inf else max(life.due - self._world.now, 0.0)

    def plays(self, pod: Object) -> bool:
        """Return whether the pod was begun."""
        return pod["metadata"]["uid"] in self._lives

    def step(self, pod: Object) -> None:
        """Do what is due and write the pod's status."""
        life = self._lives.get(pod["metadata"]["uid"])
        if life is None or is_terminating(pod):
            return
        life.begin_next()
        while life.due <= self._world.now:
            for course in life.courses:
                if course.due <= self._world.now:
                    course.advance(pod)
            life.begin_next()
        stamp = self._world.stamp()
        self._world.change(pod, lambda obj: _write(obj, life, stamp))


def _write(pod: Object, life: _Life, stamp: str) -> None:
    status = pod.setdefault("status", {})
    status["phase"] = life.phase()
    put_condition(status, "PodReadyToStartContainers", True, stamp)
    unfinished = " ".join(course.name for course in life.inits if not course.is_passed)
    if unfinished:
        why = {"reason": "ContainersNotInitialized", "message": f"containers with incomplete status: [{unfinished}]"}
        put_condition(status, "Initialized", False, stamp, **why)
    else:
        put_condition(status, "Initialized", True, stamp)
    mains = [course.status() for course in life.mains]
    if is_never_ready(pod):
        for entry in mains:
            entry["ready"] = False
    lacking = " ".join(entry["name"] for entry in mains if not entry["ready"])
    if lacking:
        unready(status, stamp, reason="ContainersNotReady", message=f"containers with unready status: [{lacking}]")
    else:
        for kind in ("Ready", "ContainersReady"):
            put_condition(status, kind, True, stamp)
    put_condition(status, "PodScheduled", True, stamp)
    status.setdefault("startTime", stamp)
    status.update(podIP=life.address, podIPs=[{"ip": life.address}])
    if life.inits:
        status["initContainerStatuses"] = [course.status() for course in life.inits]
    status["containerStatuses"] = mains
