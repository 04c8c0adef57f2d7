# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The course of one container: pulled, made, run, ended, started again after a pause."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

from ..container_faults import Crash, Probe, crash_of, creation_error, note_of, probe_of, pull_error
from ..objects import Object
from . import references
from .kubelet_events import say_container_started
from .world import World

# Pauses of the kubelet: between two looks at a pod that fails, and the back-off of pulls and restarts.
SYNC_SECONDS = 10.0
FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0
# How long a container shows as ended before the kubelet has decided what follows.
ENDED_SECONDS = 1.0
INIT_SECONDS = 0.1
LIVENESS_EXIT = 137


def go_duration(seconds: float) -> str:
    """Write whole seconds as Go does: 10s, 1m20s, 5m0s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _doubled(pause: float) -> float:
    return min(pause * 2, LONGEST_BACKOFF) if pause else FIRST_BACKOFF


class Course:
    """One container of one pod. `due` is when `advance` has something to do; `state` is as in its containerStatus."""

    def __init__(self, world: World, pod: Object, container: Object, init: bool, before: Object | None) -> None:
        before = before or {}
        self.container = container
        self.name: str = container["name"]
        self.is_init = init
        self.is_sidecar = init and container.get("restartPolicy") == "Always"
        self.state: Object = {"waiting": {"reason": "PodInitializing"}}
        self.last_state: Object = before.get("lastState") or {}
        self.restarts: int = before.get("restartCount", 0)
        self.due = math.inf
        self.begun = False
        self._began = world.now
        self._world = world
        self._field = f"spec.{'initContainers' if init else 'containers'}{{{self.name}}}"
        self._next: Callable[[Object], None] = self._try
        self._pull_pause = self._crash_pause = 0.0
        self._pulled = False
        self._failing: Probe | None = None
        self._crash: Crash | None = None
        self._failures = 0
        self._identity = pod["metadata"]["uid"]

    @property
    def runs(self) -> bool:
        """Return whether it runs at the moment."""
        return "running" in self.state

    @property
    def is_done(self) -> bool:
        """Return whether it has ended and will not be started again."""
        return "terminated" in self.state and self.due == math.inf

    @property
    def is_passed(self) -> bool:
        """Return whether an init container lets the next one start."""
        return self.runs if self.is_sidecar else self.is_done and self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """Return how it ended; -1 while it has not."""
        return int((self.state.get("terminated") or {}).get("exitCode", -1))

    @property
    def is_ready(self) -> bool:
        """Return whether it counts as ready: an init container once it is over, others while no probe says no."""
        if self.is_init and not self.is_sidecar:
            return self.is_passed
        return self.runs and (self._failing is None or self._failing.kind == "liveness")

    def begin(self) -> None:
        """Let it be started at the next `advance`."""
        self.begun, self.due = True, self._world.now

    def advance(self, pod: Object) -> None:
        """Do what is due."""
        self.due, todo = math.inf, self._next
        todo(pod)

    def status(self) -> Object:
        """Return its containerStatus."""
        image = self.container.get("image", "")
        made = self.runs or "terminated" in self.state or bool(self.last_state)
        return {
            "name": self.name,
            "state": self.state,
            "lastState": self.last_state,
            "ready": self.is_ready,
            "restartCount": self.restarts,
            "image": image,
            "imageID": f"sha256:{image}" if made else "",
            **({"containerID": self._container_id()} if self.runs else {}),
            "started": self.runs and (self._failing is None or self._failing.kind != "startup"),
        }

    def _container_id(self) -> str:
        text = f"{self._identity}/{self.name}/{self.restarts}"
        return "containerd://" + hashlib.sha256(text.encode()).hexdigest()

    def _then(self, seconds: float, what: Callable[[Object], None]) -> None:
        self._next, self.due = what, self._world.now + seconds

    def _wait(self, reason: str, message: str) -> None:
        self.state = {"waiting": {"reason": reason, "message": message}}

    def _say(self, pod: Object, reason: str, message: str) -> None:
        self._world.record(pod, reason, message, "kubelet", self._field)

    def _warn(self, pod: Object, reason: str, message: str) -> None:
        self._world.warn(pod, reason, message, "kubelet", self._field)

    def _is_healed(self, pod: Object) -> bool:
        heals = (pod["metadata"].get("annotations") or {}).get("fake/heal")
        return heals is not None and self._world.now >= self._began + float(heals)

    def _try(self, pod: Object) -> None:
        healed = self._is_healed(pod)
        image = self.container.get("image", "")
        refused = None if healed else pull_error(pod, self.container)
        if refused is not None and not self._pulled:
            self._pull_pause = _doubled(self._pull_pause)
            self._wait("ErrImagePull", refused)
            self._say(pod, "Pulling", f'Pulling image "{image}"')
            self._warn(pod, "Failed", f'Failed to pull image "{image}": {refused}')
            self._warn(pod, "Failed", "Error: ErrImagePull")
            self._then(min(SYNC_SECONDS, self._pull_pause / 2), lambda later: self._back_off(later, refused))
            return
        self._pulled = True
        self._say(pod, "Pulled", f'Container image "{image}" already present on machine')
        missing = references.missing_for(self._world.store, pod, self.container)
        broken = ("CreateContainerConfigError", missing) if missing else None
        broken = broken or (None if healed else creation_error(pod, self.container))
        if broken is not None:
            self._wait(*broken)
            self._warn(pod, "Failed", f"Error: {broken[1]}")
            self._then(SYNC_SECONDS, self._try)
            return
        self._run(pod, healed)

    def _back_off(self, pod: Object, refused: str) -> None:
        image = self.container.get("image", "")
        self._wait("ImagePullBackOff", f'Back-off pulling image "{image}": ErrImagePull: {refused}')
        self._say(pod, "BackOff", f'Back-off pulling image "{image}"')
        self._warn(pod, "Failed", "Error: ImagePullBackOff")
        self._then(self._pull_pause, self._try)

    def _run(self, pod: Object, healed: bool) -> None:
        say_container_started(self._world, pod, self.name, self._field)
        self.state = {"running": {"startedAt": self._world.stamp()}}
        self._crash = None if healed else crash_of(pod, self.container)
        self._failing = None if healed else probe_of(pod, self.container)
        self._failures = 0
        if self._crash is None and self.is_init and not self.is_sidecar:
            said = note_of(pod, "fake/exec", self.container)
            self._crash = Crash(0, float(said) if said else INIT_SECONDS, reason="Completed")
        if self._crash is not None and self._crash.after <= 0:
            self._end(pod)
        elif self._crash is not None:
            self._then(self._crash.after, self._end)
        elif self._failing is not None:
            self._then(self._failing.initial, self._probe)

    def _probe(self, pod: Object) -> None:
        probe = self._failing
        if probe is None:
            return
        if self._is_healed(pod) or probe_of(pod, self.container) is None:
            self._failing = None
            return
        name, self._failures = probe.kind.capitalize(), self._failures + 1
        self._warn(pod, "Unhealthy", f"{name} probe failed: {probe.output}")
        if probe.restarts and self._failures >= probe.threshold:
            self._say(pod, "Killing", f"Container {self.name} failed {probe.kind} probe, will be restarted")
            self._crash = Crash(LIVENESS_EXIT, 0.0)
            self._end(pod)
        else:
            self._then(probe.period, self._probe)

    def _end(self, pod: Object) -> None:
        crash = self._crash or Crash(0, 0.0, reason="Completed")
        began = (self.state.get("running") or {}).get("startedAt", self._world.stamp())
        ended: Object = {"exitCode": crash.code, "reason": crash.reason, "startedAt": began}
        ended.update(finishedAt=self._world.stamp(), containerID=self._container_id())
        self.state = {"terminated": ended}
        if self._starts_again(pod, crash.code):
            first = not self.restarts
            self._then(ENDED_SECONDS, self._restart if first else self._crash_back_off)

    def _starts_again(self, pod: Object, code: int) -> bool:
        policy = pod["spec"].get("restartPolicy", "Always")
        if self.is_init and not self.is_sidecar:
            return code != 0 and policy != "Never"
        return self.is_sidecar or policy == "Always" or (policy == "OnFailure" and code != 0)

    def _restart(self, pod: Object) -> None:
        self.last_state, self.restarts = self.state, self.restarts + 1
        self._try(pod)

    def _crash_back_off(self, pod: Object) -> None:
        self._crash_pause, meta = _doubled(self._crash_pause), pod["metadata"]
        self.last_state = self.state
        full_name = f"{meta['name']}_{meta['namespace']}({meta['uid']})"
        pause = go_duration(self._crash_pause)
        self._wait("CrashLoopBackOff", f"back-off {pause} restarting failed container={self.name} pod={full_name}")
        self._warn(pod, "BackOff", f"Back-off restarting failed container {self.name} in pod {full_name}")
        self._then(self._crash_pause, self._restart_from_pause)

    def _restart_from_pause(self, pod: Object) -> None:
        self.restarts += 1
        self._try(pod)
