# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the connection set up and do: kubeconfigs, a clock, a pod's account, a request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection import (
    connection as connection_file,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import Connection
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock
from connection.certificates import Authority, Pair


class Hands(Clock):
    """A clock that a test sets. `now` is in seconds since 1970."""

    now = 1_790_000_000.0

    def wall(self) -> float:
        return self.now


@dataclass(frozen=True)
class Pki:
    """One authority with a server and two users, and an authority nobody trusts."""

    ca: Authority
    other_ca: Authority
    server: Pair
    alice: Pair
    bob: Pair


def set_account(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Say where a pod's service account lies."""
    monkeypatch.setattr(connection_file, "ACCOUNT", str(folder))


def ask(connection: Connection, path: str = "/version") -> int:
    """Send a request and return the status of its answer."""
    response = connection.pool.request(
        "GET", connection.base_url + path, headers=connection.headers(), retries=False, timeout=5.0
    )
    return int(response.status)


def kubeconfig(server: str, user: dict[str, Any] | None = None, **cluster: Any) -> dict[str, Any]:
    """Return a kubeconfig with one context, here; an underscore in a cluster's key stands for a hyphen."""
    section = {"server": server, **{key.replace("_", "-"): value for key, value in cluster.items()}}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": section}],
        "users": [{"name": "me", "user": user or {}}],
        "contexts": [{"name": "ctx", "context": {"cluster": "here", "user": "me"}}],
        "current-context": "ctx",
    }


def write(path: Path, document: Any) -> str:
    """Write a kubeconfig, as YAML unless it is text, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return str(path)
