# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pool of connections, with TLS and proxies, alike with urllib3 1.26 and 2 and without their warnings."""

from __future__ import annotations

import logging
import socket
from typing import Any

from ..errors import MissingLibrary
from .library import import_urllib3, this_python
from .proxy import Proxy
from .server_address import ServerAddress
from .tls import TlsMaterial, tls_context

# More than any eviction_concurrency in use, so that connections are kept; a larger one only opens new ones.
POOL_SIZE = 64


def make_pool(server: ServerAddress, material: TlsMaterial, proxy: Proxy | None) -> Any:
    """Return a connection pool for a server, through a proxy if there is one; use_tls() adds TLS."""
    urllib3 = import_urllib3()
    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    # Without a handler, Python would write the warnings of that package among the module's output.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    settings: dict[str, Any] = {"maxsize": POOL_SIZE, "socket_options": _keep_alive_options()}
    if proxy is None:
        return urllib3.PoolManager(**settings)
    if proxy.socks:
        return _socks_pool(proxy)
    pool = urllib3.ProxyManager(proxy.url, proxy_headers=proxy.headers or None, **settings)
    if proxy.url.startswith("https://"):
        _trust_proxy(pool, material)
    return pool


def use_tls(pool: Any, material: TlsMaterial) -> None:
    """Give a pool the context for its new connections; those that are open keep theirs."""
    context = tls_context(material)
    if _is_urllib3_1():
        # It does not give IP addresses to the context to check, but checks host names and addresses itself.
        context.check_hostname = False
    # urllib3 1.26 sets the context's mode to cert_reqs.
    pool.connection_pool_kw.update(ssl_context=context, cert_reqs=context.verify_mode)
    if material.server_name:
        pool.connection_pool_kw["server_hostname"] = material.server_name


def _is_urllib3_1() -> bool:
    return str(getattr(import_urllib3(), "__version__", "")).startswith("1.")


def _trust_proxy(pool: Any, material: TlsMaterial) -> None:
    """Verify a proxy that speaks TLS by the system's CAs and the given one (urllib3 1.26: the system's only)."""
    if _is_urllib3_1():
        return
    context = tls_context(TlsMaterial(verify=material.verify, ca=material.ca))
    if material.verify:
        context.load_default_certs()
    pool.proxy_config = pool.proxy_config._replace(ssl_context=context)
    pool.connection_pool_kw["_proxy_config"] = pool.proxy_config


def _socks_pool(proxy: Proxy) -> Any:
    try:
        from urllib3.contrib.socks import SOCKSProxyManager
    except ImportError as exc:
        raise MissingLibrary(
            f"The proxy speaks SOCKS, for which the Python library PySocks is missing on {this_python()}: install it"
            " there, or use an HTTP proxy."
        ) from exc
    return SOCKSProxyManager(proxy.url, maxsize=POOL_SIZE, socket_options=_keep_alive_options())


def _keep_alive_options() -> list[tuple[int, int, int]]:
    """Return socket options that notice within two minutes a peer that vanished while a watch was silent."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options
