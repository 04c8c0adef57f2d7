# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubelets: what happens to a pod on its node, driven by annotations of the pod.

fake/start    seconds from binding until Running and Ready (default 0.2)
fake/noready  any value but "" and "false": it starts and never becomes ready
fake/run      seconds from start until its containers end with exit code 0 (default: they run for ever)
fake/term     seconds from deletion until it is gone (default 1); a grace period of 0 removes it at once

What goes wrong with containers is in ../container_faults.py, with volumes in mounts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..agenda import Handle
from ..objects import Object, copied, is_terminating, set_condition
from .addresses import Addresses
from .containers import awaits_containers, ended, is_never_ready, restarting, started, starting
from .kubelet_events import say_started, say_stopping
from .mounts import Mounts
from .nodes import is_alive, readiness
from .pod_life import PodLives
from .pods import condition, is_finished, phase
from .world import World

START_SECONDS = 0.2
TERM_SECONDS = 1.0
SIGTERM_EXIT = 143  # what a process that lets SIGTERM end it leaves
MIRROR = "kubernetes.io/config.mirror"


def seconds(pod: Object, annotation: str, default: float) -> float:
    """Return the number in an annotation of the pod, or the default where it is missing or no number."""
    try:
        return float((pod["metadata"].get("annotations") or {})[annotation])
    except (KeyError, ValueError):
        return default


