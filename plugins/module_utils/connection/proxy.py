# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the proxy for an API server: the options first, then the environment, by the rules of kubectl."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from ..errors import InvalidConfiguration
from .options import ConnectionOptions
from .server_address import DEFAULT_PORTS, ServerAddress, join_host_port

HTTP_SCHEMES = ("http", "https")
SOCKS_SCHEMES = ("socks5", "socks5h", "socks4", "socks4a")


@dataclass(frozen=True)
class Proxy:
    """A proxy. Its credentials are in headers that only it gets; those of a SOCKS proxy are in the URL.

    given_as: where its address is written.
    """

    url: str = field(repr=False)
    given_as: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> str:
        """Return scheme, host and port, without credentials."""
        scheme, rest = self.url.split("://", 1)
        return "{}://{}".format(scheme, rest.rsplit("@", 1)[-1])

    @property
    def socks(self) -> bool:
        """Return whether it speaks SOCKS."""
        return self.url.split("://", 1)[0] in SOCKS_SCHEMES


def choose_proxy(
    server: ServerAddress,
    options: ConnectionOptions,
    kubeconfig_proxy: str,
    cluster: str,
    environment: Mapping[str, str],
) -> Proxy | None:
    """Return the proxy to the server, None for a direct connection. cluster: where kubeconfig_proxy is from.

    First the option proxy, then proxy-url of the kubeconfig, then the environment (HTTPS_PROXY or HTTP_PROXY by the
    server's scheme, then ALL_PROXY). The option no_proxy applies to all of them; without it NO_PROXY applies to a
    proxy of the environment, which is never used for this machine itself either.
    """
    given = options.value("proxy") or kubeconfig_proxy
    place = options.place("proxy") if options.value("proxy") else f"proxy-url of {cluster}"
    url = given
    if not given:
        url, place = _from_environment(server, environment)
    rules = options.value("no_proxy")
    if not given and rules is None:
        rules = _variable(environment, "no_proxy")[0]
    if not url or bypasses(server, rules or "") or (not given and _is_this_machine(server.host)):
        return None
    return _parse_proxy(url, place, options.value("proxy_headers") or {})


def bypasses(server: ServerAddress, rules: str) -> bool:
    """Return whether a comma-separated list of rules excludes this server from proxies.

    A rule is C(*), a host (its subdomains match too), .suffix (subdomains only), an address or a range of them, each
    but the range with or without a port; an IPv6 literal may stand in brackets.
    """
    return any(_matches(server, rule) for rule in rules.lower().replace(",", " ").split())


def _matches(server: ServerAddress, rule: str) -> bool:
    if rule == "*":
        return True
    address = _address(server.host)
    network = _network(rule.replace("[", "").replace("]", ""))
    if network is not None:
        return address is not None and address in network
    host, port = _split_port(rule)
    if port and port != str(server.port):
        return False
    wanted = _address(host)
    if wanted is not None or address is not None:
        return wanted == address
    if host.startswith("*."):
        host = host[1:]
    name = server.host.rstrip(".")
    if host.startswith("."):
        return name.endswith(host)
    return bool(host) and (name == host or name.endswith("." + host))


def _split_port(rule: str) -> tuple[str, str]:
    if rule.startswith("["):
        host, rest = rule[1:].split("]", 1) if "]" in rule else (rule[1:], "")
        return host, rest.lstrip(":")
    if rule.count(":") == 1:
        host, port = rule.split(":")
        return host, port
    return rule, ""


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    if "/" not in text:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _is_this_machine(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def _from_environment(server: ServerAddress, environment: Mapping[str, str]) -> tuple[str, str]:
    own = _variable(environment, server.scheme + "_proxy")
    return own if own[0] else _variable(environment, "all_proxy")


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the value of a variable, in lower case first, and where it is from; "" for none."""
    for written in (name, name.upper()):
        value = environment.get(written)
        if value:
            return value.strip(), f"environment variable {written}"
    return "", ""


def _parse_proxy(text: str, place: str, headers: Mapping[str, Any]) -> Proxy:
    """Return the proxy of a URL; place: where that is written.

    Its user and password become a header, unless proxy_headers holds others.
    """
    url = text.strip() if "://" in text else "http://" + text.strip()
    try:
        parts = urlsplit(url)
        # After a # or / in a password, what stands before it would be taken for the host, and shown.
        host, port = "" if "@" in parts.path + parts.query + parts.fragment else parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    scheme = url.split("://", 1)[0].lower()
    if not host or any(char.isspace() for char in host) or scheme not in HTTP_SCHEMES + SOCKS_SCHEMES:
        # Not repeated, because it may hold a password.
        raise InvalidConfiguration(
            f"The address of the proxy ({place}) cannot be used: write it as http://host:port, https://host:port or"
            " socks5://host:port."
        )
    if scheme in SOCKS_SCHEMES:
        return Proxy(url.rstrip("/"), place)
    sent: dict[str, str] = {}
    login = headers.get("proxy_basic_auth")
    if not login and parts.username is not None:
        login = "{}:{}".format(unquote(parts.username), unquote(parts.password or ""))
    if login:
        sent["proxy-authorization"] = basic(login)
    if headers.get("basic_auth"):
        sent["authorization"] = basic(headers["basic_auth"])
    if headers.get("user_agent"):
        sent["user-agent"] = " ".join(wire_text(str(headers["user_agent"])).split())
    return Proxy(f"{scheme}://{join_host_port(host, port or DEFAULT_PORTS[scheme])}", place, sent)


def wire_text(value: str) -> str:
    """Return a text whose Latin-1 encoding, which urllib3 sends, is its UTF-8."""
    return value.encode("utf-8", "surrogateescape").decode("latin-1")


def basic(login: str) -> str:
    """Return the value of a Basic authorization header for user:password (RFC 7617, in UTF-8)."""
    return "Basic " + base64.b64encode(login.encode("utf-8", "surrogateescape")).decode()
