# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes in and out of the simulated API server, without any HTTP server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from ..errors import ApiStatus
from ..objects import encoded
from .watches import WatchStream

NO_CACHE = {"Cache-Control": "no-cache, private"}


@dataclass
class Request:
    """A request; `path` as sent, without query; `query` decoded, last value wins; header names in lower case."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    client_cert_cn: str | None = None

    @classmethod
    def of(cls, method: str, target: str, body: Any = None, **headers: str) -> Request:
        """Make a request from a path with query and a JSON body; header names are given with underscores."""
        path, _mark, query = target.partition("?")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if content:
            named.setdefault("content-type", "application/json")
        return cls(method, path, dict(parse_qsl(query, keep_blank_values=True)), named, content)

    @property
    def target(self) -> str:
        """Path and decoded query in the order sent: what faults are matched against."""
        if not self.query:
            return self.path
        return self.path + "?" + "&".join(f"{key}={value}" for key, value in self.query.items())

    @property
    def is_watch(self) -> bool:
        """Return whether it asks for a stream of events."""
        return self.method == "GET" and self.query.get("watch") in ("1", "true", "True")


@dataclass
class Response:
    """An answer: a body, or a stream of watch events, or a cut connection."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    stream: WatchStream | None = None
    delay: float = 0.0  # seconds to wait before it is sent
    reset: str = ""  # "before" | "after": cut the connection before or after the request was carried out

    def json(self) -> Any:
        """Return the decoded body."""
        return json.loads(self.body)


@dataclass
class Logged:
    """A line of the request log; status 0 means that no answer was sent."""

    at: float
    method: str
    path: str
    query: dict[str, str]
    user: str
    status: int
    body: str
    user_agent: str


def json_response(status: int, value: Any, headers: dict[str, str] | None = None) -> Response:
    """Answer with a JSON value (or JSON already written)."""
    body = value if isinstance(value, bytes) else encoded(value)
    return Response(status, {**NO_CACHE, "Content-Type": "application/json", **(headers or {})}, body + b"\n")


def text_response(status: int, text: str, content_type: str = "text/plain; charset=utf-8") -> Response:
    """Answer with text."""
    return Response(status, {**NO_CACHE, "Content-Type": content_type}, text.encode())


def refusal(status: ApiStatus) -> Response:
    """Answer with a refusal; a time to wait goes into the header, too."""
    headers = dict(status.headers)
    wait = (status.details or {}).get("retryAfterSeconds")
    if wait:
        headers["Retry-After"] = str(wait)
    return json_response(status.code, status.body(), headers)
