# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say of a pod why it is not ready: what its status, its containers and its events tell.

Each rule sees the whole pod and answers for itself; the first answer in the order of RULES is the one to tell, since a
container that cannot be made explains why its pod is not ready and not the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..api.responses import clip
from ..objects import Obj, condition_of, int_field, is_ready, is_terminating, mapping_at, mappings_at

# Reasons that a kubelet gives for a container that waits.
# Source: pkg/kubelet/images/types.go and pkg/kubelet/container/sync_result.go of Kubernetes.
IMAGE_REASONS = {
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
}
CREATE_REASONS = {"CreateContainerError", "RunContainerError", "PreCreateHookError", "PostStartHookError"}
# What a registry or the network may say now and not a minute later.
PASSING = re.compile(
    r"time-?out|timed out|connection re(fused|set)|temporar|toomanyrequests|too many requests|QPS exceeded"
    r"|\b(429|50[0234])\b|unexpected EOF|TLS handshake|network is unreachable|no route to host",
    re.IGNORECASE,
)
VOLUME_EVENTS = {"FailedMount", "FailedAttachVolume", "FailedMapVolume", "VolumeResizeFailed"}
SANDBOX_EVENTS = {"FailedCreatePodSandBox", "NetworkNotReady", "FailedPodSandBoxStatus"}


class Trouble(NamedTuple):
    """Why a pod is not ready.

    reason: of the closed set in the documentation; message: a sentence's end that follows the pod's name; blamed: it is
    a fault, and not a matter of time; final: it does not heal by itself; container, exit_code, restarts: of the
    container that is at fault; logged: its log tells more.
    """

    reason: str
    message: str
    blamed: bool = False
    final: bool = False
    container: str = ""
    exit_code: int | None = None
    restarts: int = 0
    logged: bool = False


