# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect to an API server: the only file that knows the Python package kubernetes.

Of that package only what has been the same in all releases since 24.2 is used: C(Configuration), the connection pool
at C(ApiClient(configuration).rest_client.pool_manager), and C(auth_settings()) for auth-provider users. TLS and headers
are this collection's own, because releases differ there: tls-server-name came with 31, 36.0.0 lost bearer tokens, and
client certificates were left in temporary files.
"""

from __future__ import annotations

import logging
import os
import platform
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .auth_provider import provider_login
from .connection_sources import Settings, Surroundings, find_settings
from .errors import InvalidConfiguration, MaintenanceError, MissingLibrary
from .proxies import Proxy, choose_proxy
from .server_address import ServerAddress, parse_server
from .tls import TlsMaterial, tls_context
from .waiting import Clock

OLDEST_CLIENT = (24, 2)
USER_AGENT = "kubeops.maintenance (Ansible collection)"
# More than any eviction_concurrency in use, so that connections are kept; a larger one only opens new ones.
POOL_SIZE = 64


class Connection:
    """A pool of connections to one API server, and the headers that say who is calling."""

    def __init__(self, settings: Settings, reload: Callable[[], Settings]) -> None:
        self._settings = settings
        self._reload = reload
        self._lock = threading.Lock()
        self.base_url = settings.server.url
        self.namespace = settings.namespace
        self.pool: Any = _pool(settings.server, settings.tls, settings.proxy)
        self._agree_on_tls()

    def headers(self) -> dict[str, str]:
        """Return the headers of the next request, with credentials that are renewed when due."""
        with self._lock:
            sent = {"User-Agent": USER_AGENT, **self._settings.impersonation.headers()}
            before = self._settings.credential.certificate()
            authorization = self._settings.credential.authorization()
            if self._settings.credential.certificate() != before:
                self._agree_on_tls()
        if authorization:
            sent["Authorization"] = authorization
        return sent

    def refresh(self) -> bool:
        """Get fresh credentials after a 401: run the plugin again, read the token file or the kubeconfig again.

        Return False when there is nothing to get anew, or when it is the same as before.
        """
        with self._lock:
            renewed = self._settings.credential.refresh() or self._load_again()
            if renewed:
                self._agree_on_tls()
            return renewed

    def describe(self) -> str:
        """Return where this connects to and as whom, for error texts; it holds no secret."""
        who = self._settings.identity
        if self._settings.impersonation.user:
            who += ", impersonating '%s'" % self._settings.impersonation.user
        return "%s as %s" % (self.base_url, who)

    def close(self) -> None:
        """End all connections. Nothing else is left to remove: certificates are held in memory only."""
        self.pool.clear()

    def _load_again(self) -> bool:
        if self._settings.fixed:
            return False
        try:
            fresh = self._reload()
        except MaintenanceError:
            # The refusal that led here says more than a kubeconfig that is being rewritten just now.
            return False
        old = self._settings
        same = fresh.credential.authorization() == old.credential.authorization() and fresh.tls == old.tls
        if same or fresh.server != old.server:
            return False
        self._settings = replace(old, credential=fresh.credential, tls=fresh.tls)
        return True

    def _agree_on_tls(self) -> None:
        """Give the pool the TLS material of now; open connections keep what they have, new ones use it."""
        if self._settings.server.scheme != "https":
            return
        material = self._settings.tls
        pair = self._settings.credential.certificate()
        if pair is not None:
            material = replace(material, certificate=pair[0], key=pair[1])
        keywords = self.pool.connection_pool_kw
        keywords.update(ssl_context=tls_context(material), cert_reqs=None)
        if material.server_name:
            keywords["server_hostname"] = material.server_name
        self.pool.clear()


def connect(params: Mapping[str, Any], clock: Clock | None = None) -> Connection:
    """Return a connection for the options of auth_options.AUTH_SPEC. No request is sent.

    Raise MissingLibrary or InvalidConfiguration, with one sentence for the user.
    """
    clock = clock or Clock()
    library = _library()
    pod = library.config.incluster_config
    around = Surroundings(
        environment=os.environ,
        account_token=pod.SERVICE_TOKEN_FILENAME,
        account_ca=pod.SERVICE_CERT_FILENAME,
        clock=clock,
        provider=lambda selection, user: provider_login(
            selection, user, library, clock, _fetch, bool(params.get("persist_config"))
        ),
    )
    return Connection(find_settings(params, around), lambda: find_settings(params, around))


def _library() -> Any:
    """Import the package kubernetes, or say what is wrong with the one of this interpreter."""
    where = "%s's Python %s" % (platform.node(), sys.executable)
    needed = "kubernetes>=%d.%d" % OLDEST_CLIENT
    try:
        import kubernetes
    except ImportError as exc:
        raise MissingLibrary(
            "Failed to import the required Python library (kubernetes) on %s (%s): install it there with"
            " '%s -m pip install %s', or set ansible_python_interpreter to a Python that has it."
            % (where, exc, sys.executable, needed)
        ) from exc
    version = str(getattr(kubernetes, "__version__", "0"))
    numbers = tuple(int(number) if number.isdigit() else 0 for number in version.split(".")[:2])
    if numbers < OLDEST_CLIENT:
        raise MissingLibrary(
            "The Python library kubernetes on %s is version %s, and %d.%d or later is needed: upgrade it there with"
            " '%s -m pip install --upgrade %s'." % (where, version, *OLDEST_CLIENT, sys.executable, needed)
        )
    return kubernetes


def _pool(server: ServerAddress, material: TlsMaterial, proxy: Proxy | None) -> Any:
    """Return the client library's connection pool for a server, by way of a proxy if it has one, still without TLS."""
    import urllib3

    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    # Without a handler, Python would write the warnings of that package among the module's output.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    if proxy is not None and proxy.socks:
        return _socks_pool(proxy)
    client = _library().client
    configuration = client.Configuration()
    configuration.host = server.url
    configuration.verify_ssl = material.verify
    configuration.connection_pool_maxsize = POOL_SIZE
    # Set in any case: some releases fill them from the environment, by rules of their own.
    configuration.proxy = proxy.url if proxy else None
    configuration.proxy_headers = proxy.headers if proxy else None
    configuration.no_proxy = None
    pool = client.ApiClient(configuration).rest_client.pool_manager
    for name in ("ca_certs", "ca_cert_data", "cert_file", "key_file", "assert_hostname"):
        pool.connection_pool_kw.pop(name, None)
    pool.connection_pool_kw["socket_options"] = _keep_alive_options()
    if proxy is not None and proxy.url.startswith("https://"):
        _trust_proxy(pool, material)
    return pool


def _fetch(url: str, material: TlsMaterial, form: str | None, headers: dict[str, str]) -> tuple[int, bytes]:
    """Send one request to an identity provider (see oidc.Fetch)."""
    import urllib3

    server = parse_server(url, "identity provider")
    pool = _pool(server, material, choose_proxy(server, {}, "", os.environ))
    if server.scheme == "https":
        pool.connection_pool_kw.update(ssl_context=tls_context(material), cert_reqs=None)
    try:
        response = pool.request(
            "POST" if form is not None else "GET", url, headers=headers, body=form, timeout=30.0, retries=False
        )
        return response.status, response.data
    except (urllib3.exceptions.HTTPError, OSError) as exc:
        raise InvalidConfiguration(
            "The identity provider at %s cannot be asked for a token (%s): check idp-issuer-url and"
            " idp-certificate-authority in the kubeconfig." % (server.url, type(exc).__name__)
        ) from None
    finally:
        pool.clear()


def _trust_proxy(pool: Any, material: TlsMaterial) -> None:
    """Verify a proxy that speaks TLS itself by the system's CAs and the given one."""
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
