# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send one request and read one answer; turn what goes wrong on the way into an error of errors.py."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode

from ..errors import InvalidOptions, ServerFault, Unreachable
from ..objects import Obj
from .responses import event_of
from .transport_errors import Endpoint, fault_of

try:
    import urllib3
    from urllib3.exceptions import HTTPError, ReadTimeoutError
except ImportError:
    # Comes with the kubernetes package; without that, connecting has failed with its own sentence before.
    HTTPError = ReadTimeoutError = OSError  # type: ignore[assignment,misc,unused-ignore]


Value = TypeVar("Value")

# No object is longer (etcd takes 1.5 MiB), so what has no end by then is no event.
MAX_EVENT = 8 << 20


class Transport(Endpoint, Protocol):
    """What a request needs to leave the machine (see connection.py)."""

    pool: Any
    namespace: str

    def headers(self) -> Any:
        """Return the headers of the next request."""

    def refresh(self) -> bool:
        """Get new credentials; tell whether there was a way to."""

    def describe(self) -> str:
        """Say where this connects to, and as whom."""

    def bounded(self, seconds: float, job: Callable[[], Value]) -> Value:
        """Run a job on the network; raise TimeoutError if it has not ended after that many seconds."""


def page_query(query: dict[str, Any], page_size: int, token: str) -> dict[str, Any]:
    """Return the query for a page of a list: the first one, or the one that a continue token stands for."""
    extra = {"limit": max(0, page_size), "continue": token}
    return dict(query, **{key: value for key, value in extra.items() if value})


def target_of(path: str, query: dict[str, Any]) -> str:
    """Return what to ask for; raise InvalidOptions for a path that would become another one on its way."""
    if any(step in (".", "..") for step in path.split("/")):
        raise InvalidOptions("nothing in Kubernetes can be called . or ..: correct the name or namespace in %s" % path)
    return "%s?%s" % (path, urlencode(query)) if query else path


class Answer(NamedTuple):
    """An HTTP answer, read to its end."""

    status: int
    headers: Any
    data: bytes


class ResponseTimeout(Unreachable):
    """Nothing came for as long as was waited."""


def exchange(
    connection: Transport,
    method: str,
    path: str,
    headers: Any,
    body: bytes | None,
    seconds: float,
    now: Callable[[], float],
) -> Answer:
    """Send a request and return its answer, which has to be complete after that many seconds of the clock C(now)."""
    end = now() + seconds

    def send() -> Answer:
        response = connection.pool.request(
            method,
            connection.base_url + path,
            headers=headers,
            body=body,
            timeout=_timeout(seconds, seconds),
            # urllib3 would repeat GET and DELETE on 429 by itself, unseen and past every deadline.
            retries=False,
            preload_content=False,
        )
        try:
            return Answer(response.status, response.headers, b"".join(_pieces(response, end, now, connection.base_url)))
        except BaseException:
            response.close()
            raise

    # The HTTP library bounds each wait for bytes and not their sum, and no look-up of a name.
    with raising_unreachable(connection):
        return connection.bounded(seconds, send)


def body_of(connection: Transport, response: Any, seconds: float, now: Callable[[], float]) -> bytes:
    """Return the body of an answer to streamed() that is no stream, such as an error."""
    return b"".join(_pieces(response, now() + seconds, now, connection.base_url))


def _pieces(response: Any, end: float, now: Callable[[], float], place: str) -> Iterator[bytes]:
    """Yield a body as it comes; raise Silent for one that comes so slowly that time runs out."""
    # Before urllib3 2.1 there is no way to read what has come and no more.
    read = getattr(response, "read1", None)
    while read is not None:
        piece = read(65536)
        if not piece:
            response.release_conn()
            return
        yield piece
        if now() >= end:
            raise ResponseTimeout("the API server at %s did not answer in time" % place)
    yield response.data


@contextlib.contextmanager
def streamed(connection: Transport, path: str, headers: Any, silence: float) -> Iterator[Any]:
    """Open a GET whose body is read as it comes; silence bounds each wait for bytes."""
    with raising_unreachable(connection):
        response = connection.bounded(
            silence,
            lambda: connection.pool.request(
                "GET",
                connection.base_url + path,
                headers=headers,
                timeout=_timeout(silence, silence),
                retries=False,
                preload_content=False,
            ),
        )
        try:
            yield response
        finally:
            # Not given back to the pool: bytes of the stream may still be under way on it.
            response.close()


def events_in(response: Any, silence: float, now: Callable[[], float], place: str) -> Iterator[Obj | None]:
    """Yield the events of a watch as they come, None where there is none just now; raise the error that it tells.

    Raise Silent also where bytes come for that many seconds and no event: some proxies keep streams open with blanks.
    now: tells seconds; place: where the events are from, for the error.
    """
    rest, heard = b"", now()
    for chunk in response.stream(65536):
        # Only a simulated connection gives an empty chunk: nothing to read at this moment.
        *lines, rest = (rest + chunk).split(b"\n")
        events = [line for line in lines if line.strip()]
        for line in events:
            yield event_of(line)
        if len(rest) > MAX_EVENT:
            raise ServerFault("the watch sent an event without an end", status=200, foreign=True)
        if events:
            heard = now()
        elif now() - heard >= silence:
            raise ResponseTimeout("the API server at %s did not answer in time" % place)
        else:
            yield None


@contextlib.contextmanager
def raising_unreachable(connection: Transport) -> Iterator[None]:
    """Raise Unreachable for everything that goes wrong below HTTP."""
    try:
        yield
    except (HTTPError, OSError) as exc:
        if isinstance(exc, (ReadTimeoutError, TimeoutError)):
            raise ResponseTimeout("the API server at %s did not answer in time" % connection.base_url) from exc
        raise fault_of(exc, connection) from exc


def _timeout(connect: float, read: float) -> Any:
    return urllib3.Timeout(connect=max(0.05, min(connect, 10.0)), read=max(0.05, read))
