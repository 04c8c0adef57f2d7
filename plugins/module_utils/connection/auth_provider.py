# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log in users with an auth-provider, the form of login that kubeconfigs had before credential plugins.

The package kubernetes does that, for the providers that the installed release knows. Ours are the time limit, one
sentence for each of its errors, and the verification of the identity provider.
"""

from __future__ import annotations

import base64
import copy
import re
from collections.abc import Callable
from typing import Any

from ..errors import InvalidConfiguration
from ..runtime.workers import within
from .credentials import Credential, bearer
from .kubeconfig import Entry, replace_in_file
from .tls import read_pem, system_ca_file

# Seconds that a login may take, and that a task gives it even if its own time is up.
MAX_LOGIN = 30.0
MIN_LOGIN = 0.5
IDP_CA = "idp-certificate-authority"


class ProviderToken(Credential):
    """A token of the package kubernetes (C(library)), renewed at the start and after a 401 if it has expired.

    origin: names the kubeconfig; left: returns the seconds that the task has left; persist: write renewed tokens back.
    """

    def __init__(self, user: Entry, origin: str, library: Any, left: Callable[[], float], persist: bool) -> None:
        self._user = user
        self._library = library
        self._left = left
        self._persist = persist
        self._section = Entry(user.name, copy.deepcopy(user.part("auth-provider")), user.file)
        self._name = f"user '{user.name}' in {origin}"
        self._token = self._load()

    def authorization(self) -> str:
        """Return the token."""
        return self._token

    def refresh(self) -> bool:
        """Renew the token if it has expired."""
        before, self._token = self._token, self._load()
        return self._token != before

    def _load(self) -> str:
        section = {**self._section.body, "config": self._config()}
        given = dict(section["config"])
        configuration = self._library.client.Configuration()
        load = self._library.config.load_kube_config_from_dict
        self._run(lambda: load(_kubeconfig(section), client_configuration=configuration, persist_config=False))
        renewed = {key: value for key, value in section["config"].items() if given.get(key) != value}
        if renewed:
            self._section.body["config"] = {**self._section.part("config"), **renewed}
            if self._persist:
                replace_in_file(self._user, "users", "user", "auth-provider", self._section.body)
        if not configuration.api_key:
            raise self._failed(" with this release of the Python library kubernetes")
        # Releases differ in the key they keep the token under.
        return bearer(next(iter(configuration.api_key.values())), self._name)

    def _config(self) -> dict[str, Any]:
        """Return the provider's settings, with a CA inside: without one, the library does not verify the provider."""
        config = dict(self._section.part("config"))
        if self._section.text("name") == "oidc" and not config.get(IDP_CA + "-data"):
            path = str(config.get(IDP_CA) or "")
            ca = read_pem(self._user.path(path) if path else system_ca_file(), f"{IDP_CA} of the {self._name}")
            config[IDP_CA + "-data"] = base64.b64encode(ca.data).decode()
        return config

    def _run(self, load: Callable[[], None]) -> None:
        seconds = max(MIN_LOGIN, min(MAX_LOGIN, self._left()))
        try:
            within(seconds, load)
        except TimeoutError:
            raise self._failed(f" within {seconds:.3g} seconds") from None
        # The library lets through what four other packages raise, with tokens in some of the texts.
        except Exception as exc:
            raise self._failed(f" ({_cause(exc)})") from None
        finally:
            remove = getattr(self._library.config.kube_config, "_cleanup_temp_files", None)
            if remove is not None:
                remove()

    def _failed(self, why: str) -> InvalidConfiguration:
        return InvalidConfiguration(
            f"The auth-provider '{self._section.text('name')}' of the {self._name} gives no token{why}: log in again,"
            " or use a credential plugin (exec)."
        )


def _kubeconfig(section: dict[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig of this login alone, so that the library writes no other certificates to files."""
    return {
        "clusters": [{"name": "cluster", "cluster": {"server": "http://localhost"}}],
        "users": [{"name": "user", "user": {"auth-provider": section}}],
        "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": "context",
    }


def _cause(exc: BaseException) -> str:
    """Return what is wrong, without any text that may hold a secret: a missing key, or the innermost error's class."""
    missing = re.search(r"^'(\w+)'$" if isinstance(exc, KeyError) else r"Expected key ([\w-]+) in", str(exc))
    if missing:
        return f"{missing[1]} is missing"
    seen: set[int] = set()
    while id(exc) not in seen:
        seen.add(id(exc))
        # urllib3 and requests keep causes as attributes and arguments, too.
        links = (getattr(exc, "reason", None), exc.__cause__, exc.__context__, *exc.args)
        exc = next((link for link in links if isinstance(link, BaseException)), exc)
    return type(exc).__name__
