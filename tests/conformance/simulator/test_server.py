# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The server as a process of its own: HTTP, TLS, streams, broken connections, its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from kubesim import builders

TESTS = Path(__file__).resolve().parents[2]
ADMIN = {"Authorization": "Bearer admintoken"}


class Process:
    """A running `python -m kubesim`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        command = [sys.executable, "-m", "kubesim", "--kubeconfig", str(self.kubeconfig), "--lifetime", "300", *options]
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        self.process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.url = line.removeprefix("kubesim listening on ").strip()

    def stop(self) -> float:
        """End it by SIGTERM and return how many seconds that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return time.monotonic() - began


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("server")
    state = folder / "state.json"
    state.write_text(json.dumps([builders.node("n"), builders.pod("a", node_name="n")]), encoding="utf-8")
    process = Process(folder, "--https", "--tls-dir", str(folder / "tls"), "--state", str(state))
    yield process
    process.stop()


@pytest.fixture
def pool(server: Process) -> Iterator[urllib3.PoolManager]:
    with urllib3.PoolManager(ca_certs=str(server.folder / "tls" / "ca.crt"), retries=False, timeout=10) as manager:
        yield manager
        manager.request("DELETE", f"{server.url}/kubesim/faults")


def control(pool: urllib3.PoolManager, server: Process, path: str, body: Any) -> None:
    answer = pool.request("POST", f"{server.url}/kubesim/{path}", body=json.dumps(body).encode())
    assert answer.status == 200, answer.data


def test_it_says_where_it_listens(server: Process) -> None:
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+", server.url)


def test_the_kubeconfig_is_private_and_names_the_server(server: Process) -> None:
    assert server.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert f"server: {server.url}\n" in server.kubeconfig.read_text(encoding="utf-8")


def test_it_serves_the_state_that_it_was_given(server: Process, pool: urllib3.PoolManager) -> None:
    answer = pool.request("GET", f"{server.url}/api/v1/nodes", headers=ADMIN)
    assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["n"]


def test_a_client_certificate_is_a_login(server: Process) -> None:
    tls = server.folder / "tls"
    with urllib3.PoolManager(
        ca_certs=str(tls / "ca.crt"), cert_file=str(tls / "client.crt"), key_file=str(tls / "client.key")
    ) as pool:
        assert pool.request("GET", f"{server.url}/api/v1/nodes").status == 200


def test_a_watch_streams_what_happens(server: Process, pool: urllib3.PoolManager) -> None:
    answer = pool.request(
        "GET", f"{server.url}/api/v1/nodes?watch=1&timeoutSeconds=5", headers=ADMIN, preload_content=False
    )
    lines = iter(answer)
    first = json.loads(next(lines))
    patch = {"metadata": {"labels": {"seen": "yes"}}}
    kind = {"Content-Type": "application/merge-patch+json"}
    pool.request("PATCH", f"{server.url}/api/v1/nodes/n", headers={**ADMIN, **kind}, body=json.dumps(patch).encode())
    second = json.loads(next(lines))
    answer.close()
    assert (first["type"], second["type"], second["object"]["metadata"]["labels"]["seen"]) == (
        "ADDED",
        "MODIFIED",
        "yes",
    )


def test_simulated_time_passes_with_real_time(server: Process, pool: urllib3.PoolManager) -> None:
    control(pool, server, "clock", {"speed": 200})
    answer = pool.request("GET", f"{server.url}/api/v1/nodes?watch=1&timeoutSeconds=10", headers=ADMIN)
    control(pool, server, "clock", {"speed": 1})
    assert answer.status == 200


def test_a_cut_connection_gives_no_answer(server: Process, pool: urllib3.PoolManager) -> None:
    control(pool, server, "faults", {"faults": [{"path": "/nodes", "reset": "before"}]})
    with pytest.raises(urllib3.exceptions.ProtocolError):
        pool.request("GET", f"{server.url}/api/v1/nodes", headers=ADMIN)


def test_an_outage_refuses_connections_and_ends(server: Process, pool: urllib3.PoolManager) -> None:
    control(pool, server, "outage", {"seconds": 0.3})
    deadline, refused = time.monotonic() + 10, 0
    while time.monotonic() < deadline:
        try:
            answer = pool.request("GET", f"{server.url}/api/v1/nodes", headers=ADMIN)
        except urllib3.exceptions.HTTPError:
            refused += 1
        else:
            if refused:
                break
    assert (refused > 0, answer.status) == (True, 200)


def test_long_answers_are_compressed_for_those_who_accept_it(server: Process, pool: urllib3.PoolManager) -> None:
    control(pool, server, "load", {"objects": [builders.pod(f"p{number}", "many") for number in range(150)]})
    headers = {**ADMIN, "Accept-Encoding": "gzip"}
    answer = pool.request("GET", f"{server.url}/api/v1/namespaces/many/pods", headers=headers)
    assert (answer.headers["Content-Encoding"], len(answer.json()["items"])) == ("gzip", 150)


def test_it_ends_at_once_when_told_even_with_a_watch_open(tmp_path: Path) -> None:
    process = Process(tmp_path, "--prefix", "/clusters/one")
    with urllib3.PoolManager() as pool:
        answer = pool.request("GET", f"{process.url}/api/v1/nodes?watch=1", preload_content=False)
        took = process.stop()
        answer.close()
    assert (answer.status, took < 8, process.process.returncode) == (200, True, 0)
