# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a pod is not ready, from its status, its containers and its events.

Each rule gets the whole pod, and the first one that returns a problem decides. Their order in RULES goes from causes to
effects: a container that cannot be created explains why its pod is not ready, and not the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..api.responses import clip
from ..objects import Obj, condition_of, int_field, is_ready, is_terminating, mapping_at, mappings_at
from ..text import count_noun

# Reasons of waiting containers.
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
# Errors of registries and networks that may go away within a minute.
TRANSIENT = re.compile(
    r"time-?out|timed out|connection re(fused|set)|temporar|toomanyrequests|too many requests|QPS exceeded"
    r"|\b(429|50[0234])\b|unexpected EOF|TLS handshake|network is unreachable|no route to host",
    re.IGNORECASE,
)
VOLUME_EVENTS = {"FailedMount", "FailedAttachVolume", "FailedMapVolume", "VolumeResizeFailed"}
SANDBOX_EVENTS = {"FailedCreatePodSandBox", "NetworkNotReady", "FailedPodSandBoxStatus"}


class Problem(NamedTuple):
    """Why a pod is not ready.

    reason: of the closed set in the documentation; message: what follows the pod's name in a sentence; is_fault: it is
    not just a matter of time; permanent: it does not go away by itself; container, exit_code, restarts: of the failing
    container; has_log: its log explains more.
    """

    reason: str
    message: str
    is_fault: bool = False
    permanent: bool = False
    container: str = ""
    exit_code: int | None = None
    restarts: int = 0
    has_log: bool = False


def why_not_ready(pod: Obj, events: list[Obj]) -> Problem | None:
    """Return why a pod is not ready, None for one that is. events: those about it, oldest first, as far as known."""
    if is_ready(pod) and not is_terminating(pod):
        return None
    for rule in RULES:
        found = rule(pod, events)
        if found is not None:
            return found
    return Problem("starting", "is starting")


