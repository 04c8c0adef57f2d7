# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task's time holds whatever is slow: an answer's first bytes or its last, a watch's refusal, a credential plugin."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration, MaintenanceError
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock, Deadline
from connection.situations import kubeconfig

LIMIT = 0.4  # seconds that the task may take
SLACK = 2.0  # a second at the most, and as much for a busy machine; what is tested would take 30 s and more
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
REFUSAL = HEAD.replace(b"200 OK", b"403 Forbidden")


@contextlib.contextmanager
def dripping(prompt: bytes) -> Iterator[str]:
    """Yield the address of a server that answers with these bytes at once and then a byte every 20 ms."""
    over = threading.Event()

    def serve(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.recv(65536)
            client.sendall(prompt)
            while not over.wait(0.02):
                client.sendall(b" " if b"\r\n\r\n" in prompt else b"X")

    def listen(listener: socket.socket) -> None:
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                client, _address = listener.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=listen, args=(listener,), daemon=True)
        thread.start()
        try:
            yield "http://127.0.0.1:%d" % listener.getsockname()[1]
        finally:
            over.set()
            thread.join()


def took(job: Callable[[], object], error: type[MaintenanceError]) -> float:
    """Return how many seconds a job took to fail in this way."""
    started = time.monotonic()
    with pytest.raises(error):
        job()
    return time.monotonic() - started


@pytest.mark.parametrize("prompt", [b"", b"HTTP/1.1 200 OK\r\nX-Pad: ", HEAD, HEAD + b'{"kind":"PodList"'])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_is_given_up_when_the_tasks_time_is_over(connected, prompt: bytes, method: str) -> None:
    with dripping(prompt) as address:
        rest = Rest(connected(host=address, api_key="t"), Clock(), Deadline(Clock(), LIMIT))
        assert took(lambda: rest.request(method, "/api/v1/pods"), ResponseTimeout) < LIMIT + SLACK


@pytest.mark.parametrize("prompt", [b"", b"HTTP/1.1 200 OK\r\nX-Pad: ", REFUSAL])
def test_a_watch_that_does_not_begin_is_given_up_when_the_tasks_time_is_over(connected, prompt: bytes) -> None:
    with dripping(prompt) as address:
        rest = Rest(connected(host=address, api_key="t"), Clock(), Deadline(Clock(), LIMIT))
        # A refusal's body is waited for as long again at the most.
        assert took(lambda: next(rest.stream("/api/v1/pods", {}, 30.0)), ResponseTimeout) < 2 * LIMIT + SLACK


def test_a_credential_plugin_is_ended_when_the_tasks_time_is_over(connected, tmp_path: Path) -> None:
    command = tmp_path / "plug"
    command.write_text("#!/bin/sh\nsleep 30\n")
    command.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(command)}}
    config = kubeconfig("http://127.0.0.1:1", user)
    assert took(lambda: connected(kubeconfig=config, seconds=LIMIT), InvalidConfiguration) < 0.5 + SLACK


def test_a_credential_plugin_that_hangs_when_it_is_run_again_is_ended_when_time_is_over(connected, tmp_path) -> None:
    command = tmp_path / "plug"
    command.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/once ] && sleep 30\ntouch {tmp_path}/once\n"
        + 'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}\'\n'
    )
    command.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(command)}}
    connection = connected(kubeconfig=kubeconfig("http://127.0.0.1:1", user), seconds=LIMIT)
    assert took(connection.refresh, InvalidConfiguration) < 0.5 + SLACK
