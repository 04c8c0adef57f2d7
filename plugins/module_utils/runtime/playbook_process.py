# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell the run of a playbook from others, and whether one on this very machine has ended.

A run is the process of ansible-playbook that the module descends from. Where that cannot be told (the module runs on
another machine, there is no /proc), a run has no identity and nothing is said about it.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ..objects import parse_int
from .processes import command_of, parent_of, start_of

_PROGRAMS = ("ansible-playbook", "ansible", "ansible-console")
# A number that differs after each start of the machine.
_BOOT = "/proc/sys/kernel/random/boot_id"


class Run(NamedTuple):
    """A process: place (machine, its start, its space of process numbers), number, and when it began in clock ticks."""

    place: str
    pid: int
    began: str

    def text(self) -> str:
        """Return it as one word, for run_from()."""
        return f"{self.place}/{self.pid}/{self.began}"


def this_run() -> Run | None:
    """Return the run that this module belongs to, None if it cannot be told."""
    place = _place()
    pid = os.getppid()
    while place and pid > 1 and not _is_playbook(pid):
        pid = parent_of(pid)
    # A worker looks like the process that it was forked from, and ends with its task.
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
