# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send one request and take one answer; turn what goes wrong on the way into an error of the family."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from .answers import event_of
from .errors import MaintenanceError, ServerFault, Unreachable
from .objects import Obj

try:
    import urllib3
    from urllib3.exceptions import HTTPError, ProxyError, ReadTimeoutError
except ImportError:
    # Comes with the kubernetes package; without that, connecting has failed with its own sentence before.
    HTTPError = ProxyError = ReadTimeoutError = OSError  # type: ignore[assignment,misc,unused-ignore]


# No object is longer (etcd takes 1.5 MiB), so what has no end by then is no event.
LONGEST_EVENT = 8 << 20


class Connection(Protocol):
    """What a request needs to leave the machine (see connection.py)."""

    base_url: str
    pool: Any
    namespace: str

    def headers(self) -> Any:
        """Return the headers of the next request."""

    def refresh(self) -> bool:
        """Get new credentials; tell whether there was a way to."""

    def describe(self) -> str:
        """Say where this connects to, and as whom."""


class Answer(NamedTuple):
    """An HTTP answer, read to its end."""

    status: int
    headers: Any
    data: bytes


class Silent(Unreachable):
    """Nothing came for as long as was waited."""


def exchange(
    connection: Connection,
    method: str,
    path: str,
    headers: Any,
    body: bytes | None,
    seconds: float,
    now: Callable[[], float],
) -> Answer:
    """Send a request and return its answer, which has to be complete after that many seconds of the clock C(now)."""
    end = now() + seconds
    with translated(connection):
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
            raise Silent("the API server at %s did not answer in time" % place)
    yield response.data


@contextlib.contextmanager
def streamed(connection: Connection, path: str, headers: Any, silence: float) -> Iterator[Any]:
    """Open a GET whose body is read as it comes; silence bounds each wait for bytes."""
    with translated(connection):
        response = connection.pool.request(
            "GET",
            connection.base_url + path,
            headers=headers,
            timeout=_timeout(silence, silence),
            retries=False,
            preload_content=False,
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
        if len(rest) > LONGEST_EVENT:
            raise ServerFault("the watch sent an event without an end", status=200, foreign=True)
        if events:
            heard = now()
        elif now() - heard >= silence:
            raise Silent("the API server at %s did not answer in time" % place)
        else:
            yield None


@contextlib.contextmanager
def translated(connection: Connection) -> Iterator[None]:
    """Raise Unreachable for everything that goes wrong below HTTP."""
    try:
        yield
    except (HTTPError, OSError) as exc:
        if isinstance(exc, ReadTimeoutError):
            raise Silent("the API server at %s did not answer in time" % connection.base_url) from exc
        raise fault_of(exc, connection.base_url) from exc


def fault_of(exc: BaseException, base_url: str) -> MaintenanceError:
    """Return what a transport error means for the user, and whether trying again can heal it."""
    chain = list(_chain(exc))
    if any(isinstance(link, ProxyError) for link in chain):
        return _lost_at_the_proxy(chain, base_url)
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return _untrusted(link, base_url)
        if isinstance(link, socket.gaierror):
            # The resolver's "try again" is the only one of its answers that passes.
            final = link.errno != socket.EAI_AGAIN
            return Unreachable(
                "the host name in %s cannot be resolved (%s): check host, or server in the kubeconfig"
                % (base_url, link.strerror),
                final=final,
                kind="name",
            )
        if type(link).__name__ == "LocationParseError":
            return Unreachable(
                "the host name in %s, or that of the proxy, is no name: correct it" % base_url, final=True
            )
        if isinstance(link, ConnectionRefusedError):
            return Unreachable(
                "nothing listens at %s (connection refused): check host, or server in the kubeconfig" % base_url
            )
    text = " ".join(str(link) for link in chain)
    for mark, sentence in _TLS_FAULTS:
        if mark in text:
            return Unreachable("TLS with %s fails: %s" % (base_url, sentence), final=True)
    return Unreachable("the connection to %s broke (%s)" % (base_url, _short(chain)))


# What OpenSSL calls the faults that no further try heals, and what to do about each.
_TLS_FAULTS = (
    (
        "doesn't match",
        "its certificate is for another name; use that name as host, or tls-server-name in the kubeconfig",
    ),
    ("certificate verify failed", "its certificate is not trusted; give the right ca_cert"),
    ("WRONG_VERSION_NUMBER", "it does not speak TLS; the address may need http:// or another port"),
    ("UNKNOWN_CA", "it does not trust the client certificate; check client_cert"),
    ("CERTIFICATE_REQUIRED", "it wants a client certificate; give client_cert and client_key"),
    ("BAD_CERTIFICATE", "it refuses the client certificate; check client_cert and client_key"),
    ("CERTIFICATE_EXPIRED", "the client certificate has expired; renew client_cert"),
    ("KEY_VALUES_MISMATCH", "client_cert and client_key do not belong together"),
)


def _lost_at_the_proxy(chain: list[BaseException], base_url: str) -> Unreachable:
    why = _short(chain)
    refusal = re.search(r"Tunnel connection failed: (\d{3})", " ".join(str(link) for link in chain))
    if refusal:
        why = "it answers %s" % refusal[1]
    return Unreachable(
        "the proxy on the way to %s does not let us through (%s): check proxy, proxy_headers and no_proxy,"
        " or HTTPS_PROXY and NO_PROXY of the environment" % (base_url, why),
        # Access denied, a wrong login, an unknown name or bad TLS stay as they are; a proxy that is down may return.
        final=any(isinstance(link, (socket.gaierror, ssl.SSLError)) for link in chain)
        or (refusal is not None and refusal[1].startswith("4")),
    )


def _untrusted(exc: ssl.SSLCertVerificationError, base_url: str) -> Unreachable:
    return Unreachable(
        "the certificate of %s is not trusted (%s): give the right ca_cert, or set validate_certs=false to do without"
        % (base_url, exc.verify_message or exc.reason),
        final=True,
    )


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    pending: list[Any] = [exc]
    while pending:
        link = pending.pop(0)
        if not isinstance(link, BaseException) or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        # urllib3 keeps causes as arguments and attributes as often as in the exception chain.
        pending += [link.__cause__, link.__context__, getattr(link, "reason", None), *link.args]


def _short(chain: list[BaseException]) -> str:
    for link in reversed(chain):
        if isinstance(link, OSError) and link.strerror:
            return link.strerror
    return type(chain[0]).__name__


def _timeout(connect: float, read: float) -> Any:
    return urllib3.Timeout(connect=max(0.05, min(connect, 10.0)), read=max(0.05, read))
