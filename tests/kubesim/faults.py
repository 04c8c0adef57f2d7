# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand: what goes wrong with which request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import errors
from .agenda import Agenda
from .api.messages import Request, Response, json_response, refusal

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "Timeout",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
# What a fault may say, all of it optional. Patterns are searched, not matched whole.
KEYS = {
    # which requests it hits
    "method": "pattern of the method",
    "path": "pattern of the path with its query",
    "user_agent": "pattern of the header User-Agent",
    "body": "pattern of the body",
    "from": "first second since the start at which it hits",
    "until": "second since the start from which on it hits no more",
    "after": "how many of these requests pass first (0)",
    "times": "how many are hit (1); 0: all",
    # what it does to them
    "status": "answer with this status instead of carrying the request out; alone, with a Status object that fits",
    "body_text": "answer with this HTML",
    "json": "answer with this JSON value",
    "headers": "headers of the answer",
    "delay": "seconds by which the answer is late",
    "reset": "cut the connection before or after the request is carried out",
    "watch": "silent, end or expire, at once or :N events later; drop:N leaves N events out",
    "mutate": "carry out these requests first, as an administrator: [{method, path, body, content_type}]",
    "pass": "carry the request out, whatever else is said",
}
VALUES = {"reset": re.compile("before|after"), "watch": re.compile(r"(silent|end|expire|drop)(:\d+)?")}


class Fault:
    """One fault, as KEYS describe it. Requests that it does not answer itself are carried out."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        unknown = sorted(set(spec) - KEYS.keys())
        if unknown:
            raise ValueError(f"unknown keys in fault: {', '.join(unknown)}")
        for key, wanted in VALUES.items():
            if spec.get(key) and not wanted.fullmatch(str(spec[key])):
                raise ValueError(f"{key} of a fault must match {wanted.pattern}")
        self.spec = dict(spec)
        self.matched = 0  # requests that it was meant for
        self.fired = 0
        self._patterns = {
            key: re.compile(spec[key]) for key in ("method", "path", "user_agent", "body") if spec.get(key)
        }

    @property
    def is_spent(self) -> bool:
        """Return whether it has fired as often as it should."""
        times = self.spec.get("times", 1)
        return bool(times) and self.fired >= times

    def concerns(self, request: Request, since_start: float) -> bool:
        """Return whether it is meant for this request at this moment."""
        if not self.spec.get("from", 0) <= since_start < self.spec.get("until", float("inf")):
            return False
        if self.spec.get("watch") and not request.is_watch:
            return False
        texts = {
            "method": request.method,
            "path": request.target,
            "user_agent": request.headers.get("user-agent", ""),
            "body": request.body.decode("utf-8", "replace"),
        }
        return all(pattern.search(texts[key]) for key, pattern in self._patterns.items())

    def answer(self) -> Response | None:
        """Return the answer that replaces the real one, None when the request is carried out."""
        spec = self.spec
        if spec.get("pass") or not ({"status", "body_text", "json"} & set(spec)):
            return None
        status = int(spec.get("status", 200))
        if "json" in spec:
            response = json_response(status, spec["json"])
        elif "body_text" in spec:
            response = Response(status, {"Content-Type": "text/html"}, str(spec["body_text"]).encode())
        else:
            response = refusal(_refusal(status))
        response.headers.update({name: str(value) for name, value in (spec.get("headers") or {}).items()})
        return response


class Faults:
    """All faults that are set."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._faults: list[Fault] = []

    def add(self, *specs: Mapping[str, Any]) -> None:
        """Set faults; ValueError for unknown keys, re.error for broken patterns."""
        self._faults += [Fault(spec) for spec in specs]

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        self._faults.clear()

    def all(self) -> Iterable[Mapping[str, Any]]:
        """Return the faults with how often they matched and fired."""
        return [{**fault.spec, "matched": fault.matched, "fired": fault.fired} for fault in self._faults]

    def strike(self, request: Request) -> Fault | None:
        """Count the request and return the fault that hits it: the first one set that is due."""
        hit: Fault | None = None
        since_start = self._agenda.now - self._agenda.started
        for fault in self._faults:
            if fault.is_spent or not fault.concerns(request, since_start):
                continue
            fault.matched += 1
            if hit is None and fault.matched > fault.spec.get("after", 0):
                fault.fired += 1
                hit = fault
        return hit


def _refusal(status: int) -> errors.ApiStatus:
    details = {"retryAfterSeconds": 1} if status in (429, 503, 504) else {}
    message = f"simulated failure {status}"
    return errors.ApiStatus(status, _REASONS.get(status), message, details)
