# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What annotations let go wrong with the containers of a pod.

Each may be meant for one container, as in fake/crash.<container>; without a name it is the first of spec.containers.

fake/crash    "code[,seconds[,log]]": it ends with this exit code after those seconds (default 0), again and again
fake/oom      "seconds[,log]": it is killed for its use of memory (exit code 137) after those seconds
fake/pull     what the registry says when its image is pulled
fake/error    "Reason,message": it cannot be made, e.g. "CreateContainerError,context deadline exceeded"
fake/probe    "readiness|liveness|startup[,output]": this probe of it fails, always
fake/exec     seconds that an init container takes (default 0.1)
fake/log      what it logs (fake/previous-log: what it logged before it was last started again)
fake/heal     seconds after the pod came to its node from which on nothing of this goes wrong any more (whole pod)

Without annotations: an image of the registry broken.example cannot be reached, one with the tag `missing` is not there,
one of private.example is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from .objects import Object

OOM_EXIT = 137


@dataclass(frozen=True)
class Crash:
    """How a container ends by itself."""

    code: int
    after: float
    log: str = ""
    reason: str = "Error"


@dataclass(frozen=True)
class Probe:
    """A probe that fails: its kind, what it prints, and how often and how many times until it counts."""

    kind: str
    output: str
    initial: float
    period: float
    threshold: int

    @property
    def restarts(self) -> bool:
        """Return whether its failure ends the container."""
        return self.kind != "readiness"

    @property
    def patience(self) -> float:
        """Seconds from the start until it has failed often enough."""
        return self.initial + self.period * (self.threshold - 1)


def note_of(pod: Object, name: str, container: Object) -> str | None:
    """Return the annotation `name` that is meant for the container, None without one."""
    notes: dict[str, str] = pod["metadata"].get("annotations") or {}
    own = notes.get(f"{name}.{container['name']}")
    if own is None and container["name"] == pod["spec"]["containers"][0]["name"]:
        own = notes.get(name)
    return own


def crash_of(pod: Object, container: Object) -> Crash | None:
    """Return how the container ends, None when it does not."""
    oom = note_of(pod, "fake/oom", container)
    if oom is not None:
        seconds, _comma, log = oom.partition(",")
        return Crash(OOM_EXIT, _number(seconds), log, "OOMKilled")
    crash = note_of(pod, "fake/crash", container)
    if crash is None:
        return None
    code, seconds, log = (*crash.split(",", 2), "", "")[:3]
    number = int(_number(code, 1.0))
    return Crash(number, _number(seconds), log, "Error" if number else "Completed")


def pull_error(pod: Object, container: Object) -> str | None:
    """Return what the container runtime says of the image, None when it can be pulled."""
    image = str(container.get("image", ""))
    said = note_of(pod, "fake/pull", container)
    registry, _slash, path = image.partition("/")
    repository, _colon, tag = path.rpartition(":")
    prefix = f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": '
    if said is not None:
        return f"rpc error: code = Unknown desc = {prefix}{said}"
    if registry == "broken.example":
        url = f"https://{registry}/v2/{repository or path}/manifests/{tag or 'latest'}"
        said = f'failed to do request: Head "{url}": dial tcp: lookup {registry} on 10.96.0.10:53: no such host'
        return f"rpc error: code = Unknown desc = {prefix}{said}"
    if registry == "private.example":
        said = "pull access denied, repository does not exist or may require authorization: "
        return f"rpc error: code = Unknown desc = {prefix}{said}authorization failed: no basic auth credentials"
    if image.endswith(":missing"):
        return f"rpc error: code = NotFound desc = {prefix}{image}: not found"
    return None


def creation_error(pod: Object, container: Object) -> tuple[str, str] | None:
    """Return reason and message of why the container cannot be made by annotation."""
    said = note_of(pod, "fake/error", container)
    if said is None:
        return None
    reason, _comma, message = said.partition(",")
    return reason or "CreateContainerError", message


def probe_of(pod: Object, container: Object) -> Probe | None:
    """Return the failing probe of the container with the times of its spec."""
    said = note_of(pod, "fake/probe", container)
    if said is None:
        return None
    kind, _comma, output = said.partition(",")
    spec = container.get(f"{kind}Probe") or {}
    return Probe(
        kind,
        output or _output(spec),
        float(spec.get("initialDelaySeconds", 0)),
        float(spec.get("periodSeconds", 10)),
        int(spec.get("failureThreshold", 3)),
    )


def log_of(pod: Object, container: Object, previous: bool) -> str:
    """Return what the container logs, or logged before its last start."""
    for name in ("fake/previous-log", "fake/log") if previous else ("fake/log",):
        text = note_of(pod, name, container)
        if text is not None:
            return text
    crash = crash_of(pod, container)
    return crash.log if crash is not None else ""


def has_fault(pod: Object) -> bool:
    """Return whether anything written on the pod or in its images makes a start special."""
    notes = pod["metadata"].get("annotations") or {}
    if any(note.partition(".")[0] in _SPECIAL for note in notes):
        return True
    return any(pull_error(pod, container) for container in pod["spec"].get("containers") or ())


_SPECIAL = ("fake/crash", "fake/oom", "fake/pull", "fake/error", "fake/probe")


def _output(spec: Object) -> str:
    if "tcpSocket" in spec:
        return "dial tcp: connect: connection refused"
    if "exec" in spec:
        return "command terminated with exit code 1"
    return "HTTP probe failed with statuscode: 503"


def _number(text: str, default: float = 0.0) -> float:
    try:
        return float(text)
    except ValueError:
        return default
