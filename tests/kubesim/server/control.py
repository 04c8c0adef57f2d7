# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control interface below /kubesim/: set up the cluster, read its log, let things go wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..api.messages import Request, Response, json_response
from ..clock import Clock
from ..cluster import Cluster

PREFIX = "/kubesim/"


class Control:
    """Answer requests for the control interface. Errors are {"error": text} with 400 or 404."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self.cluster = cluster
        self.clock = clock
        self.on_outage: Callable[[float], None] | None = None
        self._routes: dict[tuple[str, str], Callable[[Any], Any]] = {
            ("POST", "reset"): lambda body: cluster.reset(),
            ("POST", "load"): lambda body: cluster.load(body["objects"]),
            ("GET", "requests"): lambda body: [asdict(line) for line in cluster.requests],
            ("DELETE", "requests"): lambda body: cluster.requests.clear(),
            ("POST", "faults"): lambda body: cluster.faults.add(*body["faults"]),
            ("GET", "faults"): lambda body: list(cluster.faults.all()),
            ("DELETE", "faults"): lambda body: cluster.faults.clear(),
            ("POST", "access"): cluster.access.grant,
            ("GET", "watches"): lambda body: {"open": len(cluster.history.open_streams())},
            ("POST", "watches"): lambda body: self._disturb(str(body["watch"])),
            ("POST", "window"): lambda body: cluster.history.shrink(int(body["events"])),
            ("POST", "clock"): self._set_clock,
            ("GET", "clock"): lambda body: self._clock(),
            ("POST", "outage"): lambda body: self._outage(float(body["seconds"])),
            ("GET", "violations"): lambda body: list(self._controllers().violations),
        }

    def answer(self, request: Request) -> Response:
        """Carry out one control request."""
        below = request.path[len(PREFIX) :].strip("/")
        try:
            body = json.loads(request.body) if request.body.strip() else {}
            route = self._routes.get((request.method, below))
            result = None
            parts = below.split("/")
            if route is not None:
                result = route(body)
            elif request.method == "POST" and parts[0] == "nodes" and len(parts) == 3:
                self._node(parts[1], parts[2], body)
            else:
                return json_response(404, {"error": f"no such control: {request.method} {request.path}"})
        except KeyError as problem:
            return json_response(400, {"error": f"missing or unknown: {problem}"})
        except (ValueError, TypeError, AttributeError, LookupError, re.error) as problem:
            return json_response(400, {"error": str(problem)})
        return json_response(200, {} if result is None else result)

    def _node(self, node: str, action: str, body: Any) -> None:
        controllers = self._controllers()
        if self.cluster.store.get("Node", None, node) is None:
            raise ValueError(f"no node {node}")
        if action == "reboot":
            controllers.reboot(node, float(body.get("down", 5)), kubelet_version=body.get("kubelet_version"))
        elif action == "fail":
            controllers.fail(node)
        elif action == "recover":
            controllers.recover(node)
        else:
            raise ValueError(f"unknown action on a node: {action}")

    def _disturb(self, how: str) -> None:
        for stream in self.cluster.history.open_streams():
            stream.misbehave(how)

    def _controllers(self) -> Any:
        if self.cluster.controllers is None:
            raise ValueError("the cluster runs without controllers")
        return self.cluster.controllers

    def _clock(self) -> dict[str, float]:
        agenda = self.cluster.agenda
        return {"now": agenda.now, "started": agenda.started, "speed": self.clock.speed}

    def _set_clock(self, body: Any) -> dict[str, float]:
        if "speed" in body:
            self.clock.set_speed(float(body["speed"]))
        if "advance" in body:
            self.clock.advance(float(body["advance"]))
        return self._clock()

    def _outage(self, seconds: float) -> None:
        self.cluster.outage(seconds)
        if self.on_outage is not None:
            self.on_outage(self.clock.real_seconds(seconds))
