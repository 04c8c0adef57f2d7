# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log in users with an auth-provider, the form of login that kubeconfigs had before plugins.

The provider oidc is this collection's own; others, such as gcp, are left to the client library.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .credentials import Credential, Provided, bearer
from .kubeconfig import Entry, Selection, replace_in_file
from .oidc import Fetch, Oidc


def provider_login(
    selection: Selection, user: Entry, library: Callable[[], Any], clock: Clock, fetch: Fetch, persist: bool
) -> Credential:
    """Return the credential of a user with an auth-provider. With C(persist), renewed tokens are written back."""
    if user.part("auth-provider").get("name") == "oidc":
        return Oidc(user, selection.origin, clock, fetch, persist)
    return Provided(lambda: _library_token(library(), selection, user, persist))


def _library_token(library: Any, selection: Selection, user: Entry, persist: bool) -> Callable[[], str]:
    """Return a function that gives the Authorization header; the library renews the token when it is due.

    library: the package kubernetes.
    """
    name = "user '%s' in %s" % (user.name, selection.origin)
    section = copy.deepcopy(user.part("auth-provider"))
    kind = str(section.get("name") or "")
    configuration = library.client.Configuration()

    def load() -> None:
        library.config.load_kube_config_from_dict(
            _document(section), client_configuration=configuration, persist_config=False
        )

    def token() -> str:
        known = copy.deepcopy(section.get("config"))
        if configuration.refresh_api_key_hook is not None:
            _ask(lambda: configuration.refresh_api_key_hook(configuration), library, name, kind)
        if persist and known != section.get("config"):
            replace_in_file(user, "users", "user", "auth-provider", section)
        # Releases differ in the key they keep the token under, and 36.0.0 looks for it under another than it wrote.
        return bearer(next(iter(configuration.api_key.values()), ""), name)

    before = copy.deepcopy(section.get("config"))
    _ask(load, library, name, kind)
    if not configuration.api_key:
        raise InvalidConfiguration(
            "The auth-provider '%s' of the %s gives no token with this release of the Python library kubernetes:"
            " log in again, or use a credential plugin (exec)." % (kind, name)
        )
    if persist and before != section.get("config"):
        replace_in_file(user, "users", "user", "auth-provider", section)
    return token


def _document(section: dict[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig of this login alone, of which the library makes no files of certificates it need not see."""
    return {
        "clusters": [{"name": "cluster", "cluster": {"server": "http://localhost"}}],
        "users": [{"name": "user", "user": {"auth-provider": section}}],
        "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
        "current-context": "context",
    }


def _ask(call: Callable[[], None], library: Any, name: str, kind: str) -> None:
    try:
        call()
    # The library lets through what four other packages raise, with tokens in some of the texts.
    except Exception as exc:
        raise InvalidConfiguration(
            "The auth-provider '%s' of the %s gives no token (%s): log in again, or use a credential plugin (exec)."
            % (kind, name, type(exc).__name__)
        ) from None
    finally:
        remove = getattr(library.config.kube_config, "_cleanup_temp_files", None)
        if remove is not None:
            remove()
