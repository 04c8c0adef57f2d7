# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers, certificates and kubeconfigs for the tests of the connection, and an environment that holds none."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connection.certificates import Authority
from connection.servers import ApiServer, Asked, Proxy

ROOT = Path(__file__).resolve().parents[3]
NAME = "ansible_collections.kubeops.maintenance"

if NAME not in sys.modules:
    for name, place in (("ansible_collections", None), ("ansible_collections.kubeops", None), (NAME, ROOT)):
        module = types.ModuleType(name)
        module.__path__ = [str(place)] if place else []
        sys.modules.setdefault(name, module)

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import (  # noqa: E402
    Connection,
    connect,
)
from connection.situations import Hands, Pki, ask, set_account  # noqa: E402


@pytest.fixture(scope="session")
def pki() -> Pki:
    ca = Authority("cluster CA")
    server = ca.issue("api", "127.0.0.1", "::1", "localhost", "api.example.test", "other.test")
    return Pki(ca, Authority("another CA"), server, ca.issue("alice"), ca.issue("bob"))


@pytest.fixture(scope="session")
def running(pki: Pki) -> Iterator[ApiServer]:
    with ApiServer(pki.server, pki.ca.pem) as api:
        yield api


@pytest.fixture
def api(running: ApiServer) -> ApiServer:
    """The API server, with an empty memory."""
    running.asked.clear()
    running.refused.clear()
    running.answers.clear()
    return running


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as started:
        yield started


@pytest.fixture
def tls_proxy(pki: Pki) -> Iterator[Proxy]:
    with Proxy(pki.server) as started:
        yield started


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the developer's own kubeconfig, proxies and credentials, and the pod that tests may run in."""
    for name in list(os.environ):
        if name.startswith(("K8S_AUTH_", "KUBE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    set_account(monkeypatch, tmp_path / "no-account")


@pytest.fixture
def ca_file(pki: Pki, tmp_path: Path) -> str:
    path = tmp_path / "ca.crt"
    path.write_bytes(pki.ca.pem)
    return str(path)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def connected(clock: Hands) -> Iterator[Callable[..., Connection]]:
    """Return connect(), with options as keywords; what it opens is closed after the test.

    variables: tells, once the options are read, which come from environment variables; seconds: the task's limit.
    """
    opened: list[Connection] = []

    def open_one(variables: Callable[[], dict[str, str]] = dict, seconds: float = 0, **params: Any) -> Connection:
        opened.append(connect(params, clock, variables(), seconds))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


@pytest.fixture
def seen(connected: Callable[..., Connection], api: ApiServer) -> Callable[..., Asked]:
    """Return a function that connects with options, sends one request and returns what arrived at the server."""

    def ask_once(**params: Any) -> Asked:
        ask(connected(**params))
        return api.asked[-1]

    return ask_once
