# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connect to an API server: the only file that knows the Python package kubernetes.

That package brings urllib3 and PyYAML, which do the work, and logs users with an auth-provider in. It is imported only
for those: importing it costs a third of a second and more for each task on each host, and nothing else of it is needed.
TLS and headers are this collection's own, because releases differ there: tls-server-name came with 31, 36.0.0 lost
bearer tokens, and client certificates were left in temporary files.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from ..errors import MaintenanceError, MissingLibrary
from ..runtime.clock import Clock, Deadline
from ..runtime.workers import within
from .auth_provider import provider_login
from .options import ConnectionOptions
from .pool import fetch, make_pool, use_tls
from .sources import Settings, Surroundings, find_settings

OLDEST_CLIENT = (24, 2)
# Where a pod finds its service account (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
USER_AGENT = "kubeops.maintenance (Ansible collection)"
# Whatever is shorter may well be part of a name that is no secret.
SHORTEST_SECRET = 8

Value = TypeVar("Value")


class Connection:
    """A pool of connections to one API server, and the headers that say who is calling.

    secrets: what was sent to prove that. A server or a webhook may repeat it in what it answers.
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
        self.proxy = "%s (%s)" % (proxy.place, proxy.given_as) if proxy else ""
        self.pool: Any = make_pool(settings.server, settings.tls, settings.proxy)
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
            secret = authorization.rpartition(" ")[2]
            if len(secret) >= SHORTEST_SECRET:
                self.secrets.add(secret)
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
        via = " through the proxy %s" % self.proxy if self.proxy else ""
        return "%s as %s%s" % (self.base_url, who, via)

    def bounded(self, seconds: float, job: Callable[[], Value]) -> Value:
        """Run a job on the network; raise TimeoutError if it has not ended after that many seconds."""
        return within(seconds, job)

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
        use_tls(self.pool, material)
        self.pool.clear()


def connect(
    params: Mapping[str, Any],
    clock: Clock | None = None,
    variables: Mapping[str, str] | None = None,
    seconds: float = 0.0,
) -> Connection:
    """Return a connection for the options of auth_options.AUTH_SPEC. No request is sent.

    variables: the environment variables that options come from, for errors; seconds: how long the task may take that
    begins now, 0 without a limit: what gets credentials is ended by then. Raise MissingLibrary or
    InvalidConfiguration, with one sentence for the user.
    """
    clock = clock or Clock()
    deadline = Deadline(clock, seconds)
    _check_library()
    around = Surroundings(
        environment=os.environ,
        account_token=ACCOUNT + "/token",
        account_ca=ACCOUNT + "/ca.crt",
        clock=clock,
        provider=lambda selection, user: provider_login(
            selection,
            user,
            _library,
            clock,
            partial(fetch, left=deadline.remaining),
            bool(params.get("persist_config")),
        ),
        left=deadline.remaining,
    )
    given = ConnectionOptions(params, variables or {})
    return Connection(find_settings(given, around), lambda: find_settings(given, around))


def _check_library() -> None:
    """Say what is wrong with the package kubernetes of this interpreter, if anything is. It is looked at, not run."""
    version = _version_in_file() or str(getattr(_library(), "__version__", "0"))
    numbers = tuple(int(number) if number.isdigit() else 0 for number in version.split(".")[:2])
    if numbers < OLDEST_CLIENT:
        raise MissingLibrary(
            "The Python library kubernetes on %s is version %s, and %d.%d or later is needed: upgrade it there with"
            " '%s -m pip install --upgrade %s'." % (_place(), version, *OLDEST_CLIENT, sys.executable, _needed())
        )


def _version_in_file() -> str:
    """Return the version that the package's first file states, "" if there is no such file or it states none."""
    spec = importlib.util.find_spec("kubernetes")
    if spec is None or not spec.origin:
        return ""
    try:
        with open(spec.origin, encoding="utf-8") as file:
            found = re.search(r"^__version__ = ['\"]([^'\"]+)", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found.group(1) if found else ""


def _library() -> Any:
    """Import the package kubernetes."""
    try:
        import kubernetes
    except ImportError as exc:
        raise MissingLibrary(
            "Failed to import the required Python library (kubernetes) on %s (%s): install it there with"
            " '%s -m pip install %s', or set ansible_python_interpreter to a Python that has it."
            % (_place(), exc, sys.executable, _needed())
        ) from exc
    return kubernetes


def _place() -> str:
    return "%s's Python %s" % (platform.node(), sys.executable)


def _needed() -> str:
    # Quoted, as a shell would take what follows the name for a file to write to.
    return '"kubernetes>=%d.%d"' % OLDEST_CLIENT
