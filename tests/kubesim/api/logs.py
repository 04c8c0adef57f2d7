# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of pods, and the sentences that are sent where there are none."""

from __future__ import annotations

from .. import errors
from ..agenda import seconds_of
from ..container_faults import log_of
from ..objects import Object
from ..store import Store
from .messages import Request, Response, text_response


def answer(store: Store, request: Request, pod: Object) -> Response:
    """Answer a GET of pods/<name>/log; ApiStatus 400 where the container has none."""
    container = _chosen(pod, request.query.get("container", ""))
    if not pod["spec"].get("nodeName"):
        return text_response(200, "", "text/plain")
    _check_kubelet(store, pod, container["name"])
    previous = request.query.get("previous") in ("true", "1")
    since = _check(pod, container["name"], previous)
    lines = log_of(pod, container, previous).splitlines(keepends=True)
    tail = request.query.get("tailLines", "")
    if tail.isdecimal():
        lines = lines[len(lines) - min(int(tail), len(lines)) :]
    if request.query.get("timestamps") in ("true", "1"):
        lines = [f"{since} {line}" for line in lines]
    text = "".join(lines)
    limit = request.query.get("limitBytes", "")
    if limit.isdecimal():
        text = text.encode()[: int(limit)].decode("utf-8", "ignore")
    return text_response(200, text, "text/plain")


def _chosen(pod: Object, name: str) -> Object:
    """Return the container that is asked for; without a name there must be only one."""
    spec, pod_name = pod["spec"], pod["metadata"]["name"]
    containers: list[Object] = list(spec.get("containers") or ())
    inits: list[Object] = list(spec.get("initContainers") or ())
    if not name and len(containers) == 1:
        return containers[0]
    for container in [*containers, *inits]:
        if container["name"] == name:
            return container
    if name:
        raise errors.bad_request(f"container {name} is not valid for pod {pod_name}")
    listed = " ".join(container["name"] for container in containers)
    message = f"a container name must be specified for pod {pod_name}, choose one of: [{listed}]"
    if inits:
        message += f" or one of the init containers: [{' '.join(container['name'] for container in inits)}]"
    raise errors.bad_request(message)


def _check_kubelet(store: Store, pod: Object, container: str) -> None:
    meta, home = pod["metadata"], pod["spec"]["nodeName"]
    status = (store.get("Node", None, home) or {}).get("status") or {}
    ready = next((c.get("status") for c in status.get("conditions") or () if c.get("type") == "Ready"), "True")
    if ready != "Unknown":
        return
    address = next((a["address"] for a in status.get("addresses") or () if a.get("type") == "InternalIP"), home)
    url = f"https://{address}:10250/containerLogs/{meta['namespace']}/{meta['name']}/{container}"
    message = f'Get "{url}": dial tcp {address}:10250: connect: connection refused'
    raise errors.ApiStatus(500, None, message)


def _check(pod: Object, name: str, previous: bool) -> str:
    """Return since when the container's log goes; ApiStatus 400 with the kubelet's words when it has none."""
    where = f'container "{name}" in pod "{pod["metadata"]["name"]}"'
    status = pod.get("status") or {}
    entries = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    entry = next((found for found in entries if found["name"] == name), None)
    if entry is None:
        raise errors.bad_request(f"{where} is not available")
    state, last = entry.get("state") or {}, (entry.get("lastState") or {}).get("terminated")
    if previous:
        if not last:
            raise errors.bad_request(f"previous terminated {where} not found")
        return _nanoseconds(last)
    for kind in ("running", "terminated"):
        if kind in state:
            return _nanoseconds(state[kind])
    if last:
        return _nanoseconds(last)
    reason = (state.get("waiting") or {}).get("reason", "")
    if not reason:
        raise errors.bad_request(f"{where} is waiting to start - no logs yet")
    known = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}
    raise errors.bad_request(f"{where} is waiting to start: {known.get(reason, reason)}")


def _nanoseconds(state: Object) -> str:
    started = state.get("startedAt")
    return started.replace("Z", ".000000000Z") if started and seconds_of(started) else ""
