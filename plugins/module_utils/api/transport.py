# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send one request and read one response; raise Unreachable for what goes wrong below HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode

from ..errors import InvalidOptions, MaintenanceError, Unauthorized, UnexpectedResponse, Unreachable
from ..objects import Obj
from .responses import event_of
from .transport_errors import Endpoint, unreachable

try:
    import urllib3
    from urllib3.exceptions import HTTPError, ReadTimeoutError
except ImportError:
    # Comes with the kubernetes package; without that, connecting has failed with its own sentence before.
    HTTPError = ReadTimeoutError = OSError  # type: ignore[assignment,misc,unused-ignore]


Value = TypeVar("Value")

# No object is longer (etcd limits them to 1.5 MiB), so a longer line cannot be an event.
MAX_EVENT = 8 << 20
CHUNK = 65536
# Seconds to wait for a stream to close.
MAX_CLOSE = 0.2


class Transport(Endpoint, Protocol):
    """What requests need of a connection; the class Connection is one, the simulator's another."""

    pool: Any
    namespace: str

    def headers(self) -> Any:
        """Return the headers of the next request."""

    def refresh(self) -> bool:
        """Get new credentials; return whether there are any."""

    def describe(self) -> str:
        """Return where this connects to, and as whom."""

    def bounded(self, seconds: float, job: Callable[[], Value]) -> Value:
        """Run a job on the network; raise TimeoutError if it has not ended after N seconds."""


def target_of(path: str, query: dict[str, Any]) -> str:
    """Return the target of a request; raise InvalidOptions for a path that clients and proxies would normalize."""
    if any(step in (".", "..") for step in path.split("/")):
        raise InvalidOptions(f"nothing in Kubernetes can be called . or ..: correct the name or namespace in {path}")
    return f"{path}?{urlencode(query)}" if query else path


class Response(NamedTuple):
    """A complete HTTP response."""

    status: int
    headers: Any
    data: bytes


class ResponseTimeout(Unreachable):
    """The request or stream timed out."""

    def __init__(self, base_url: str, what: str = "respond") -> None:
        super().__init__(f"the API server at {base_url} did not {what} in time")


def exchange(
    connection: Transport,
    method: str,
    path: str,
    headers: Any,
    body: bytes | None,
    seconds: float,
    now: Callable[[], float],
) -> Response:
    """Send a request and return its response, which must be complete after N seconds of the clock C(now)."""
    end = now() + seconds

    def send() -> Response:
        response = _request(connection, method, path, headers, body, seconds)
        try:
            return Response(response.status, response.headers, _read(response, end, now, connection.base_url))
        except BaseException:
            response.close()
            raise

    # urllib3 limits each wait for bytes and not their sum, and it does not limit name resolution.
    with _raising_unreachable(connection):
        return connection.bounded(seconds, send)


@contextlib.contextmanager
def streamed(connection: Transport, path: str, headers: Any, silence: float) -> Iterator[Any]:
    """Open a GET whose body is read as it comes; silence limits each wait for bytes, in seconds."""
    with _raising_unreachable(connection):
        response = connection.bounded(silence, lambda: _request(connection, "GET", path, headers, None, silence))
        try:
            yield response
        finally:
            # Not given back to the pool: bytes of the stream may still be in flight. Before urllib3 2.1, closing waits
            # for a thread that still reads.
            with contextlib.suppress(TimeoutError):
                connection.bounded(MAX_CLOSE, response.close)


def read_body(connection: Transport, response: Any, seconds: float, now: Callable[[], float]) -> bytes:
    """Return the body of a response from streamed() that is not a stream, such as an error."""
    with _raising_unreachable(connection):
        return connection.bounded(seconds, lambda: _read(response, now() + seconds, now, connection.base_url))


def events_in(response: Any, silence: float, now: Callable[[], float], base_url: str) -> Iterator[Obj | None]:
    """Yield the events of a watch as they come, None if there is nothing just now; raise the error that it sends.

    Raise ResponseTimeout also when there are bytes for N seconds, but no event: some proxies keep streams open with
    blanks.
    """
    rest, last_event_at = b"", now()
    for chunk in response.stream(CHUNK):
        # Only a simulated connection yields an empty chunk: nothing to read at this moment.
        *lines, rest = (rest + chunk).split(b"\n")
        events = [line for line in lines if line.strip()]
        for line in events:
            yield event_of(line)
        if len(rest) > MAX_EVENT:
            raise UnexpectedResponse("the watch sent an event without an end", status=200)
        if events:
            last_event_at = now()
        elif now() - last_event_at >= silence:
            raise ResponseTimeout(base_url)
        else:
            yield None


def _request(connection: Transport, method: str, path: str, headers: Any, body: bytes | None, seconds: float) -> Any:
    timeout = urllib3.Timeout(connect=max(0.05, min(seconds, 10.0)), read=max(0.05, seconds))
    return connection.pool.request(
        method,
        connection.base_url + path,
        headers=headers,
        body=body,
        timeout=timeout,
        # urllib3 would repeat GET and DELETE on 429 by itself, unseen and past every deadline.
        retries=False,
        preload_content=False,
    )


def _read(response: Any, end: float, now: Callable[[], float], base_url: str) -> bytes:
    """Return a body; raise ResponseTimeout if it is not complete at the moment C(end)."""
    # Before urllib3 2.1 there is no way to read only what has arrived.
    read = getattr(response, "read1", None)
    if read is None:
        return bytes(response.data)
    pieces: list[bytes] = []
    while piece := read(CHUNK):
        pieces.append(piece)
        if now() >= end:
            raise ResponseTimeout(base_url)
    response.release_conn()
    return b"".join(pieces)


@contextlib.contextmanager
def _raising_unreachable(connection: Transport) -> Iterator[None]:
    """Raise Unreachable for everything that goes wrong below HTTP."""
    try:
        yield
    except (HTTPError, OSError) as exc:
        if isinstance(exc, (ReadTimeoutError, TimeoutError)):
            raise ResponseTimeout(connection.base_url) from exc
        raise unreachable(exc, connection) from exc


def with_place(error: MaintenanceError, connection: Transport, responded: bool) -> MaintenanceError:
    """Add the address and the account to an error while they are its likely cause, until a good response has come."""
    if isinstance(error, Unauthorized):
        why = f"the API server does not accept the credentials (401 {error.message})"
        error.message = f"{why} at {connection.describe()}: renew the token or certificate"
    elif not responded and isinstance(error, UnexpectedResponse):
        error.message += f"; the request went to {connection.describe()}: check the {connection.server_from}"
    elif not responded and isinstance(error, ResponseTimeout):
        error.message += f": check the {connection.server_from}, and whether a firewall is in between"
    elif isinstance(error, ResponseTimeout) and error.message.endswith(" in time"):
        error.message += ": check whether it is overloaded or down"
    return error
