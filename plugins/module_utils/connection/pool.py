# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pool that connections are taken from, with TLS and proxies.

Works alike with urllib3 1.26 and 2, and gives the user no warnings of theirs to read.
"""

from __future__ import annotations

import logging
import os
import platform
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ..errors import InvalidConfiguration, MissingLibrary
from ..runtime.workers import within
from .options import ConnectionOptions
from .proxy import Proxy, choose_proxy
from .server_address import ServerAddress, parse_server
from .tls import TlsMaterial, tls_context

# More than any eviction_concurrency in use, so that connections are kept; a larger one only opens new ones.
POOL_SIZE = 64
# Seconds that an identity provider may take for an answer, and that a task which is out of time still gives it.
LONGEST_FETCH = 30.0
SHORTEST_FETCH = 0.5


def make_pool(server: ServerAddress, material: TlsMaterial, proxy: Proxy | None) -> Any:
    """Return a connection pool for a server, by way of a proxy if it has one, still without TLS."""
    urllib3 = _urllib3()
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


def _urllib3() -> Any:
    try:
        import urllib3
    except ImportError as exc:
        raise MissingLibrary(
            "The Python library urllib3, which comes with kubernetes, is missing on %s's Python %s: install kubernetes"
            " there anew with '%s -m pip install --force-reinstall kubernetes'."
            % (platform.node(), sys.executable, sys.executable)
        ) from exc
    return urllib3


def fetch(
    url: str, material: TlsMaterial, form: str | None, headers: dict[str, str], left: Callable[[], float]
) -> tuple[int, bytes]:
    """Send one request to an identity provider (see oidc.Fetch). left: returns the seconds that the task has left."""
    urllib3 = _urllib3()
    server = parse_server(url, "identity provider")
    pool = make_pool(server, material, choose_proxy(server, ConnectionOptions({}), "", "", os.environ))
    if server.scheme == "https":
        use_tls(pool, material)
    try:
        seconds = max(SHORTEST_FETCH, min(LONGEST_FETCH, left()))
        method = "POST" if form is not None else "GET"
        ask = partial(pool.request, method, url, headers=headers, body=form, timeout=seconds, retries=False)
        response: Any = within(seconds, ask)
        return response.status, response.data
    except (urllib3.exceptions.HTTPError, OSError) as exc:
        raise InvalidConfiguration(
            "The identity provider at %s cannot be asked for a token (%s): check idp-issuer-url and"
            " idp-certificate-authority in the kubeconfig." % (server.url, type(exc).__name__)
        ) from None
    finally:
        pool.clear()


def use_tls(pool: Any, material: TlsMaterial) -> None:
    """Give a pool the context for its new connections; those that are open keep theirs."""
    context = tls_context(material)
    if _is_old_urllib3():
        # It keeps an address from the context, which then could compare nothing, and compares names itself.
        context.check_hostname = False
    # Said beside the context too, as urllib3 1.26 changes the context's mode to that.
    pool.connection_pool_kw.update(ssl_context=context, cert_reqs=context.verify_mode)
    if material.server_name:
        pool.connection_pool_kw["server_hostname"] = material.server_name


def _is_old_urllib3() -> bool:
    return str(getattr(_urllib3(), "__version__", "")).startswith("1.")


def _trust_proxy(pool: Any, material: TlsMaterial) -> None:
    """Verify a proxy that speaks TLS itself by the system's CAs and the given one (urllib3 1.26: the system's only)."""
    if _is_old_urllib3():
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
            "The proxy speaks SOCKS, for which the Python library PySocks is missing on %s's Python %s:"
            " install it there, or use an HTTP proxy." % (platform.node(), sys.executable)
        ) from exc
    return SOCKSProxyManager(proxy.url, maxsize=POOL_SIZE, socket_options=_keep_alive_options())


def _keep_alive_options() -> list[tuple[int, int, int]]:
    """Return socket options that notice within two minutes a peer that vanished while a watch was silent."""
    options = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 30), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options
