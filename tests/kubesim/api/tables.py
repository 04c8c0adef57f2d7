# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns that `kubectl get` prints, per kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..agenda import seconds_of
from ..objects import Object

Row = Callable[[Object], list[Any]]


def table(kind: str, objects: list[Object], now: float) -> Object:
    """Return columnDefinitions and rows (cells only) of a Table."""
    columns, cells = _KINDS.get(kind, _OTHERS)
    named = ["Last Seen", *columns] if kind == "Event" else ["Name", *columns, "Age"]
    definitions = [
        {
            "name": name.rstrip("*"),
            "type": "string",
            "format": "name" if name == "Name" else "",
            "description": "",
            "priority": 1 if name.endswith("*") else 0,
        }
        for name in named
    ]
    if kind == "Event":
        rows = [{"cells": [_last_seen(obj, now), *cells(obj)]} for obj in objects]
    else:
        rows = [{"cells": [obj["metadata"]["name"], *cells(obj), _age(obj, now)]} for obj in objects]
    for row in rows:  # columns of `-o wide` come last, as kubectl expects no order but humans do
        row["cells"] = _wide_last(named, row["cells"])
    return {"columnDefinitions": _wide_last(named, definitions), "rows": rows}


def _wide_last(named: list[str], values: list[Any]) -> list[Any]:
    pairs = list(zip(named, values, strict=False))
    return [v for n, v in pairs if not n.endswith("*")] + [v for n, v in pairs if n.endswith("*")]


def duration(seconds: float) -> str:
    """Write an age as kubectl does: 5s, 3m20s, 4h, 2d."""
    left = max(int(seconds), 0)
    if left < 120:
        return f"{left}s"
    minutes, rest = divmod(left, 60)
    if minutes < 10:
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours, rest = divmod(minutes, 60)
    if hours < 8:
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    return f"{hours}h" if hours < 48 else f"{hours // 24}d"


def _age(obj: Object, now: float) -> str:
    created = obj["metadata"].get("creationTimestamp")
    return duration(now - seconds_of(created)) if created else "<unknown>"


def _last_seen(event: Object, now: float) -> str:
    last = event.get("lastTimestamp") or event["metadata"].get("creationTimestamp")
    return duration(now - seconds_of(last)) if last else "<unknown>"


def _status(obj: Object, *keys: str) -> list[Any]:
    status = obj.get("status") or {}
    return [status.get(key, 0) for key in keys]


def _node(node: Object) -> list[Any]:
    status, spec = node.get("status") or {}, node.get("spec") or {}
    ready = next((c.get("status") for c in status.get("conditions") or () if c.get("type") == "Ready"), "Unknown")
    text = {"True": "Ready", "False": "NotReady"}.get(ready, "NotReady")
    if spec.get("unschedulable"):
        text += ",SchedulingDisabled"
    prefix = "node-role.kubernetes.io/"
    roles = sorted(key[len(prefix) :] for key in node["metadata"].get("labels") or {} if key.startswith(prefix))
    info = status.get("nodeInfo") or {}
    address = next((a["address"] for a in status.get("addresses") or () if a.get("type") == "InternalIP"), "<none>")
    return [
        text,
        ",".join(roles) or "<none>",
        info.get("kubeletVersion", ""),
        address,
        info.get("osImage", ""),
        info.get("kernelVersion", ""),
    ]


def _pod(pod: Object) -> list[Any]:
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    containers = status.get("containerStatuses") or []
    ready = sum(bool(c.get("ready")) for c in containers)
    text = status.get("reason") or status.get("phase") or "Pending"
    if text == "Succeeded":
        text = "Completed"
    for container in containers:
        state = container.get("state") or {}
        waiting = (state.get("waiting") or {}).get("reason") or (state.get("terminated") or {}).get("reason")
        text = waiting or text
    text = _init_state(pod) or text
    if pod["metadata"].get("deletionTimestamp"):
        text = "Terminating"
    restarts = sum(c.get("restartCount", 0) for c in containers)
    total = len(spec.get("containers") or ())
    return [f"{ready}/{total}", text, str(restarts), status.get("podIP") or "<none>", spec.get("nodeName") or "<none>"]


def _init_state(pod: Object) -> str:
    """Return how the first init container that is not over stands, nothing when all are."""
    entries = (pod.get("status") or {}).get("initContainerStatuses") or []
    for number, entry in enumerate(entries):
        state = entry.get("state") or {}
        ended, reason = state.get("terminated"), (state.get("waiting") or {}).get("reason")
        if (ended and not ended.get("exitCode")) or (entry.get("started") and entry.get("ready")):
            continue
        if ended:
            return f"Init:{ended.get('reason') or 'Error'}"
        return f"Init:{reason}" if reason not in (None, "PodInitializing") else f"Init:{number}/{len(entries)}"
    return ""


def _scaled(obj: Object) -> str:
    return f"{_status(obj, 'readyReplicas')[0]}/{(obj.get('spec') or {}).get('replicas', 1)}"


def _daemon_set(obj: Object) -> list[Any]:
    names = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return _status(obj, *names)


def _job(job: Object) -> list[Any]:
    conditions = (job.get("status") or {}).get("conditions") or ()
    done = next(
        (c["type"] for c in conditions if c.get("status") == "True" and c["type"] in ("Complete", "Failed")), "Running"
    )
    return [done, f"{_status(job, 'succeeded')[0]}/{(job.get('spec') or {}).get('completions', 1)}"]


def _budget(pdb: Object) -> list[Any]:
    spec = pdb.get("spec") or {}
    return [
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        *_status(pdb, "disruptionsAllowed"),
    ]


_OTHERS: tuple[list[str], Row] = ([], lambda obj: [])
_KINDS: dict[str, tuple[list[str], Row]] = {
    "Node": (["Status", "Roles", "Version", "Internal-IP*", "OS-Image*", "Kernel-Version*"], _node),
    "Pod": (["Ready", "Status", "Restarts", "IP*", "Node*"], _pod),
    "Deployment": (
        ["Ready", "Up-to-date", "Available"],
        lambda o: [_scaled(o), *_status(o, "updatedReplicas", "availableReplicas")],
    ),
    "StatefulSet": (["Ready"], lambda o: [_scaled(o)]),
    "ReplicaSet": (
        ["Desired", "Current", "Ready"],
        lambda o: [(o.get("spec") or {}).get("replicas", 1), *_status(o, "replicas", "readyReplicas")],
    ),
    "DaemonSet": (["Desired", "Current", "Ready", "Up-to-date", "Available"], _daemon_set),
    "Job": (["Status", "Completions"], _job),
    "PodDisruptionBudget": (["Min Available", "Max Unavailable", "Allowed Disruptions"], _budget),
    "Namespace": (["Status"], lambda o: [(o.get("status") or {}).get("phase", "Active")]),
    "Event": (
        ["Type", "Reason", "Object", "Message"],
        lambda o: [
            o.get("type", ""),
            o.get("reason", ""),
            "/".join(str((o.get("involvedObject") or {}).get(k, "")).lower() for k in ("kind", "name")),
            o.get("message", ""),
        ],
    ),
}
