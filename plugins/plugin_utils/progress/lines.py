# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a task's lines in the playbook's output while its module runs."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import stat
import threading

from ansible import constants as C
from ansible.utils.display import Display

from ...module_utils.runtime.clock import Clock
from ...module_utils.runtime.progress import one_line
from ...module_utils.text import format_duration

# Seconds between two reads of a file on this machine.
POLL_INTERVAL = 0.05
# A module writes a line each minute. If it cannot, for instance because an API server keeps it waiting, a line is shown
# in its place after this time, in seconds.
MAX_SILENCE = 58.0

# Callbacks whose output is read by people. That of others, such as JSON, may be read by programs as a whole, and is
# left alone: lines go to the standard error output then.
_FOR_PEOPLE = {"default", "minimal", "oneline", "yaml", "debug", "dense", "unixy", "diy", "selective", "timestamp"}


def is_read_by_programs() -> bool:
    """Return whether what goes to the standard output may be read by a program as a whole."""
    return str(C.DEFAULT_STDOUT_CALLBACK).rpartition(".")[2] not in _FOR_PEOPLE


def show_text(text: str) -> None:
    """Print lines that stand for themselves, where those of tasks are printed."""
    stderr = is_read_by_programs()
    if not is_closed(2 if stderr else 1):
        Display().display(text, stderr=stderr)


def is_closed(descriptor: int) -> bool:
    """Return whether ansible-playbook's output cannot be written, as behind C(| head -1), or its terminal is gone.

    To be called in one of its workers. Ansible would wait for ever after a line of theirs that cannot be printed: the
    thread that prints it is the one that takes the results of tasks, and ends then.
    """
    path = f"/proc/{os.getppid()}/fd/{descriptor}"
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISFIFO(mode) and not stat.S_ISCHR(mode):
            return False
        output = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as exc:
        return exc.errno in (errno.ENXIO, errno.EIO)
    try:
        poll = select.poll()
        poll.register(output, 0)
        return bool(poll.poll(0))
    finally:
        os.close(output)


class Lines:
    """Print a module's lines, each after the name of the host.

    pid, tick: the module's process and the tick of its start, 0 if unknown.
    """

    def __init__(self, host: str, clock: Clock) -> None:
        self._host = host
        self._clock = clock
        self._began = self._heard = clock.monotonic()
        self._stderr = is_read_by_programs()
        self._speaks = False
        self.pid = self.tick = 0

    def show_entry(self, line: str | bytes) -> None:
        """Print a line of the module's file; ignore an invalid one."""
        with contextlib.suppress(ValueError, TypeError, AttributeError):
            entry = json.loads(line)
            self.pid = max(0, int(entry.get("pid") or self.pid))
            self.tick = max(0, int(entry.get("tick") or self.tick))
            self._speaks = bool(entry.get("speaks") or self._speaks)
            self.show(str(entry.get("text") or ""))

    def show(self, text: str) -> None:
        """Print a text as one line, without what would move the cursor."""
        self._heard = self._clock.monotonic()
        text = one_line(text)
        # A closed terminal, as in a worker whose playbook was killed, does not fail the task.
        with contextlib.suppress(Exception):
            if text and not is_closed(2 if self._stderr else 1):
                Display().display(f"[{self._host}] {text}", color=C.COLOR_VERBOSE, stderr=self._stderr)

    def check_silence(self) -> None:
        """Print a line if the module has not written one for long."""
        if self._speaks and self._clock.monotonic() - self._heard >= MAX_SILENCE:
            self.show(f"no progress line for a minute, {format_duration(self._clock.monotonic() - self._began)} in all")


class Tail(threading.Thread):
    """Read a file on this machine while it grows."""

    def __init__(self, path: str, lines: Lines) -> None:
        super().__init__(daemon=True)
        self._path = path
        self._lines = lines
        self._ended = threading.Event()

    def run(self) -> None:
        """Print each line soon after it was written, until C(finish) is called."""
        rest = b""
        with contextlib.suppress(OSError), open(self._path, "rb") as file:
            while True:
                last = self._ended.is_set()
                *complete, rest = (rest + file.read()).split(b"\n")
                for line in complete:
                    self._lines.show_entry(line)
                if last:
                    return
                self._lines.check_silence()
                self._ended.wait(POLL_INTERVAL)

    def finish(self) -> None:
        """Print what was written up to now, and end."""
        self._ended.set()
        self.join(5.0)


def remove_file(path: str) -> None:
    """Remove a file that may be gone."""
    with contextlib.suppress(OSError):
        os.unlink(path)
