# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of the connection options, and where each comes from, so that an error can name what to correct."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ConnectionOptions:
    """The values of the connection options.

    variables: for options that the task leaves out, the environment variables that their values come from.
    """

    values: Mapping[str, Any] = field(repr=False)
    variables: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        """Return an option's value, None if nothing gives it."""
        return self.values.get(name)

    def text(self, name: str) -> str:
        """Return an option's value as a text without blanks around it, "" if nothing gives it."""
        value = self.values.get(name)
        return "" if value is None else str(value).strip()

    def place(self, name: str) -> str:
        """Return where an option's value comes from: "option host", "environment variable K8S_AUTH_HOST"."""
        variable = self.variables.get(name)
        return f"environment variable {variable}" if variable else f"option {name}"

    def named(self, name: str) -> str:
        """Return an option's name, with its variable behind it if its value comes from one."""
        return f"{name} ({self.place(name)})" if name in self.variables else name
