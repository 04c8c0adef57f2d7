# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in for time and for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from urllib3.exceptions import ProtocolError, ReadTimeoutError

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock
from kubesim.api.messages import Request, Response
from kubesim.cluster import Cluster

ADDRESS = "https://cluster.test:6443"


class SimClock(Clock):
    """The simulated cluster's time, for the collection."""

    def __init__(self, cluster: Cluster) -> None:
        self._agenda = cluster.agenda
        self._start = cluster.agenda.now

    def monotonic(self) -> float:
        return self._agenda.now - self._start

    def wall(self) -> float:
        return self._agenda.now

    def sleep(self, seconds: float) -> None:
        self._agenda.advance(seconds)

    def jitter(self) -> float:
        return 1.0


class Answered:
    """An answer as urllib3 gives it."""

    def __init__(self, clock: SimClock, response: Response, silence: float) -> None:
        self.status = response.status
        self.headers = response.headers
        self.data = response.body
        self._clock, self._stream, self._silence = clock, response.stream, silence

    def stream(self, amount: int) -> Iterator[bytes]:
        """Yield what the watch sends; an empty chunk where a socket would keep its reader waiting."""
        if self._stream is None:
            yield self.data
            return
        last_byte = self._clock.monotonic()
        while True:
            lines = self._stream.poll()
            if lines:
                last_byte = self._clock.monotonic()
                yield b"".join(lines)
            elif self._stream.closed:
                return
            elif self._clock.monotonic() - last_byte >= self._silence:
                raise ReadTimeoutError(None, None, "Read timed out.")  # type: ignore[arg-type]
            else:
                yield b""

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class SimPool:
    """urllib3's pool, with the simulated cluster at the other end."""

    def __init__(self, cluster: Cluster, clock: SimClock) -> None:
        self._cluster, self._clock = cluster, clock

    def request(
        self, method: str, url: str, headers: Any = None, body: bytes | None = None, **settings: Any
    ) -> Answered:
        parts = urlsplit(url)
        request = Request(
            method=method,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={key.lower(): value for key, value in headers.items()},
            body=body or b"",
        )
        response = self._cluster.answer(request)
        limit = settings["timeout"].read_timeout
        if response.delay:
            self._clock.sleep(min(response.delay, limit))
            if response.delay > limit:
                raise ReadTimeoutError(None, url, "Read timed out.")  # type: ignore[arg-type]
        if response.reset:
            raise ProtocolError("Connection aborted.", ConnectionResetError(104, "Connection reset by peer"))
        return Answered(self._clock, response, limit)


class SimConnection:
    """The collection's connection, to a simulated cluster."""

    base_url = ADDRESS
    server_from = "option host"
    proxy = ""
    namespace = "default"

    def __init__(self, cluster: Cluster, clock: SimClock, token: str = "admintoken") -> None:
        self.pool = SimPool(cluster, clock)
        self.token = token
        self.fresh_token = ""

    def headers(self) -> dict[str, str]:
        return {"Authorization": "Bearer " + self.token}

    def refresh(self) -> bool:
        self.token, self.fresh_token = self.fresh_token or self.token, ""
        return True

    def describe(self) -> str:
        return ADDRESS

    def bounded(self, seconds: float, job: Callable[[], Any]) -> Any:
        """Run a job here and now: what is simulated keeps to its time by itself."""
        return job()

    def close(self) -> None:
        """Nothing to close."""
