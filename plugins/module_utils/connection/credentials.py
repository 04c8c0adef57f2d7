# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authenticate: the Authorization header or the client certificate, and how each is renewed."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .exec_plugin import ExecResult, ExecSpec, run_plugin
from .tls import Pem

# Seconds before a token expires that it is renewed, but never earlier than at nine tenths of its life.
SKEW = 60.0
# Seconds between two runs of a plugin that returns expired tokens, which would otherwise be run for each request.
MIN_LIFE = 5.0


class Credential:
    """Anonymous, unless TLS presents a client certificate."""

    def authorization(self) -> str:
        """Return the value of the Authorization header of the next request, "" for none."""
        return ""

    def certificate(self) -> tuple[Pem, Pem] | None:
        """Return the client certificate and key that came with the credential."""
        return None

    def refresh(self) -> bool:
        """Renew it; return whether that is possible."""
        return False


class Fixed(Credential):
    """A token, or user name and password, as they were given."""

    def __init__(self, authorization: str) -> None:
        self._authorization = authorization

    def authorization(self) -> str:
        """Return what was given."""
        return self._authorization


class TokenFile(Credential):
    """A token in a file that the kubelet or an agent renews. Read for each request."""

    def __init__(self, path: str, name: str, fallback: str = "") -> None:
        self._path = path
        self._name = name
        self._last = bearer(fallback, name) if fallback else ""
        if not self._read() and not self._last:
            raise InvalidConfiguration(f"The token file {path} ({name}) cannot be read or is empty: put a token there.")

    def authorization(self) -> str:
        """Return the file's token; the last good one while the file is being replaced."""
        self._read()
        return self._last

    def refresh(self) -> bool:
        """Read the file again. Another request may have read the new token already, so any token is worth a retry."""
        return self._read()

    def _read(self) -> bool:
        try:
            with open(self._path, encoding="utf-8") as file:
                token = file.read().strip()
        except (OSError, ValueError):
            return False
        if token:
            self._last = bearer(token, self._name)
        return bool(token)


class Plugin(Credential):
    """A credential from a plugin, which is run at once, shortly before the token expires, and on refresh.

    left: returns the seconds that it may take.
    """

    def __init__(self, spec: ExecSpec, clock: Clock, left: Callable[[], float]) -> None:
        self._spec = spec
        self._clock = clock
        self._left = left
        self._due = 0.0
        self._run()

    def authorization(self) -> str:
        """Return the plugin's token. If an early renewal fails, use the old one until it expires."""
        now = self._clock.wall()
        if now >= self._due:
            try:
                self._run()
            except InvalidConfiguration:
                if self._result.expires is None or now >= self._result.expires:
                    raise
                self._due = now + MIN_LIFE
        return self._authorization

    def certificate(self) -> tuple[Pem, Pem] | None:
        """Return the plugin's client certificate and key."""
        if not self._result.certificate:
            return None
        name = f"given by the credential plugin '{self._spec.command}'"
        return Pem(self._result.certificate.encode(), name), Pem(self._result.key.encode(), name)

    def refresh(self) -> bool:
        """Run the plugin again."""
        self._run()
        return True

    def _run(self) -> None:
        result: ExecResult = run_plugin(self._spec, self._left())
        self._authorization = bearer(result.token, "the credential plugin") if result.token else ""
        self._result = result
        now = self._clock.wall()
        if result.expires is None:
            self._due = float("inf")
        else:
            life = result.expires - now
            self._due = now + max(MIN_LIFE, life - min(SKEW, life / 10))


def bearer(token: str, name: str) -> str:
    """Return the header's value for a token, with or without the word Bearer in front; name: where it comes from."""
    value = token.strip()
    if value.split(" ")[0].lower() == "bearer":
        value = value[len("bearer") :].strip()
    # urllib3 would repeat a token that it cannot send, in its error.
    if not value or not all("!" <= char <= "~" for char in value):
        raise InvalidConfiguration(
            f"The token ({name}) is empty or contains blanks, line breaks or other invalid characters: copy it again."
        )
    return "Bearer " + value
