# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cancel a task on a signal, or when the ansible-playbook that started it has ended.

A signal raises Cancelled in the main thread, wherever it is, so that the task can still report what is pending. The end
of ansible-playbook counts as a signal too, because Ansible leaves its modules running then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn

from ..errors import Cancelled
from .job_folder import asked_in, remove
from .processes import command_of, parent_of, start_of

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Seconds between two checks whether the ancestors are alive.
POLL_INTERVAL = 0.5
# Seconds without a poll after which a job is cancelled. It is polled each second; a network may be down for a while.
MAX_UNPOLLED = 60.0
# Set when the task has its result: from then on nothing is watched. A new one for each task of a process.
_disarmed = threading.Event()


class Ancestor(NamedTuple):
    """A process: its id, and the tick of its start, because ids are used again."""

    pid: int
    started: str


def this_process() -> dict[str, int]:
    """Return C(pid), the id of this process, and C(tick), that of its start, 0 without /proc."""
    mine = _identity(os.getpid())
    return {"pid": os.getpid(), "tick": int(mine.started) if mine else 0}


def arm(folder: str = "") -> None:
    """Turn signals and the end of the playbook into Cancelled, once. To be called in the main thread.

    folder: the job's folder if the task runs as a job on another host. Each poll touches a file in it. A task that is
    not polled any more, or whose folder is gone, is cancelled.
    """
    for number in SIGNALS:
        signal.signal(number, _cancel)
    global _disarmed
    _disarmed = threading.Event()
    ancestors = ancestors_to_watch(os.getppid())
    if folder:
        threading.Thread(target=_watch_job, args=(folder, _disarmed), daemon=True).start()
    elif ancestors:
        threading.Thread(target=_watch, args=(ancestors, _disarmed), daemon=True).start()


def disarm() -> None:
    """Ignore signals while the result is written, and watch nothing any more."""
    _disarmed.set()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _cancel(number: int, _frame: object) -> NoReturn:
    # A second signal must not interrupt the report of what is pending.
    disarm()
    raise Cancelled(f"cancelled by {signal.Signals(number).name}")


def _watch(ancestors: list[Ancestor], disarmed: threading.Event) -> None:
    while not disarmed.wait(POLL_INTERVAL):
        if not all(_identity(ancestor.pid) == ancestor for ancestor in ancestors):
            os.kill(os.getpid(), signal.SIGTERM)
            return


def _watch_job(folder: str, disarmed: threading.Event) -> None:
    """Cancel the task when it is not polled any more."""
    _wait_until_unchanged(partial(_mtime_of, asked_in(folder)), MAX_UNPOLLED, disarmed)
    if disarmed.is_set():
        return
    remove(folder)
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_until_unchanged(read: Callable[[], object], seconds: float, disarmed: threading.Event) -> None:
    """Return when a value has not changed for C(seconds), or is None, or nothing is watched any more."""
    seen, since = read(), 0.0
    while not disarmed.wait(POLL_INTERVAL):
        found = read()
        # Counted and not measured, so that a machine that was suspended gets time to resume polling.
        seen, since = found, 0.0 if found != seen else since + POLL_INTERVAL
        if since >= seconds or found is None:
            return


def _mtime_of(path: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(path).st_mtime_ns
    return None


def ancestors_to_watch(parent: int) -> list[Ancestor]:
    """Return the processes whose end cancels the task: the module's parent, and those up to Ansible's own.

    [] for a task that runs with C(async), which is meant to outlive them, or without /proc.
    """
    chain: list[Ancestor] = []
    wanted, found = 1, False
    pid = parent
    while pid > 1:
        ancestor = _identity(pid)
        if ancestor is None:
            break
        command = command_of(pid)
        if any("async_wrapper" in word for word in command):
            # A wrapper around the whole playbook does not make the task asynchronous.
            return chain[:wanted] if found else []
        chain.append(ancestor)
        if any(os.path.basename(word).startswith("ansible") for word in command[:2]):
            wanted, found = len(chain), True
        pid = parent_of(pid)
    return chain[:wanted]


def _identity(pid: int) -> Ancestor | None:
    started = start_of(pid)
    return Ancestor(pid, started) if started else None
