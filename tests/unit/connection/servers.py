# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTPS server that writes down who asked it for what, and proxies that lead to it."""

from __future__ import annotations

import json
import socket
import ssl
import tempfile
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from connection.certificates import Pair


@dataclass(frozen=True)
class Asked:
    """A request as it arrived. `headers` keeps repeated ones; their names are in lower case."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    client: str
    server_name: str
    body: str

    def header(self, name: str) -> str:
        """Return a header's value, "" when it was not sent."""
        return ", ".join(value for key, value in self.headers if key == name)

    def all(self, name: str) -> list[str]:
        """Return the values of a header that was sent several times."""
        return [value for key, value in self.headers if key == name]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Otherwise closing would wait for clients that keep their connections.
    block_on_close = False
    # Forty clients at once would otherwise wait a second for another try.
    request_queue_size = 128

    def __enter__(self) -> Any:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up; tests look at what the client saw."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class ApiServer(_Server):
    """Answers 200 to everything, 401 to tokens in `refused`, and what `answers` holds for a path."""

    def __init__(self, pair: Pair | None, client_ca: bytes = b"", host: str = "127.0.0.1") -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), _Api)
        self.asked: list[Asked] = []
        self.refused: set[str] = set()
        self.answers: dict[str, tuple[int, Any]] = {}
        self.tls: ssl.SSLContext | None = None
        if pair is not None:
            self.tls = _context(pair)
            if client_ca:
                self.tls.load_verify_locations(cadata=client_ca.decode())
                self.tls.verify_mode = ssl.CERT_OPTIONAL
            self.tls.sni_callback = lambda connection, name, context: setattr(connection, "name_asked_for", name or "")

    @property
    def url(self) -> str:
        """Return the address as a client writes it."""
        host = self.server_address[0]
        return "{}://{}:{}".format("https" if self.tls else "http", f"[{host}]" if ":" in host else host, self.port)


def _context(pair: Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        context.load_cert_chain(*pair.write(Path(folder), "server"))
    return context


class _Secure(BaseHTTPRequestHandler):
    """Speaks TLS if its server does. The handshake is not made by the accepting thread, which it would block."""

    protocol_version = "HTTP/1.1"
    # Otherwise an answer waits 40 ms for the client to acknowledge the end of the TLS handshake.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Begin TLS."""
        context = self.server.tls  # type: ignore[attr-defined]
        if context is not None:
            self.request = context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        """End TLS; the server closes only what it accepted."""
        super().finish()
        self.request.close()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


class _Api(_Secure):
    server: ApiServer

    def answer(self) -> None:
        """Write the request down and answer it."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode()
        subject = dict(pair[0] for pair in (self._certificate().get("subject") or ()))
        headers = [(key.lower(), value) for key, value in self.headers.items()]
        name = getattr(self.connection, "name_asked_for", "")
        self.server.asked.append(Asked(self.command, self.path, headers, subject.get("commonName", ""), name, body))
        refused = self.headers.get("Authorization", "").removeprefix("Bearer ") in self.server.refused
        status, document = self.server.answers.get(self.path, (401 if refused else 200, {}))
        answer = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PATCH = answer

    def _certificate(self) -> dict[str, Any]:
        return (self.connection.getpeercert() or {}) if isinstance(self.connection, ssl.SSLSocket) else {}


class Proxy(_Server):
    """A proxy that takes every host name for this machine. `tunnels` holds the targets of its CONNECT requests.

    `refuses` is the status that it turns them down with, if it does.
    """

    def __init__(self, pair: Pair | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.tls = _context(pair) if pair else None
        self.tunnels: list[str] = []
        self.refuses = 0
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        """Return the address as a client writes it."""
        return "{}://127.0.0.1:{}".format("https" if self.tls else "http", self.port)


class _Tunnel(_Secure):
    server: Proxy

    def do_CONNECT(self) -> None:
        """Join the client with the server of that port here."""
        self._write_down(self.path)
        if self.server.refuses:
            self.send_error(self.server.refuses)
            return
        with socket.create_connection(("127.0.0.1", int(self.path.rsplit(":", 1)[1]))) as onward:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_pump, args=(onward, self.connection), daemon=True)
            back.start()
            _pump(self.connection, onward)
            back.join(2)
        self.close_connection = True

    def do_GET(self) -> None:
        """Answer a request for an http:// address in the place of its server."""
        self._write_down(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _write_down(self, target: str) -> None:
        self.server.tunnels.append(target)
        self.server.headers.append({key.lower(): value for key, value in self.headers.items()})


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(65536):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
