# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module of the collection in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType

from golden.cases import Obj
from places import LINKED, ROOT, environment

LAUNCH = Path(__file__).with_name("launch.py")


class ModuleCrashed(Exception):
    """The module did not end with a result as modules do."""


def module_exists(name: str) -> bool:
    """Return whether the collection has that module."""
    return (ROOT / "plugins" / "modules" / f"{name}.py").is_file()


class ModuleRun:
    """One run of a module. As a context it is ready to begin: its process runs and has everything imported."""

    # Importing keeps a processor busy for half a second; more of it at once would slow down the runs that have begun.
    _imports = threading.BoundedSemaphore(os.cpu_count() or 1)

    def __init__(self, module: str) -> None:
        self._module = module
        self._printed = b""
        self._spoken = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._open = contextlib.ExitStack()

    def __enter__(self) -> ModuleRun:
        with self._open, self._imports:
            self._errors = self._open.enter_context(tempfile.TemporaryFile())
            self._process = self._open.enter_context(
                subprocess.Popen(
                    [sys.executable, str(LAUNCH), self._module],
                    env=environment(PYTHONPATH=str(LINKED)),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                )
            )
            self._open.callback(self._process.kill)
            if self._process.stdout is None or self._process.stdout.readline() != b"ready\n":
                raise ModuleCrashed(f"the module cannot be imported: {self._last_words()}")
            self._open = self._open.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def begin(self, args: Obj) -> None:
        """Start the work."""
        if self._process.stdin:
            # A module that died meanwhile is told about by its result.
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(args).encode() + b"\n")
                self._process.stdin.flush()
        self._reader.start()

    def has_spoken(self, wait: float) -> bool:
        """Wait for the result or the end, but no longer than this number of seconds; return whether it came."""
        return self._spoken.wait(wait)

    def has_ended(self, wait: float) -> bool:
        """Wait for the end, but no longer than this number of seconds; return whether it came."""
        self._reader.join(wait)
        return not self._reader.is_alive()

    def result(self) -> Obj:
        """Return the result of a run that has spoken."""
        try:
            result = json.loads(self._printed)
        except ValueError:
            raise ModuleCrashed(f"the module ended without a result: {self._last_words()}") from None
        if not isinstance(result, dict):
            raise ModuleCrashed(f"the module's result is not a dictionary: {result!r}")
        return result

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._printed += line
            if line.strip():
                self._spoken.set()
        self._spoken.set()

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        said = (self._printed + self._errors.read()).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