def judge(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Return why a pod is not ready, None for one that is. events: those about it, oldest first, as far as known."""
    if is_ready(pod) and not is_terminating(pod):
        return None
    for rule in RULES:
        found = rule(pod, events)
        if found is not None:
            return found
    return Trouble("starting", "is starting")


def terminating(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a pod that somebody has deleted."""
    if not is_terminating(pod):
        return None
    return Trouble("terminating", "is shutting down, until %s" % mapping_at(pod, "metadata").get("deletionTimestamp"))


def ended(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a pod that a kubelet gave up: evicted, or not admitted to its node."""
    status = mapping_at(pod, "status")
    if status.get("phase") != "Failed":
        return None
    words = ": ".join(str(status[key]) for key in ("reason", "message") if status.get(key))
    return Trouble("pod_failed", "has failed (%s)" % clip(words) if words else "has failed", blamed=True)


def unschedulable(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a pod that fits no node, in the scheduler's words. An autoscaler may heal that."""
    if mapping_at(pod, "spec").get("nodeName"):
        return None
    scheduled = condition_of(pod, "PodScheduled")
    words = clip(str(scheduled.get("message") or ""))
    if scheduled.get("reason") == "SchedulingGated":
        return Trouble("scheduling_gated", "is held back by a scheduling gate" + (": " + words if words else ""))
    if scheduled.get("status") == "False":
        return Trouble(
            "unschedulable", "cannot be scheduled: " + (words or "the scheduler gave no reason"), blamed=True
        )
    return Trouble("starting", "has not been scheduled yet")


def image(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of an image that cannot be had."""
    for entry in _containers(pod):
        waiting = mapping_at(entry.status, "state", "waiting")
        if str(waiting.get("reason")) in IMAGE_REASONS:
            words = _registry_words(waiting, events)
            text = "container %s cannot pull image %s: %s" % (entry.name, entry.image, words)
            return Trouble(
                "image_pull", text, blamed=True, final=not PASSING.search(words), container=entry.name,
                restarts=entry.restarts,
            )  # fmt: skip
    return None


def container(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a container that cannot be made or started."""
    for entry in _containers(pod):
        waiting = mapping_at(entry.status, "state", "waiting")
        words = clip(str(waiting.get("message") or waiting.get("reason") or ""))
        if waiting.get("reason") == "CreateContainerConfigError":
            reason, text = "container_config", "container %s cannot be configured: %s" % (entry.name, words)
        elif str(waiting.get("reason")) in CREATE_REASONS:
            reason, text = "container_create", "container %s cannot be started: %s" % (entry.name, words)
        else:
            continue
        return Trouble(reason, text, True, True, entry.name, restarts=entry.restarts)
    return None


def crash(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a container that ends when it should run."""
    for entry in _containers(pod):
        looping = mapping_at(entry.status, "state", "waiting").get("reason") == "CrashLoopBackOff"
        now = mapping_at(entry.status, "state", "terminated")
        last = now or mapping_at(entry.status, "lastState", "terminated")
        if entry.status.get("ready") is True or not (looping or last):
            continue
        code = last.get("exitCode") if isinstance(last.get("exitCode"), int) else None
        if entry.init and code == 0 and now:
            # An init container that has done its work.
            continue
        killed = last.get("reason") == "OOMKilled"
        reason = "oom_killed" if killed else "init_failed" if entry.init else "crash_loop"
        final = looping or killed or entry.restarts > 1
        # While it runs again, it may become ready yet; if it does not, it will soon be seen down once more.
        down = mapping_at(entry.status, "state").get("running") is None
        return Trouble(reason, _crash_text(entry, code, killed), down, final, entry.name, code, entry.restarts, True)
    return None


def volume(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a volume or a network that a kubelet cannot set up. Only events say so."""
    last = events[-1] if events else {}
    words = clip(str(last.get("message") or ""))
    if last.get("reason") in VOLUME_EVENTS:
        return Trouble("volume", "waits for a volume: " + words, blamed=True)
    if last.get("reason") in SANDBOX_EVENTS:
        return Trouble("sandbox", "cannot be set up on its node: " + words, blamed=True)
    return None


def probe(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of containers that run and are not ready, with the words of the probe that fails."""
    found = list(_containers(pod))
    idle = [entry for entry in found if not entry.init and entry.status.get("ready") is not True]
    if not idle or not all(mapping_at(entry.status, "state").get("running") is not None for entry in idle):
        return None
    first = idle[0]
    if any(entry.status.get("started") is False for entry in idle):
        return Trouble("starting", "waits for the startup probe of container %s" % first.name, container=first.name)
    if events and events[-1].get("reason") == "Unhealthy":
        text = "container %s is not ready: %s" % (first.name, clip(str(events[-1].get("message") or "its probe fails")))
        return Trouble("probe_failed", text, blamed=True, container=first.name, restarts=first.restarts)
    return Trouble("not_ready", "container %s runs and is not ready" % first.name, container=first.name)


def gates(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell of a pod whose containers are ready and that itself is not, as with readiness gates."""
    ready = condition_of(pod, "Ready")
    if condition_of(pod, "ContainersReady").get("status") != "True" or not ready:
        return None
    return Trouble(
        "not_ready", "is not ready: " + clip(str(ready.get("message") or ready.get("reason") or "no reason"))
    )


def waiting(pod: Obj, events: list[Obj]) -> Trouble | None:
    """Tell what a pod that is being started waits for."""
    for entry in _containers(pod):
        if entry.init and mapping_at(entry.status, "state").get("running") is not None:
            return Trouble("starting", "runs its init container %s" % entry.name, container=entry.name)
    for entry in _containers(pod):
        words = mapping_at(entry.status, "state", "waiting").get("reason")
        if words:
            return Trouble("starting", "is starting (%s)" % words, container=entry.name)
    return None


RULES = (terminating, ended, unschedulable, image, container, crash, volume, probe, gates, waiting)


class _Container(NamedTuple):
    name: str
    image: str
    init: bool
    restarts: int
    status: Obj


def _containers(pod: Obj) -> Iterator[_Container]:
    for field, specs, init in (
        ("initContainerStatuses", "initContainers", True),
        ("containerStatuses", "containers", False),
    ):
        images = {str(spec.get("name")): str(spec.get("image") or "") for spec in mappings_at(pod, "spec", specs)}
        for status in mappings_at(pod, "status", field):
            name = str(status.get("name") or "")
            # The status may name the image as the node's runtime calls it.
            shown = images.get(name) or str(status.get("image") or "")
            yield _Container(name, shown, init, int_field(status.get("restartCount")), status)


def _registry_words(waiting_for: Obj, events: list[Obj]) -> str:
    """Return why an image cannot be pulled. Older kubelets say it only in an event once they back off."""
    words = clip(str(waiting_for.get("message") or "").rpartition("ErrImagePull: ")[2])
    if waiting_for.get("reason") == "ImagePullBackOff" and words.startswith("Back-off"):
        told = [event for event in events if event.get("reason") == "Failed" and "pull" in str(event.get("message"))]
        words = clip(str(told[-1]["message"])) if told else words
    return words or str(waiting_for.get("reason"))


def _crash_text(entry: _Container, code: int | None, killed: bool) -> str:
    what = "init container" if entry.init else "container"
    end = "runs out of memory" if killed else "ends"
    if not entry.restarts:
        return "%s %s %s (exit code %s)" % (what, entry.name, "ran out of memory" if killed else "has ended", code)
    facts = ["exit code %d" % code] if code is not None else []
    facts.append("%d restart%s" % (entry.restarts, "" if entry.restarts == 1 else "s"))
    return "%s %s %s again and again (%s)" % (what, entry.name, end, ", ".join(facts))


def last_run_is_over(pod: Obj, name: str) -> bool:
    """Tell whether the run of a container that ended badly is not the one that its log shows by default."""
    for entry in _containers(pod):
        if entry.name == name:
            return not mapping_at(entry.status, "state", "terminated") and bool(
                mapping_at(entry.status, "lastState", "terminated")
            )
    return False
