# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kubelet writes into a pod's status as its containers start, end and start again."""

from __future__ import annotations

from ..objects import Object, set_condition


def awaits_containers(pod: Object) -> bool:
    """Return whether the kubelet is about to make containers of a pod."""
    states = [entry.get("state") or {} for entry in (pod.get("status") or {}).get("containerStatuses") or ()]
    return any((state.get("waiting") or {}).get("reason") == "ContainerCreating" for state in states)


def is_never_ready(pod: Object) -> bool:
    """Return whether the pod is to run without ever being ready."""
    return (pod["metadata"].get("annotations") or {}).get("fake/noready", "") not in ("", "false")


def _container_names(pod: Object) -> list[str]:
    return [container["name"] for container in pod["spec"].get("containers") or ()]


def put_condition(status: Object, kind: str, value: bool, stamp: str, **more: str) -> None:
    """Write a condition of a pod."""
    entry: Object = {"type": kind, "status": str(value), "lastProbeTime": None, "lastTransitionTime": stamp, **more}
    set_condition(status, entry)


def unready(status: Object, stamp: str, **more: str) -> None:
    """Write that neither the pod nor its containers are ready."""
    for kind in ("Ready", "ContainersReady"):
        put_condition(status, kind, False, stamp, **more)


def starting(pod: Object, stamp: str, host: str) -> None:
    """Say that the kubelet took the pod and that its containers are being made."""
    status = pod.setdefault("status", {})
    if status.get("phase", "Pending") != "Pending" or pod["metadata"].get("deletionTimestamp"):
        return
    names = _container_names(pod)
    message = f"containers with unready status: [{' '.join(names)}]"
    status["phase"] = "Pending"
    put_condition(status, "PodReadyToStartContainers", False, stamp)
    put_condition(status, "Initialized", True, stamp)
    unready(status, stamp, reason="ContainersNotReady", message=message)
    put_condition(status, "PodScheduled", True, stamp)
    if host:
        status["hostIP"] = host
        status["hostIPs"] = [{"ip": host}]
    status["startTime"] = stamp
    status["containerStatuses"] = [
        _container(pod, name, {"waiting": {"reason": "ContainerCreating"}}) for name in names
    ]


def started(pod: Object, stamp: str, ready: bool, address: str) -> None:
    """Say that every container runs, and whether the pod is ready."""
    status = pod.setdefault("status", {})
    before = {entry["name"]: entry for entry in status.get("containerStatuses") or ()}
    status["phase"] = "Running"
    put_condition(status, "PodReadyToStartContainers", True, stamp)
    put_condition(status, "Initialized", True, stamp)
    names = _container_names(pod)
    if ready:
        for kind in ("Ready", "ContainersReady"):
            put_condition(status, kind, True, stamp)
    else:
        unready(
            status, stamp, reason="ContainersNotReady", message=f"containers with unready status: [{' '.join(names)}]"
        )
    put_condition(status, "PodScheduled", True, stamp)
    status.setdefault("startTime", stamp)
    status["podIP"] = address
    status["podIPs"] = [{"ip": address}]
    running = {"running": {"startedAt": stamp}}
    status["containerStatuses"] = [_container(pod, name, running, ready, before.get(name)) for name in names]


def _container(pod: Object, name: str, state: Object, ready: bool = False, before: Object | None = None) -> Object:
    image = next(c.get("image", "") for c in pod["spec"]["containers"] if c["name"] == name)
    before = before or {}
    runs = "running" in state
    return {
        "name": name,
        "state": state,
        "lastState": before.get("lastState", {}),
        "ready": ready,
        "restartCount": before.get("restartCount", 0),
        "image": image,
        "imageID": f"sha256:{image}" if runs else "",
        "started": runs,
    }


def _terminated(entry: Object, stamp: str, exit_code: int) -> Object:
    began = (entry.get("state") or {}).get("running", {}).get("startedAt", stamp)
    # 255 and "Unknown" is what a kubelet says of containers that it finds dead after a restart of the node
    reason = {0: "Completed", 255: "Unknown"}.get(exit_code, "Error")
    return {"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": began, "finishedAt": stamp}}


def ended(status: Object, stamp: str, exit_code: int) -> None:
    """Say that the containers ended for good with this exit code."""
    succeeded = exit_code == 0
    status["phase"] = "Succeeded" if succeeded else "Failed"
    unready(status, stamp, reason="PodCompleted" if succeeded else "PodFailed")
    for entry in status.get("containerStatuses") or ():
        entry.update(state=_terminated(entry, stamp, exit_code), ready=False, started=False)


def restarting(status: Object, stamp: str) -> None:
    """Say that the containers were found dead and are made again."""
    names = [entry["name"] for entry in status.get("containerStatuses") or ()]
    unready(status, stamp, reason="ContainersNotReady", message=f"containers with unready status: [{' '.join(names)}]")
    for entry in status.get("containerStatuses") or ():
        entry["lastState"] = _terminated(entry, stamp, 255)
        entry["restartCount"] = entry.get("restartCount", 0) + 1
        entry.update(state={"waiting": {"reason": "ContainerCreating"}}, ready=False, started=False)
