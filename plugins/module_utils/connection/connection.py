# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect to an API server: connect() is what other packages call. docs/connection-design.md says what is ours, why."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ..errors import MaintenanceError
from ..runtime.clock import Clock, Deadline
from ..runtime.workers import within
from .auth_provider import ProviderToken
from .library import check_library, import_library
from .options import ConnectionOptions
from .pool import make_pool, use_tls
from .sources import Settings, Surroundings, find_settings

# Where a pod finds its service account (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
USER_AGENT = "kubeops.maintenance (Ansible collection)"
# A shorter text may well be part of a name that is not a secret.
MIN_SECRET = 8

Value = TypeVar("Value")


class Connection:
    """A pool of connections to one API server, and the headers that authenticate the caller.

    secrets: tokens and passwords that were sent. A server or a webhook may repeat them in a response.
    """

    def __init__(self, settings: Settings, reload: Callable[[], Settings]) -> None:
        self._settings = settings
        self._reload = reload
        self._lock = threading.Lock()
        self.secrets: set[str] = set()
        self.base_url = settings.server.url
        self.namespace = settings.namespace
        self.server_from = settings.server_from
        proxy = settings.proxy
        self.proxy = f"{proxy.place} ({proxy.given_as})" if proxy else ""
        self.pool: Any = make_pool(settings.server, settings.tls, settings.proxy)
        self._update_tls()

    def headers(self) -> dict[str, str]:
        """Return the headers of the next request, with credentials that are renewed when due."""
        with self._lock:
            sent = {"User-Agent": USER_AGENT, **self._settings.impersonation.headers()}
            before = self._settings.credential.certificate()
            authorization = self._settings.credential.authorization()
            if self._settings.credential.certificate() != before:
                self._update_tls()
        if authorization:
            sent["Authorization"] = authorization
            secret = authorization.rpartition(" ")[2]
            if len(secret) >= MIN_SECRET:
                self.secrets.add(secret)
        return sent

    def refresh(self) -> bool:
        """Get fresh credentials after a 401: run the plugin again, read the token file or the kubeconfig again.

        Return False if there are none, or if they are the same as before.
        """
        with self._lock:
            renewed = self._settings.credential.refresh() or self._load_again()
            if renewed:
                self._update_tls()
            return renewed

    def describe(self) -> str:
        """Return where this connects to and as whom, for error texts, without secrets."""
        who = self._settings.identity
        if self._settings.impersonation.user:
            who += f", impersonating '{self._settings.impersonation.user}'"
        via = f" through the proxy {self.proxy}" if self.proxy else ""
        return f"{self.base_url} as {who}{via}"

    def bounded(self, seconds: float, job: Callable[[], Value]) -> Value:
        """Run a job on the network; raise TimeoutError if it has not ended after N seconds."""
        return within(seconds, job)

    def close(self) -> None:
        """Close all connections. There is nothing else to clean up: certificates are in memory only."""
        self.pool.clear()

    def _load_again(self) -> bool:
        if self._settings.fixed:
            return False
        try:
            fresh = self._reload()
        except MaintenanceError:
            # The 401 that led here says more than a kubeconfig that is being rewritten at this moment.
            return False
        old = self._settings
        same = fresh.credential.authorization() == old.credential.authorization() and fresh.tls == old.tls
        if same or fresh.server != old.server:
            return False
        self._settings = replace(old, credential=fresh.credential, tls=fresh.tls)
        return True

    def _update_tls(self) -> None:
        """Give the pool the current TLS material for new connections; open ones keep theirs."""
        if self._settings.server.scheme != "https":
            return
        material = self._settings.tls
        pair = self._settings.credential.certificate()
        if pair is not None:
            material = replace(material, certificate=pair[0], key=pair[1])
        use_tls(self.pool, material)
        self.pool.clear()


def connect(
    params: Mapping[str, Any],
    clock: Clock | None = None,
    variables: Mapping[str, str] | None = None,
    seconds: float = 0.0,
) -> Connection:
    """Return a connection for the options of module/auth_spec.py. No request is sent.

    variables: the environment variables that options come from, for errors; seconds: how long the task may take from
    now, 0 without a limit: credential plugins are ended by then. Raise MissingLibrary or InvalidConfiguration, with one
    sentence for the user.
    """
    clock = clock or Clock()
    deadline = Deadline(clock, seconds)
    check_library()
    around = Surroundings(
        environment=os.environ,
        account_token=ACCOUNT + "/token",
        account_ca=ACCOUNT + "/ca.crt",
        clock=clock,
        provider=lambda selection, user: ProviderToken(
            user, selection.origin, import_library(), deadline.remaining, bool(params.get("persist_config"))
        ),
        left=deadline.remaining,
    )
    given = ConnectionOptions(params, variables or {})
    return Connection(find_settings(given, around), lambda: find_settings(given, around))
