# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a program and take its time and its memory."""

from __future__ import annotations

import resource
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple

_LOOK_SECONDS = 0.03
_PROC = Path("/proc")


class Run(NamedTuple):
    """One run of a program.

    seconds: wall time; ended: when it was over, as time.time() tells it; cpu: seconds of processors, of all its
    processes; peak: the most memory that one of its processes held at once (VmHWM), in MiB, None where /proc does not
    tell; output: standard output and error.
    """

    status: int
    seconds: float
    ended: float
    cpu: float
    peak: float | None
    output: str


def run(command: list[str], env: dict[str, str], only: str = "", timeout: float = 200.0) -> Run:
    """Run a command to its end. `only`: take the memory of those of its processes whose command line holds this text.

    A program that takes longer than `timeout` seconds is killed, which shows as a negative status.
    """
    started, cpu = time.monotonic(), _cpu_of_children()
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    watcher = _Memory(process.pid, only)
    watcher.start()
    try:
        output, _nothing = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _nothing = process.communicate()
    seconds, ended = time.monotonic() - started, time.time()
    watcher.finish()
    return Run(process.returncode, seconds, ended, _cpu_of_children() - cpu, watcher.peak, output)


def _cpu_of_children() -> float:
    """Return what all children used that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Memory(threading.Thread):
    """Look at a process and its descendants again and again."""

    def __init__(self, pid: int, only: str) -> None:
        super().__init__(daemon=True)
        self.peak: float | None = None
        self._pid = pid
        self._only = only
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            # Anew each time: a shell that holds the same command line comes before the process that it starts.
            for pid in _descendants(self._pid):
                if self._only in _command_line(pid):
                    self._look(pid)
            self._over.wait(_LOOK_SECONDS)

    def finish(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()

    def _look(self, pid: int) -> None:
        for line in _read(pid, "status").splitlines():
            if line.startswith("VmHWM:"):
                self.peak = max(self.peak or 0.0, int(line.split()[1]) / 1024)


def _descendants(pid: int) -> set[int]:
    parents = {}
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            fields = _read(int(entry.name), "stat").rpartition(")")[2].split()
            if len(fields) > 1:
                parents[int(entry.name)] = int(fields[1])
    found, seeds = {pid}, {pid}
    while seeds:
        seeds = {child for child, parent in parents.items() if parent in seeds} - found
        found |= seeds
    return found


def _command_line(pid: int) -> str:
    return _read(pid, "cmdline").replace("\0", " ")


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # it has ended, or this system has no /proc
