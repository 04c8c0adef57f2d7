# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn errors below HTTP into Unreachable, with what to correct and where."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any, Protocol

from ..errors import Unreachable

try:
    from urllib3.exceptions import ProxyError
except ImportError:
    # Comes with the kubernetes package; without that, connecting has failed with its own sentence before.
    ProxyError = OSError  # type: ignore[assignment,misc,unused-ignore]


class Endpoint(Protocol):
    """Where requests go.

    server_from: where the address is written; proxy: a proxy on the way and where that is written, "" for none.
    """

    base_url: str
    server_from: str
    proxy: str


def unreachable(exc: BaseException, endpoint: Endpoint) -> Unreachable:
    """Return what a transport error means for the user, and whether a retry can help."""
    chain, base_url, server_from = list(_chain(exc)), endpoint.base_url, endpoint.server_from
    if any(isinstance(link, ProxyError) for link in chain):
        return _proxy_error(chain, endpoint)
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            why = link.verify_message or link.reason
            advice = "give the right ca_cert, or set validate_certs=false to do without"
            return Unreachable(f"the certificate of {base_url} is not trusted ({why}): {advice}", final=True)
        if isinstance(link, socket.gaierror):
            return Unreachable(
                f"the host name in {base_url} cannot be resolved ({link.strerror}): check the {server_from}",
                # EAI_AGAIN is the resolver's only temporary failure.
                final=link.errno != socket.EAI_AGAIN,
                kind="name",
            )
        if type(link).__name__ == "LocationParseError":
            text = f"the host name in {base_url} ({server_from}), or that of the proxy, is not a valid name: correct it"
            return Unreachable(text, final=True)
        if isinstance(link, ConnectionRefusedError):
            return Unreachable(
                f"nothing listens at {base_url} (connection refused): check the {server_from}, and whether the API"
                " server is running"
            )
    text = " ".join(str(link) for link in chain)
    for part, sentence in _TLS_ERRORS.items():
        if part in text:
            return Unreachable(f"TLS with {base_url} fails: {sentence}", final=True)
    return Unreachable(
        f"the connection to {base_url} broke ({_short(chain)}): check that the API server, and what is on the way to"
        " it, is up"
    )


# What OpenSSL calls the errors that no retry fixes, and what to do about each.
_TLS_ERRORS = {
    "doesn't match": "its certificate is for another name; use that name as host, or tls-server-name in the kubeconfig",
    "certificate verify failed": "its certificate is not trusted; give the right ca_cert",
    "WRONG_VERSION_NUMBER": "it does not speak TLS; the address may need http:// or another port",
    "UNKNOWN_CA": "it does not trust the client certificate; check client_cert",
    "CERTIFICATE_REQUIRED": "it wants a client certificate; give client_cert and client_key",
    "BAD_CERTIFICATE": "it refuses the client certificate; check client_cert and client_key",
    "CERTIFICATE_EXPIRED": "the client certificate has expired; renew client_cert",
    "KEY_VALUES_MISMATCH": "client_cert and client_key do not belong together",
}


def _proxy_error(chain: list[BaseException], endpoint: Endpoint) -> Unreachable:
    why = _short(chain)
    status = re.search(r"Tunnel connection failed: (\d{3})", " ".join(str(link) for link in chain))
    if status:
        why = f"it responds with status {status[1]}"
    return Unreachable(
        f"no connection to {endpoint.base_url} through the proxy {endpoint.proxy} ({why}): correct its address there or"
        " its login in proxy_headers, or bypass it with no_proxy",
        # Access denied, a wrong login, an unknown name or bad TLS stay as they are; a proxy that is down may return.
        final=any(isinstance(link, (socket.gaierror, ssl.SSLError)) for link in chain)
        or (status is not None and status[1].startswith("4")),
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
