# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transport that plays a script of responses, and the clock that only waiting moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock, Deadline

BASE_URL = "https://api.test:6443"


class ScriptEndError(Exception):
    """More was requested than the script holds. No error of HTTP or of the collection, so that nothing handles it."""


class ManualClock(Clock):
    """Starts at 0; sleep() and slow responses move it."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def jitter(self) -> float:
        return 1.0


@dataclass
class Reply:
    """A response. Of its chunks, a number takes that many seconds, and an exception breaks the connection."""

    status: int = 200
    chunks: list[Any] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    clock: ManualClock | None = None
    closed: bool = False

    def stream(self, amount: int) -> Iterator[bytes]:
        while self.chunks:
            yield self.read1(amount)

    def read1(self, amount: int) -> bytes:
        if not self.chunks:
            return b""
        chunk = self.chunks.pop(0)
        if isinstance(chunk, Exception):
            raise chunk
        if isinstance(chunk, bytes):
            return chunk
        assert self.clock is not None
        self.clock.now += chunk
        # A blank, as a proxy sends it to keep a stream open.
        return b" "

    def release_conn(self) -> None:
        """Nothing to give back."""

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Sent:
    """A request as it was sent: when, and how long a response may take."""

    method: str
    target: str
    at: float
    seconds: float
    headers: dict[str, str]
    body: Any


class Script:
    """A Transport. Each request takes the next step: a Reply, an exception, or what a function returns."""

    server_from = "option host"
    proxy = ""
    namespace = "default"
    base_url = BASE_URL

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.clock = ManualClock()
        self.sent: list[Sent] = []
        self.tokens = ["token-1"]
        self.pool = self

    def request(self, method: str, url: str, headers: Any = None, body: bytes | None = None, **settings: Any) -> Reply:
        seconds = settings["timeout"].read_timeout
        document = json.loads(body) if body else None
        target = url.removeprefix(BASE_URL)
        self.sent.append(Sent(method, target, round(self.clock.now, 3), seconds, dict(headers), document))
        if not self.steps:
            raise ScriptEndError
        step = self.steps.pop(0)
        if callable(step):
            step = step()
        if isinstance(step, Exception):
            raise step
        step.clock = self.clock
        return step  # type: ignore[no-any-return]

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[0]}"}

    def refresh(self) -> bool:
        if len(self.tokens) == 1:
            return False
        self.tokens.pop(0)
        return True

    def describe(self) -> str:
        return f"{BASE_URL} as the given api_key"

    def bounded(self, seconds: float, job: Callable[[], Any]) -> Any:
        return job()

    def rest(self, seconds: float = 0.0) -> Rest:
        """Return the REST client of a task that may take N seconds, 0 without a limit."""
        return Rest(self, self.clock, Deadline(self.clock, seconds))

    @property
    def times(self) -> list[float]:
        """When each request was sent."""
        return [sent.at for sent in self.sent]

    @property
    def targets(self) -> list[str]:
        return [sent.target for sent in self.sent]


def reply(document: Any, status: int = 200, **headers: str) -> Reply:
    """Return a response with JSON, or with the given bytes; an underscore in a header's name stands for a hyphen."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return Reply(status, [body], {name.replace("_", "-"): value for name, value in headers.items()})


def refusal(status: int, message: str = "no", **headers: str) -> Reply:
    """Return a Status of the API server."""
    body = {"kind": "Status", "status": "Failure", "message": message, "code": status, "details": {"name": "x"}}
    return reply(body, status, **headers)


def web_page(status: int = 200) -> Reply:
    """Return a response that is not from an API server."""
    return reply(b"<html>", status, Content_Type="text/html")


def pod(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def listing(version: int, *items: dict[str, Any], token: str = "") -> Reply:
    """Return a page of a list; token: where the next page continues."""
    metadata = {"resourceVersion": str(version), **({"continue": token} if token else {})}
    return reply({"kind": "PodList", "metadata": metadata, "items": list(items)})


def line(kind: str, obj: dict[str, Any]) -> bytes:
    """Return an event as a line of a watch."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def stream(*chunks: Any) -> Reply:
    """Return a watch; see Reply for its chunks."""
    return Reply(200, list(chunks))