def terminating(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a pod that was deleted."""
    if not is_terminating(pod):
        return None
    return Problem("terminating", f"is shutting down, until {mapping_at(pod, 'metadata').get('deletionTimestamp')}")


def failed(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a pod that the kubelet failed: evicted, or not admitted to its node."""
    status = mapping_at(pod, "status")
    if status.get("phase") != "Failed":
        return None
    error = ": ".join(str(status[key]) for key in ("reason", "message") if status.get(key))
    return Problem("pod_failed", f"has failed ({clip(error)})" if error else "has failed", is_fault=True)


def unschedulable(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a pod that fits no node, with the scheduler's message. An autoscaler may fix that."""
    if mapping_at(pod, "spec").get("nodeName"):
        return None
    scheduled = condition_of(pod, "PodScheduled")
    error = clip(str(scheduled.get("message") or ""))
    if scheduled.get("reason") == "SchedulingGated":
        return Problem("scheduling_gated", "has a scheduling gate" + (f": {error}" if error else ""))
    if scheduled.get("status") == "False":
        text = f"cannot be scheduled: {error or 'the scheduler gave no reason'}"
        return Problem("unschedulable", text, is_fault=True)
    return Problem("starting", "has not been scheduled yet")


def image(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report an image that cannot be pulled."""
    for entry in _containers(pod):
        waiting = mapping_at(entry.status, "state", "waiting")
        if str(waiting.get("reason")) in IMAGE_REASONS:
            error = _pull_error(waiting, events)
            text = f"container {entry.name} cannot pull image {entry.image}: {error}"
            return Problem(
                "image_pull", text, is_fault=True, permanent=not TRANSIENT.search(error), container=entry.name,
                restarts=entry.restarts,
            )  # fmt: skip
    return None


def container(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a container that cannot be created or started."""
    for entry in _containers(pod):
        waiting = mapping_at(entry.status, "state", "waiting")
        error = clip(str(waiting.get("message") or waiting.get("reason") or ""))
        if waiting.get("reason") == "CreateContainerConfigError":
            reason, text = "container_config", f"container {entry.name} cannot be configured: {error}"
        elif str(waiting.get("reason")) in CREATE_REASONS:
            reason, text = "container_create", f"container {entry.name} cannot be started: {error}"
        else:
            continue
        return Problem(reason, text, True, True, entry.name, restarts=entry.restarts)
    return None


def crash(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a container that exits when it should run."""
    for entry in _containers(pod):
        looping = mapping_at(entry.status, "state", "waiting").get("reason") == "CrashLoopBackOff"
        now = mapping_at(entry.status, "state", "terminated")
        last = now or mapping_at(entry.status, "lastState", "terminated")
        if entry.status.get("ready") is True or not (looping or last):
            continue
        code = last.get("exitCode") if isinstance(last.get("exitCode"), int) else None
        if entry.init and code == 0 and now:
            # An init container that has completed.
            continue
        killed = last.get("reason") == "OOMKilled"
        reason = "oom_killed" if killed else "init_failed" if entry.init else "crash_loop"
        permanent = looping or killed or entry.restarts > 1
        # While it runs again, it may become ready; if it does not, it will soon be down again.
        down = mapping_at(entry.status, "state").get("running") is None
        return Problem(
            reason, _crash_text(entry, code, killed), down, permanent, entry.name, code, entry.restarts, True
        )
    return None


def volume(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a volume or a network that the kubelet cannot set up. Only events say so."""
    last = events[-1] if events else {}
    error = clip(str(last.get("message") or ""))
    if last.get("reason") in VOLUME_EVENTS:
        return Problem("volume", "waits for a volume: " + error, is_fault=True)
    if last.get("reason") in SANDBOX_EVENTS:
        return Problem("sandbox", "cannot be set up on its node: " + error, is_fault=True)
    return None


def probe(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report containers that run and are not ready, with the message of the probe that fails."""
    found = list(_containers(pod))
    idle = [entry for entry in found if not entry.init and entry.status.get("ready") is not True]
    if not idle or not all(mapping_at(entry.status, "state").get("running") is not None for entry in idle):
        return None
    first = idle[0]
    if any(entry.status.get("started") is False for entry in idle):
        return Problem("starting", f"waits for the startup probe of container {first.name}", container=first.name)
    if events and events[-1].get("reason") == "Unhealthy":
        text = f"container {first.name} is not ready: {clip(str(events[-1].get('message') or 'its probe fails'))}"
        return Problem("probe_failed", text, is_fault=True, container=first.name, restarts=first.restarts)
    return Problem("not_ready", f"container {first.name} runs and is not ready", container=first.name)


def gates(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a pod that is not ready though its containers are, as with readiness gates."""
    ready = condition_of(pod, "Ready")
    if condition_of(pod, "ContainersReady").get("status") != "True" or not ready:
        return None
    why = clip(str(ready.get("message") or ready.get("reason") or "no reason"))
    return Problem("not_ready", f"is not ready: {why}")


def waiting(pod: Obj, events: list[Obj]) -> Problem | None:
    """Report a pod that is being started."""
    for entry in _containers(pod):
        if entry.init and mapping_at(entry.status, "state").get("running") is not None:
            return Problem("starting", f"runs its init container {entry.name}", container=entry.name)
    for entry in _containers(pod):
        error = mapping_at(entry.status, "state", "waiting").get("reason")
        if error:
            return Problem("starting", f"is starting ({error})", container=entry.name)
    return None


RULES = (terminating, failed, unschedulable, image, container, crash, volume, probe, gates, waiting)


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


def _pull_error(waiting_for: Obj, events: list[Obj]) -> str:
    """Return why an image cannot be pulled. Older kubelets report it only in an event once they back off."""
    error = clip(str(waiting_for.get("message") or "").rpartition("ErrImagePull: ")[2])
    if waiting_for.get("reason") == "ImagePullBackOff" and error.startswith("Back-off"):
        texts = [str(event.get("message")) for event in events if event.get("reason") == "Failed"]
        error = next((clip(text) for text in reversed(texts) if "pull" in text), error)
    return error or str(waiting_for.get("reason"))


def _crash_text(entry: _Container, code: int | None, killed: bool) -> str:
    what = "init container" if entry.init else "container"
    end = "runs out of memory" if killed else "ends"
    if not entry.restarts:
        return f"{what} {entry.name} {'ran out of memory' if killed else 'has ended'} (exit code {code})"
    facts = [f"exit code {code}"] if code is not None else []
    facts.append(count_noun(entry.restarts, "restart"))
    return f"{what} {entry.name} {end} again and again ({', '.join(facts)})"


def last_run_is_over(pod: Obj, name: str) -> bool:
    """Return whether the run that failed is the previous one, whose log has to be requested explicitly."""
    for entry in _containers(pod):
        if entry.name == name:
            return not mapping_at(entry.status, "state", "terminated") and bool(
                mapping_at(entry.status, "lastState", "terminated")
            )
    return False
