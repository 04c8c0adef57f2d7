# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what went wrong below HTTP on the way to an API server, and what to correct where."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any, Protocol

from ..errors import MaintenanceError, Unreachable

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


def fault_of(exc: BaseException, way: Endpoint) -> MaintenanceError:
    """Return what a transport error means for the user, and whether trying again can heal it."""
    chain, base_url = list(_chain(exc)), way.base_url
    if any(isinstance(link, ProxyError) for link in chain):
        return _lost_at_the_proxy(chain, way)
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return _untrusted(link, base_url)
        if isinstance(link, socket.gaierror):
            # The resolver's "try again" is the only one of its answers that passes.
            final = link.errno != socket.EAI_AGAIN
            return Unreachable(
                "the host name in %s cannot be resolved (%s): check the %s"
                % (base_url, link.strerror, way.server_from),
                final=final,
                kind="name",
            )
        if type(link).__name__ == "LocationParseError":
            return Unreachable(
                "the host name in %s (%s), or that of the proxy, is not a valid name: correct it"
                % (base_url, way.server_from),
                final=True,
            )
        if isinstance(link, ConnectionRefusedError):
            return Unreachable(
                "nothing listens at %s (connection refused): check the %s, and whether the API server is running"
                % (base_url, way.server_from)
            )
    text = " ".join(str(link) for link in chain)
    for mark, sentence in _TLS_FAULTS:
        if mark in text:
            return Unreachable("TLS with %s fails: %s" % (base_url, sentence), final=True)
    return Unreachable(
        "the connection to %s broke (%s): check that the API server, and what is on the way to it, is up"
        % (base_url, _short(chain))
    )


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


def _lost_at_the_proxy(chain: list[BaseException], way: Endpoint) -> Unreachable:
    why = _short(chain)
    refusal = re.search(r"Tunnel connection failed: (\d{3})", " ".join(str(link) for link in chain))
    if refusal:
        why = "it answers %s" % refusal[1]
    return Unreachable(
        "the proxy %s on the way to %s does not let us through (%s): correct its address there or its login in"
        " proxy_headers, or bypass it with no_proxy" % (way.proxy, way.base_url, why),
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
