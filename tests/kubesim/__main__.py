# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the simulated cluster: `python -m kubesim`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import ssl
import sys
import tempfile
from pathlib import Path
from typing import Any

from .agenda import Agenda
from .api.access import ADMIN, ADMIN_TOKEN, MASTERS, Access
from .clock import Clock
from .cluster import DEFAULT_WINDOW, Cluster
from .server.kubeconfig import kubeconfig
from .server.server import Server
from .server.tls import Authority, write


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kubesim", description=__doc__)
    add = parser.add_argument
    add("--host", default="127.0.0.1", choices=["127.0.0.1", "::1", "localhost"], help="loopback address to listen on")
    add("--port", type=int, default=0, help="0 takes a free port")
    add("--https", action="store_true", help="serve TLS with a CA made at start")
    add("--tls-dir", type=Path, help="leave ca.crt and an administrator's client.crt and client.key here")
    add("--prefix", default="", help="serve the API below this path, as proxies do")
    add("--state", type=Path, help="JSON file with objects to load: a list, or an object with `objects` or `before`")
    add("--scenario", help="name of a built-in state, e.g. demo")
    add("--speed", type=float, default=1.0, help="simulated seconds per real second")
    add("--kubeconfig", type=Path, help="write a kubeconfig for this server here")
    add("--lifetime", type=float, default=600.0, help="end by itself after that time, in real seconds")
    add("--no-controllers", action="store_true", help="only the API: no controllers, no kubelets")
    add(
        "--no-anonymous-admin",
        action="store_true",
        help="over HTTP, too, let requests without credentials do nothing (kubectl sends its token over HTTPS only)",
    )
    add("--token", default=ADMIN_TOKEN, help="bearer token of the administrator")
    add("--watch-window", type=int, default=DEFAULT_WINDOW, help="events that watches can begin in the past of")
    add("--streaming-lists", action="store_true", help="serve watches with sendInitialEvents")
    add("--log", type=Path, help="write one line per request here")
    return parser.parse_args(argv)


def _objects(options: argparse.Namespace, now: float) -> list[dict[str, Any]]:
    if options.state:
        content = json.loads(options.state.read_text(encoding="utf-8"))
        objects: list[dict[str, Any]] = (
            content if isinstance(content, list) else content.get("objects") or content["before"]
        )
        return objects
    if options.scenario:
        from .scenarios import scenario

        return scenario(options.scenario, now)
    return []


def _cluster(options: argparse.Namespace) -> Cluster:
    admin = {"user": ADMIN.name, "groups": [MASTERS], "rules": "*"}
    access = Access({options.token: admin})
    access.grant({"certificates": {ADMIN.name: admin}})
    if not options.https and not options.no_anonymous_admin:
        access.anonymous = ADMIN  # kubectl sends no token over plain HTTP
    cluster = Cluster(
        Agenda(),
        controllers=not options.no_controllers,
        access=access,
        watch_window=options.watch_window,
        streaming_lists=options.streaming_lists,
    )
    cluster.load(_objects(options, cluster.agenda.now))
    return cluster


def _tls(options: argparse.Namespace, folder: Path) -> tuple[ssl.SSLContext | None, bytes]:
    if not options.https:
        return None, b""
    authority = Authority()
    if options.tls_dir:
        options.tls_dir.mkdir(parents=True, exist_ok=True)
        pair = authority.client(ADMIN.name, MASTERS)
        write(options.tls_dir / "ca.crt", authority.pem)
        write(options.tls_dir / "client.crt", pair.certificate)
        write(options.tls_dir / "client.key", pair.key)
    return authority.context(folder), authority.pem


async def _serve(options: argparse.Namespace, folder: Path, stack: contextlib.ExitStack) -> None:
    log = stack.enter_context(options.log.open("a", encoding="utf-8")) if options.log else None
    cluster = _cluster(options)
    server = Server(cluster, Clock(cluster.agenda, options.speed), prefix=options.prefix, log=log)
    context, ca = _tls(options, folder)
    await server.start(options.host, options.port, context)
    shown = f"[{options.host}]" if ":" in options.host else options.host
    url = f"{'https' if context else 'http'}://{shown}:{server.port}{server.prefix}"
    if options.kubeconfig:
        write(options.kubeconfig, kubeconfig(url, options.token, ca).encode())
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    print(f"kubesim listening on {url}", flush=True)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(ended.wait(), options.lifetime)
    await server.stop()


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or the end of the lifetime; 2 when it cannot start."""
    options = _arguments(argv)
    with tempfile.TemporaryDirectory(prefix="kubesim-") as folder, contextlib.ExitStack() as stack:
        try:
            asyncio.run(_serve(options, Path(folder), stack))
        except (OSError, KeyError, ValueError) as problem:
            print(f"kubesim cannot start: {problem}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
