# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Act as another user: the Impersonate-* headers, which the package kubernetes does not send."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote

from ..errors import InvalidConfiguration
from .options import ConnectionOptions
from .proxy import wire_text


@dataclass(frozen=True)
class Impersonation:
    """The user that requests act as; all empty: the caller."""

    user: str = ""
    groups: list[str] = field(default_factory=list)
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict)

    def overridden(self, given: ConnectionOptions) -> Impersonation:
        """Return this with impersonate_user and impersonate_groups replaced where these options are given.

        Refuse what the API server refuses too, but with a remedy.
        """
        groups = [str(group) for group in given.value("impersonate_groups") or [] if str(group)]
        user = given.value("impersonate_user")
        own = Impersonation(str(user) if user else self.user, groups or self.groups, self.uid, self.extra)
        own.check(given.place("impersonate_groups") if groups else "as-groups of the kubeconfig")
        return own

    def check(self, groups_from: str) -> None:
        """Refuse groups without a user, and names that cannot be sent in a header."""
        if (self.groups or self.uid or self.extra) and not self.user:
            raise InvalidConfiguration(
                "Groups cannot be impersonated without a user: give impersonate_user as well as the groups"
                f" ({groups_from})."
            )
        for value in (self.user, self.uid, *self.groups, *(item for items in self.extra.values() for item in items)):
            if any(ord(char) < 32 for char in value):
                raise InvalidConfiguration(
                    "A name to impersonate holds a line break or another control character: correct impersonate_user"
                    " and impersonate_groups (also as K8S_AUTH_IMPERSONATE_...), or as and as-groups in the kubeconfig."
                )

    def headers(self) -> dict[str, str]:
        """Return the headers. Each group is a header; their names differ only in case, which HTTP ignores."""
        sent: dict[str, str] = {}
        if self.user:
            sent["Impersonate-User"] = wire_text(self.user)
        if self.uid:
            sent["Impersonate-Uid"] = wire_text(self.uid)
        _add(sent, "Impersonate-Group", self.groups)
        for key, values in self.extra.items():
            _add(sent, "Impersonate-Extra-" + quote(key.lower(), safe=""), values)
        return sent


def _add(sent: dict[str, str], name: str, values: list[str]) -> None:
    """Add a header once for each value, under spellings that HTTP treats as the same name.

    urllib3's dict of repeated headers does not help: its proxies copy headers into a plain dict, which would join the
    groups by commas.
    """
    letters = [at for at, char in enumerate(name) if char.isalpha()]
    for number, value in enumerate(values):
        spelling = list(name)
        for bit, at in enumerate(letters):
            if number >> bit & 1:
                spelling[at] = spelling[at].swapcase()
        sent["".join(spelling)] = wire_text(value)
