# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read from /proc which processes there are, and which run of a playbook this module belongs to.

A run is the process of ansible-playbook that the module descends from. Where that is unknown (the module runs on
another machine, or there is no /proc), a run has no identity.
"""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from ..objects import parse_int

_PROGRAMS = ("ansible-playbook", "ansible", "ansible-console")
# Differs after each boot.
_BOOT = "/proc/sys/kernel/random/boot_id"


class Run(NamedTuple):
    """A run of Ansible: place (machine, boot, PID namespace), process id, and the tick of its start."""

    place: str
    pid: int
    began: str

    def text(self) -> str:
        """Return it as one word, which run_from() reads."""
        return f"{self.place}/{self.pid}/{self.began}"


def this_run() -> Run | None:
    """Return the run that this module belongs to, None if that is unknown."""
    place = _place()
    pid = os.getppid()
    while place and pid > 1 and not _is_playbook(pid):
        pid = parent_of(pid)
    # A worker has the command of the process that it was forked from, and ends with its task.
    while place and pid > 1 and _is_playbook(parent_of(pid)):
        pid = parent_of(pid)
    began = start_of(pid) if place and pid > 1 else ""
    return Run(place, pid, began) if began else None


def run_from(text: str) -> Run | None:
    """Return the run that a text of Run.text() names, None for any other text."""
    place, _slash, rest = text.partition("/")
    pid, _slash, began = rest.partition("/")
    number = parse_int(pid)
    return Run(place, number, began) if place and number is not None and began else None


def has_ended(run: Run) -> bool:
    """Return whether the run is certainly over, which can be known only on its own machine."""
    return run.place == _place() and start_of(run.pid) != run.began


def _place() -> str:
    try:
        with open(_BOOT, encoding="ascii") as file:
            return f"{file.read().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _is_playbook(pid: int) -> bool:
    return any(os.path.basename(word) in _PROGRAMS for word in command_of(pid)[:2])


def start_of(pid: int) -> str:
    """Return the tick at which a process was started, "" if it is gone: ids are reused."""
    fields = _stat(pid)
    # A zombie has ended; only its parent has not noticed yet.
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else ""


def parent_of(pid: int) -> int:
    """Return the id of the process that started one, 0 if that is unknown."""
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def command_of(pid: int) -> list[str]:
    """Return the words of the command that a process runs, [] if they are unknown."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")
    return []


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat after the command's name, [] if the process is gone."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    return []
