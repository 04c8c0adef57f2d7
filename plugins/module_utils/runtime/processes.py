# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read from /proc what it tells of processes; where there is none, nothing is known of any."""

from __future__ import annotations

import contextlib


def start_of(pid: int) -> str:
    """Return the tick at which a process was started, "" if there is none of that id: ids are used again."""
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