class Kubelets:
    """The kubelets of all nodes. A node whose kubelet is silent (Ready Unknown, rebooting, deleted) does nothing."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._plans: dict[str, tuple[str, Handle]] = {}  # by pod uid: what is planned, and when
        self._stopped: set[str] = set()  # containers ended, finalizers keep the pod
        self._silent: set[str] = set()
        self._held: set[str] = set()  # silent whatever the node's conditions say
        self._addresses = Addresses(world.store)
        self._lives = PodLives(world)
        self._mounts = Mounts(world)

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        if event == "DELETED":
            self._drop_plan(pod)
            self._lives.forget(pod)
            self._mounts.forget(pod)
            self._stopped.discard(pod["metadata"]["uid"])
            if old is not None and MIRROR in (pod["metadata"].get("annotations") or {}):
                self._mirror_again(pod)
        elif pod.get("spec", {}).get("nodeName"):
            self._consider(pod)

    def observe_node(self, event: str, node: Object, old: Object | None) -> None:
        """Handle a change of a node: a silent kubelet does nothing, one that speaks again catches up."""
        name = node["metadata"]["name"]
        if event == "DELETED":
            self._held.discard(name)
            self._silence(name)
        elif not is_alive(node):
            self._silence(name)
        elif name not in self._held and (name in self._silent or (old is not None and readiness(old) != "True")):
            self._speak(name)

    def silence(self, node: str) -> None:
        """Let the kubelet do nothing until `speak`, whatever is written into its node."""
        self._held.add(node)
        self._silence(node)

    def speak(self, node: str) -> None:
        """Let a silenced kubelet do what has become due."""
        self._held.discard(node)
        self._speak(node)

    def reboot(self, node: str) -> None:
        """Mark what ran on the node as dead; to be called when it is back, before `speak`."""
        for pod in self._world.index.pods_on(node):
            if is_finished(pod) or phase(pod) == "Pending":
                continue
            self._lives.forget(pod)
            if is_terminating(pod):
                self._gone(pod)
            elif pod["spec"].get("restartPolicy") == "Never":
                self._write(pod, lambda status: ended(status, self._world.stamp(), exit_code=255))
            else:
                self._write(pod, lambda status: restarting(status, self._world.stamp()))

    def stop(self) -> None:
        """Strike everything planned."""
        for _what, handle in self._plans.values():
            handle.cancel()
        self._plans.clear()

    def _consider(self, pod: Object) -> None:
        if pod["spec"]["nodeName"] in self._silent:
            return
        if is_terminating(pod):
            if pod["metadata"]["uid"] not in self._stopped:
                self._terminate(pod)
        elif self._lives.plays(pod):
            self._live_on(pod)
        elif phase(pod) == "Pending":
            if not (pod.get("status") or {}).get("startTime"):
                self._world.agenda.after(0, partial(self._admit, pod))
            self._plan(pod, "start", seconds(pod, "fake/start", START_SECONDS), self._start)
        elif awaits_containers(pod):
            self._plan(pod, "start", seconds(pod, "fake/start", START_SECONDS), self._start)
        elif phase(pod) == "Running":
            run = seconds(pod, "fake/run", -1.0)
            if run >= 0:
                self._plan(pod, "run", run, self._complete)
            if self._is_ready_again(pod):
                self._world.agenda.after(0, partial(self._ready_again, pod))

    def _terminate(self, pod: Object) -> None:
        planned = self._plans.get(pod["metadata"]["uid"])
        if planned is None or planned[0] != "term":
            say_stopping(self._world, pod)
        self._plan(pod, "term", self._term_seconds(pod), self._gone)

    def _live_on(self, pod: Object) -> None:
        after = self._lives.next_step(pod)
        if after is not None:
            self._plan(pod, "life", after, self._live)

    def _live(self, pod: Object) -> None:
        self._lives.step(pod)
        self._live_on(pod)

    def _term_seconds(self, pod: Object) -> float:
        if pod["metadata"].get("deletionGracePeriodSeconds") == 0:
            return 0.0
        return seconds(pod, "fake/term", TERM_SECONDS)

    def _plan(self, pod: Object, what: str, after: float, action: Callable[[Object], None]) -> None:
        uid = pod["metadata"]["uid"]
        planned = self._plans.get(uid)
        due = self._world.now + after
        if planned is not None:
            if planned[0] == what and planned[1].when <= due:
                return
            planned[1].cancel()
        self._plans[uid] = (what, self._world.agenda.at(due, partial(self._run, uid, pod, action)))

    def _run(self, uid: str, pod: Object, action: Callable[[Object], None]) -> None:
        self._plans.pop(uid, None)
        meta = pod["metadata"]
        current = self._world.store.get("Pod", meta["namespace"], meta["name"])
        if current is not None and current["metadata"]["uid"] == uid:
            action(current)

    def _drop_plan(self, pod: Object) -> None:
        planned = self._plans.pop(pod["metadata"]["uid"], None)
        if planned is not None:
            planned[1].cancel()

    def _speak(self, node: str) -> None:
        self._silent.discard(node)
        for pod in self._world.index.pods_on(node):
            self._consider(pod)

    def _silence(self, node: str) -> None:
        self._silent.add(node)
        for pod in self._world.index.pods_on(node):
            self._drop_plan(pod)

    def _write(self, pod: Object, change: Callable[[Object], None]) -> None:
        self._world.change(pod, lambda obj: change(obj.setdefault("status", {})))

    def _admit(self, pod: Object) -> None:
        node = pod["spec"]["nodeName"]
        if node not in self._silent:
            self._world.change(pod, lambda obj: starting(obj, self._world.stamp(), self._addresses.of_node(node)))

    def _start(self, pod: Object) -> None:
        wait = self._mounts.wait(pod)
        if wait is not None:
            self._plan(pod, "start", wait, self._start)
            return
        host = self._addresses.of_node(pod["spec"]["nodeName"])
        address = host if pod["spec"].get("hostNetwork") and host else self._addresses.next_for_pod()
        if self._lives.is_needed(pod):
            self._lives.begin(pod, address)
            self._live(pod)
            return
        self._world.change(pod, lambda obj: started(obj, self._world.stamp(), not is_never_ready(pod), address))
        say_started(self._world, pod)

    def _complete(self, pod: Object) -> None:
        self._write(pod, lambda status: ended(status, self._world.stamp(), exit_code=0))

    def _gone(self, pod: Object) -> None:
        meta = pod["metadata"]
        self._drop_plan(pod)
        if meta.get("finalizers"):
            self._stopped.add(meta["uid"])
            if not is_finished(pod):
                self._write(pod, lambda status: ended(status, self._world.stamp(), exit_code=SIGTERM_EXIT))
        self._world.store.remove("Pod", meta["namespace"], meta["name"])

    def _is_ready_again(self, pod: Object) -> bool:
        containers, ready = condition(pod, "ContainersReady"), condition(pod, "Ready")
        if containers is None or ready is None or ready["status"] == "True" or containers["status"] != "True":
            return False
        node = self._world.store.get("Node", None, pod["spec"]["nodeName"])
        return node is not None and readiness(node) == "True"

    def _ready_again(self, pod: Object) -> None:
        """Correct a Ready that the node lifecycle controller took away while the node was not ready."""
        condition_now: Object = {
            "type": "Ready",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": self._world.stamp(),
        }
        self._write(pod, lambda status: set_condition(status, condition_now))

    def _mirror_again(self, pod: Object) -> None:
        """Show a static pod again: deleting its mirror ends nothing on the node."""
        if pod["spec"].get("nodeName") in self._silent:
            return
        meta = {
            k: v
            for k, v in pod["metadata"].items()
            if k in ("name", "namespace", "labels", "annotations", "ownerReferences")
        }
        status = copied(pod.get("status") or {})
        mirror = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod["spec"], "status": status}
        self._world.agenda.after(START_SECONDS, partial(self._create_mirror, mirror))

    def _create_mirror(self, mirror: Object) -> None:
        meta = mirror["metadata"]
        if self._world.store.get("Pod", meta["namespace"], meta["name"]) is None:
            self._world.store.create(mirror)
