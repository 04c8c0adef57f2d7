# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated cluster in a process of its own, one case at a time."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from golden.cases import Obj
from places import ROOT, environment

ADMIN = "golden-admin"
LIMITED = "golden-limited"
# Seconds after which it ends by itself, should nobody end it.
LIFETIME = 1800


class SimulatorFailed(Exception):
    """Say what the simulator answered, or that it did not."""


class Simulator:
    """`python -m kubesim` on a free port; to be used as a context. Without controllers nothing happens by itself."""

    def __init__(self, controllers: bool = True) -> None:
        arguments = ["--token", ADMIN, "--lifetime", str(LIFETIME), *([] if controllers else ["--no-controllers"])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kubesim", *arguments],
            env=environment(PYTHONPATH=str(ROOT / "tests")),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        said = self._process.stdout.readline() if self._process.stdout else ""
        self.url = said.split()[-1] if said.startswith("kubesim listening on ") else ""
        if not self.url:
            self.__exit__(None, None, None)
            raise SimulatorFailed(f"the simulator did not start: {said.strip() or 'it said nothing'}")

    def __enter__(self) -> Simulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def begin(self) -> None:
        """Forget everything of the last case."""
        self._control("reset", {})

    def load(self, objects: list[Obj]) -> None:
        """Let the cluster hold these objects; its controllers and kubelets start on them at once."""
        self._control("load", {"objects": objects})

    def token_for(self, rights: list[Obj] | None) -> str:
        """Return the token of an account with these rights; None stands for all."""
        if rights is None:
            return ADMIN
        self._control("access", {"tokens": {LIMITED: {"user": "limited-user", "groups": [], "rules": rights}}})
        return LIMITED

    def perform(self, request: Obj) -> None:
        """Carry out {method, path, body, content_type} as administrator."""
        status, answer = self._exchange(
            request["method"], request["path"], request.get("body"), request.get("content_type") or "application/json"
        )
        if status >= 400:
            raise SimulatorFailed(f"{request['method']} {request['path']} was answered with {status}: {answer!r}")

    def items(self, path: str) -> list[Obj]:
        """Return all items of a collection."""
        status, answer = self._exchange("GET", path)
        if status != 200:
            raise SimulatorFailed(f"GET {path} was answered with {status}: {answer!r}")
        return list(json.loads(answer)["items"])

    def _control(self, what: str, body: Any) -> None:
        status, answer = self._exchange("POST", f"/kubesim/{what}", body)
        if status != 200:
            raise SimulatorFailed(f"{what} was answered with {status}: {answer!r}")

    def _exchange(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {ADMIN}", "Content-Type": content_type}
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as exc:
            raise SimulatorFailed(f"{method} {path} got no answer: {exc}") from exc
        finally:
            connection.close()
