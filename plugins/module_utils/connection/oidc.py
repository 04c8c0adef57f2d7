# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Renew the ID token of a kubeconfig user with the auth-provider oidc, as kubectl does.

Not left to the client library, which asks the identity provider without verifying it when no CA is named, and writes
its CA to temporary files.
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus, urlencode

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .credentials import Credential, bearer
from .kubeconfig import Entry, replace_in_file
from .proxy import basic
from .tls import Pem, TlsMaterial, read_pem

# Sends a GET, or a POST of a form: (url, TLS material, form, headers) -> status and body. Raises InvalidConfiguration.
Fetch = Callable[[str, TlsMaterial, "str | None", dict[str, str]], tuple[int, bytes]]
# An ID token is renewed that many seconds before it expires.
SKEW = 30.0
DISCOVERY = "/.well-known/openid-configuration"


class Oidc(Credential):
    """An ID token that is renewed by its refresh token. With C(persist), both are written back to the kubeconfig."""

    def __init__(self, user: Entry, origin: str, clock: Clock, fetch: Fetch, persist: bool) -> None:
        self._user = user
        self._name = "user '%s' in %s" % (user.name, origin)
        self._clock = clock
        self._fetch = fetch
        self._persist = persist
        self._section = copy.deepcopy(user.part("auth-provider"))
        config = self._section.get("config")
        self._config = Entry(user.name, config if isinstance(config, dict) else {}, user.file)
        self.authorization()

    def authorization(self) -> str:
        """Return the ID token, renewed if it is about to expire."""
        token = self._config.text("id-token")
        expires = _expiry(token)
        if not token or (expires is not None and expires - SKEW <= self._clock.wall()):
            self._renew()
        return bearer(self._config.text("id-token"), self._name)

    def refresh(self) -> bool:
        """Renew the ID token, if there is a refresh token."""
        if not self._config.text("refresh-token"):
            return False
        self._renew()
        return True

    def _renew(self) -> None:
        if not self._config.text("refresh-token") or not self._config.text("idp-issuer-url"):
            raise self._failed("it has expired, and there is no refresh-token with an idp-issuer-url")
        document = self._json(self._config.text("idp-issuer-url").rstrip("/") + DISCOVERY, None, {})
        endpoint = document.get("token_endpoint")
        if not isinstance(endpoint, str):
            raise self._failed("the identity provider names no token_endpoint")
        answer = self._ask(endpoint)
        if not isinstance(answer.get("id_token"), str):
            raise self._failed("the identity provider sent no id_token")
        self._config.body["id-token"] = answer["id_token"]
        if isinstance(answer.get("refresh_token"), str):
            self._config.body["refresh-token"] = answer["refresh_token"]
        if self._persist:
            replace_in_file(self._user, "users", "user", "auth-provider", self._section)

    def _ask(self, endpoint: str) -> dict[str, Any]:
        """Send the refresh token (RFC 6749, section 6). A client with a secret logs in by header."""
        client, secret = self._config.text("client-id"), self._config.text("client-secret")
        form = {"grant_type": "refresh_token", "refresh_token": self._config.text("refresh-token")}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if secret:
            headers["Authorization"] = basic("%s:%s" % (quote_plus(client), quote_plus(secret)))
        else:
            form["client_id"] = client
        return self._json(endpoint, urlencode(form), headers)

    def _json(self, url: str, form: str | None, headers: dict[str, str]) -> dict[str, Any]:
        status, body = self._fetch(url, TlsMaterial(ca=self._ca()), form, {"Accept": "application/json", **headers})
        try:
            document = json.loads(body)
        except ValueError:
            document = None
        if status != 200 or not isinstance(document, dict):
            # The body may repeat what was sent.
            raise self._failed("the identity provider answered with status %d" % status)
        return document

    def _ca(self) -> Pem | None:
        name = "idp-certificate-authority of the " + self._name
        data, path = self._config.text("idp-certificate-authority-data"), self._config.text("idp-certificate-authority")
        if data:
            try:
                return Pem(base64.b64decode("".join(data.split()), validate=True), name)
            except (binascii.Error, ValueError):
                raise self._failed("its idp-certificate-authority-data is not valid base64") from None
        return read_pem(self._config.path(path), name) if path else None

    def _failed(self, why: str) -> InvalidConfiguration:
        return InvalidConfiguration(
            "The ID token (auth-provider oidc) of the %s cannot be renewed: %s; log in again." % (self._name, why)
        )


def _expiry(token: str) -> float | None:
    """Return when a JSON web token expires, in seconds since 1970; None if it does not say."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"])
    except (ValueError, KeyError, TypeError):
        return None
