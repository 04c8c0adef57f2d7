# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the address of an API server, as people write it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import InvalidConfiguration

DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class ServerAddress:
    """An API server: host in lower case and without brackets, prefix empty or with a leading slash only."""

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def url(self) -> str:
        """Return scheme://host:port/prefix without a trailing slash; an IPv6 literal stands in brackets."""
        return f"{self.scheme}://{join_host_port(self.host, self.port)}{self.prefix}"


def join_host_port(host: str, port: int | str) -> str:
    """Return host:port, with an IPv6 literal in brackets."""
    return "{}:{}".format(f"[{host}]" if ":" in host else host, port)


def parse_server(text: str, origin: str) -> ServerAddress:
    """Return the address that a user wrote; C(origin) names the place for the error, such as C(option host).

    Without a scheme it is https, as every API server speaks it.
    """
    address = text.strip()
    if "://" not in address:
        address = "https://" + address
    authority = address.split("://", 1)[1].split("/", 1)[0]
    # Also where a # or / in the password ends the authority early, so that a part of it would count as the host.
    if "@" in address:
        raise InvalidConfiguration(
            f"The address of the API server ({origin}) contains a user name or password:"
            " give them as username and password instead."
        )
    if authority.count(":") > 1 and not authority.startswith("["):
        raise _invalid(text, origin, "an IPv6 address needs brackets, as in https://[fd00::1]:6443")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise _invalid(text, origin, "its port or its brackets are wrong") from None
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise _invalid(text, origin, "it has to begin with https:// or http://")
    if parts.query or parts.fragment:
        raise _invalid(text, origin, "it may not hold a query")
    host = _host(parts.netloc, parts.hostname or "", text, origin)
    return ServerAddress(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, parts.path.rstrip("/"))


def _host(netloc: str, hostname: str, text: str, origin: str) -> str:
    if not hostname or any(char.isspace() for char in netloc):
        raise _invalid(text, origin, "it names no host")
    if netloc.startswith("["):
        try:
            ipaddress.IPv6Address(hostname)
        except ValueError:
            raise _invalid(text, origin, "what is in brackets is not an IPv6 address") from None
    return hostname.lower()


def _invalid(text: str, origin: str, why: str) -> InvalidConfiguration:
    # What stands before an @ may be a password.
    shown = f" '{text}'" if "@" not in text else ""
    return InvalidConfiguration(f"The address of the API server{shown} ({origin}) cannot be used: {why}.")
