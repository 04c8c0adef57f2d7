# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the embedded cluster as a process of its own, and talk to it."""

from __future__ import annotations

import fcntl
import json
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from places import ROOT, environment

TOKEN = "admintoken"  # the simulator's default; it guards nothing
SELF = "kubesim caller"  # user agent of our own requests, to tell them from those of a client under test
_END_SECONDS = 5.0


class EmbeddedCluster:
    """A simulated cluster on a free port of 127.0.0.1 that ends with the `with` block.

    folder: where its kubeconfig, `ca.crt` and `kubesim.log` are put; lifetime: real seconds after which it ends by
    itself, should nobody be left to end it.
    """

    def __init__(self, folder: Path, scenario: str = "", lifetime: float = 600.0) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.ca = folder / "ca.crt"
        self.url = ""
        self._command = [
            sys.executable,
            "-m",
            "kubesim",
            "--https",
            "--tls-dir",
            str(folder),
            "--kubeconfig",
            str(self.kubeconfig),
            "--token",
            TOKEN,
            "--lifetime",
            f"{lifetime:g}",
        ]
        self._command += ["--scenario", scenario] if scenario else []
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> EmbeddedCluster:
        """Start it; SystemExit with its own words when it does not come up."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._take_folder()
        self._log = open(self.folder / "kubesim.log", "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=environment(PYTHONPATH=str(ROOT / "tests")),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        first = self._process.stdout.readline() if self._process.stdout else ""
        if not first.startswith("kubesim listening on "):
            self._process.wait(_END_SECONDS)
            said = self._said()
            self.stop()
            raise SystemExit(f"The embedded cluster did not start: {said}")
        self.url = first.split()[-1]
        context = ssl.create_default_context(cafile=str(self.ca))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process. Again: does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
        self._log.close()
        self._lock.close()

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the control interface, e.g. ("POST", "reset"), and return its answer."""
        return self.call(method, f"/kubesim/{path}", body)

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Send a request as administrator and return the answer; urllib.error.URLError when it is none."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": content_type, "User-Agent": SELF}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with self._opener.open(request, timeout=30) as answer:
            return json.load(answer)

    def _take_folder(self) -> None:
        """Wait until no other run uses the folder. The lock ends with this object or with the process."""
        self._lock = open(self.folder / "lock", "w", encoding="ascii")  # noqa: SIM115 - held until the end
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Waiting for another run that uses {self.folder.name} to end", flush=True)
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().strip() or "it said nothing"
