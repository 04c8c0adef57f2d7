# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster behind HTTP: one asyncio loop that serves requests and drives the agenda."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import ssl
import struct
import sys
import traceback
from typing import TextIO
from urllib.parse import parse_qsl

from aiohttp import web

from .. import errors
from ..api.messages import Request, Response, refusal
from ..clock import Clock
from ..cluster import Cluster
from . import control
from .control import Control

_LARGEST_BODY = 64 * 2**20
_GZIP_FROM = 128 * 1024  # the API server compresses answers from this size on for clients that accept it
_KEEPALIVE_SECONDS = 600.0
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: closing sends RST


class Server:
    """Serve a cluster on one port until stopped."""

    def __init__(self, cluster: Cluster, clock: Clock, *, prefix: str = "", log: TextIO | None = None) -> None:
        self.cluster = cluster
        self.clock = clock
        self.control = Control(cluster, clock)
        self.control.on_outage = self._plan_outage
        self.port = 0
        self.prefix = prefix.rstrip("/")
        self._log = log
        self._tls: ssl.SSLContext | None = None
        self._host = "127.0.0.1"
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, keepalive_timeout=_KEEPALIVE_SECONDS, shutdown_timeout=0.1
        )
        self._site: web.TCPSite | None = None
        self._holder: socket.socket | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Listen; port 0 takes a free one, `self.port` is the one taken. OSError when the port is taken."""
        self._host, self._tls = host, tls
        await self._runner.setup()
        # Bound as long as the server lives and never listening: during an outage the port refuses connections, and
        # nobody else can get it, not even a client that connects from a port that the system picks for it.
        self._holder = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._holder.bind((host, port))
        self.port = self._holder.getsockname()[1]
        await self._listen()
        self.cluster.agenda.on_change = self._wake.set
        self._tasks.append(asyncio.create_task(self._drive()))

    async def stop(self) -> None:
        """Close every connection and stop listening."""
        for task in self._tasks:
            task.cancel()
        self.cluster.history.close_streams()
        await self._runner.cleanup()
        if self._holder is not None:
            self._holder.close()

    async def _listen(self) -> None:
        self._site = web.TCPSite(self._runner, self._host, self.port, ssl_context=self._tls, reuse_address=True)
        await self._site.start()

    async def _drive(self) -> None:
        agenda = self.cluster.agenda
        while True:
            self._wake.clear()
            self._catch_up()
            due = agenda.next_due()
            wait = None if due is None else self.clock.real_seconds(due - self.clock.now())
            try:
                await asyncio.wait_for(self._wake.wait(), wait)
            except asyncio.TimeoutError:
                pass

    def _catch_up(self) -> None:
        try:
            self.clock.catch_up()
        except Exception:  # a controller that fails must not take the server with it
            traceback.print_exc(file=sys.stderr)

    def _plan_outage(self, seconds: float) -> None:
        self._tasks.append(asyncio.create_task(self._outage(seconds)))

    async def _outage(self, seconds: float) -> None:
        await asyncio.sleep(0.02)  # lets the response to the request for the outage leave first
        if self._site is not None:
            await self._site.stop()
        for connection in list(self._runner.server.connections if self._runner.server else ()):
            if connection.transport is not None:
                _cut(connection.transport)
        await asyncio.sleep(seconds)
        await self._listen()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        request = await self._request(http)
        self._catch_up()
        if request.path.startswith(control.PREFIX):
            return _plain(self.control.answer(request), http)
        if self.prefix:
            if not request.path.startswith(self.prefix + "/"):
                return web.Response(status=404, text="404 page not found\n")
            request.path = request.path[len(self.prefix) :]
        try:
            response = self.cluster.answer(request)
        except Exception as problem:
            traceback.print_exc(file=sys.stderr)
            response = refusal(errors.ApiStatus(500, "InternalError", f"Internal error occurred: {problem!r}", {}))
        if self._log is not None:
            print(
                f"{self.cluster.agenda.now:.3f} {response.status or response.reset} {request.method} {request.target}",
                file=self._log,
                flush=True,
            )
        return await self._send(response, http)

    @staticmethod
    async def _request(http: web.Request) -> Request:
        path, _mark, query = http.raw_path.partition("?")
        headers: dict[str, str] = {}
        for name, value in http.headers.items():
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        certificate = http.transport.get_extra_info("peercert") if http.transport else None
        subject = {key: value for row in (certificate or {}).get("subject", ()) for key, value in row}
        body = await http.read() if http.can_read_body else b""
        named = dict(parse_qsl(query, keep_blank_values=True))
        return Request(http.method, path, named, headers, body, subject.get("commonName"))

    async def _send(self, response: Response, http: web.Request) -> web.StreamResponse:
        if response.delay:
            await asyncio.sleep(self.clock.real_seconds(response.delay))
        if response.reset:
            if http.transport is not None:
                _cut(http.transport)
            return web.Response()
        if response.stream is not None:
            return await self._stream(response, http)
        return _plain(response, http)

    async def _stream(self, response: Response, http: web.Request) -> web.StreamResponse:
        stream = response.stream
        assert stream is not None
        ready = asyncio.Event()
        stream.on_ready = ready.set
        reply = web.StreamResponse(status=response.status, headers=response.headers)
        reply.enable_chunked_encoding()
        try:
            await reply.prepare(http)
            while True:
                ready.clear()
                lines = stream.poll()
                if lines:
                    await reply.write(b"".join(lines))
                elif stream.closed:
                    break
                else:
                    await ready.wait()
            await reply.write_eof()
        except ConnectionError:
            pass  # the client has gone
        finally:
            stream.close()
        return reply


def _plain(response: Response, http: web.Request) -> web.Response:
    body, headers = response.body, dict(response.headers)
    if len(body) >= _GZIP_FROM and "gzip" in http.headers.get("Accept-Encoding", ""):
        body = gzip.compress(body, 1)
        headers.update({"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    return web.Response(status=response.status, body=body, headers=headers)


def _cut(transport: asyncio.BaseTransport) -> None:
    """Break a connection as a crashed peer does: with a reset."""
    taken = transport.get_extra_info("socket")
    if taken is not None:
        with contextlib.suppress(OSError):  # the client was quicker, and the socket is closed
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()
    else:
        transport.close()
