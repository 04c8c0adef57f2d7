# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say who is calling: the Authorization header, or the client certificate, and how each is renewed."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InvalidConfiguration
from ..runtime.clock import Clock
from .exec_plugin import ExecAnswer, ExecSpec, run_plugin
from .tls import Pem

# A token is renewed that long before it expires, in seconds, but never earlier than at nine tenths of its life.
SKEW = 60.0
# A plugin that hands out expired tokens is not run for each request, but once in so many seconds.
SHORTEST_LIFE = 5.0


class Credential:
    """Nobody in particular: anonymous, unless TLS shows a client certificate."""

    def authorization(self) -> str:
        """Return the value of the Authorization header of the next request; "" sends none."""
        return ""

    def certificate(self) -> tuple[Pem, Pem] | None:
        """Return the client certificate and key that came with the credential."""
        return None

    def refresh(self) -> bool:
        """Get it anew; tell whether there was a way to."""
        return False


class Fixed(Credential):
    """A token, or user name and password, as they were given."""

    def __init__(self, authorization: str) -> None:
        self._authorization = authorization

    def authorization(self) -> str:
        """Return what was given."""
        return self._authorization


class TokenFile(Credential):
    """A token in a file that somebody else renews: the kubelet, or an agent. Read for each request."""

    def __init__(self, path: str, name: str, fallback: str = "") -> None:
        self._path = path
        self._name = name
        self._last = bearer(fallback, name) if fallback else ""
        if not self._read() and not self._last:
            raise InvalidConfiguration(
                "The token file %s (%s) cannot be read or is empty: put a token there." % (path, name)
            )

    def authorization(self) -> str:
        """Return the file's token; the last good one while the file is being replaced."""
        self._read()
        return self._last

    def refresh(self) -> bool:
        """Read the file again. Another request may have read the new token already, so any token is worth a try."""
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
    """What a credential plugin gives. It is run at once, again shortly before its token expires, and on refresh.

    left: returns how many seconds it may take.
    """

    def __init__(self, spec: ExecSpec, clock: Clock, left: Callable[[], float]) -> None:
        self._spec = spec
        self._clock = clock
        self._left = left
        self._due = 0.0
        self._run()

    def authorization(self) -> str:
        """Return the plugin's token. If renewing it early fails, the old one serves to its end."""
        now = self._clock.wall()
        if now >= self._due:
            try:
                self._run()
            except InvalidConfiguration:
                if self._answer.expires is None or now >= self._answer.expires:
                    raise
                self._due = now + SHORTEST_LIFE
        return self._authorization

    def certificate(self) -> tuple[Pem, Pem] | None:
        """Return the plugin's client certificate and key."""
        if not self._answer.certificate:
            return None
        name = "given by the credential plugin '%s'" % self._spec.command
        return Pem(self._answer.certificate.encode(), name), Pem(self._answer.key.encode(), name)

    def refresh(self) -> bool:
        """Run the plugin again."""
        self._run()
        return True

    def _run(self) -> None:
        answer: ExecAnswer = run_plugin(self._spec, self._left())
        self._authorization = bearer(answer.token, "the credential plugin") if answer.token else ""
        self._answer = answer
        now = self._clock.wall()
        if answer.expires is None:
            self._due = float("inf")
        else:
            life = answer.expires - now
            self._due = now + max(SHORTEST_LIFE, life - min(SKEW, life / 10))


class Provided(Credential):
    """A token that the client library gets, for the auth-provider users of old kubeconfigs."""

    def __init__(self, load: Callable[[], Callable[[], str]]) -> None:
        self._load = load
        self._token = load()

    def authorization(self) -> str:
        """Return the library's token, which it renews when due."""
        return self._token()

    def refresh(self) -> bool:
        """Let the library load it anew."""
        before = self._token()
        self._token = self._load()
        return self._token() != before


def bearer(token: str, name: str) -> str:
    """Return the header's value for a token, given with or without the word Bearer; C(name) says where it is from."""
    value = token.strip()
    if value.split(" ")[0].lower() == "bearer":
        value = value[len("bearer") :].strip()
    # The HTTP library would repeat a token that it cannot send, in its error.
    if not value or not all("!" <= char <= "~" for char in value):
        raise InvalidConfiguration(
            "The token (%s) is empty or holds blanks, line breaks or other characters no token has: copy it again."
            % name
        )
    return "Bearer " + value
