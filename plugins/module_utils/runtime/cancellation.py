# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""End a task that nobody waits for any more.

A signal raises Cancelled in the main thread, wherever it is, so that the task can still say what is pending. The death
of the ansible-playbook that started the module counts as a signal too: Ansible leaves its modules running then.
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
# How soon the death of an ancestor is noticed, in seconds.
LOOK_EVERY = 0.5
# A job that is asked for each second counts as forgotten after so many. A network may be away for a while.
FORGOTTEN = 60.0


class Ancestor(NamedTuple):
    """A process: its id, and the tick of its start, because ids are used again."""

    pid: int
    started: str


def this_process() -> dict[str, int]:
    """Return C(pid), the id of this process, and C(tick), that of its start, 0 where /proc does not tell."""
    mine = _identity(os.getpid())
    return {"pid": os.getpid(), "tick": int(mine.started) if mine else 0}


def arm(folder: str = "") -> None:
    """Turn signals and the death of the playbook into Cancelled, once. To be called in the main thread.

    folder: where the task is a job of its own, far from the playbook, its folder, in which a file is touched each time
    somebody asks how the task gets on. It is removed when that has not happened for long; that it is gone is a signal.
    """
    for number in SIGNALS:
        signal.signal(number, _cancel)
    ancestors = ancestors_to_watch(os.getppid())
    if folder:
        threading.Thread(target=_watch_job, args=(folder,), daemon=True).start()
    elif ancestors:
        threading.Thread(target=_watch, args=(ancestors,), daemon=True).start()


def disarm() -> None:
    """Let no signal interrupt what is still to be told."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _cancel(number: int, _frame: object) -> NoReturn:
    # Whoever signals twice must not interrupt the report of what is pending.
    disarm()
    raise Cancelled(f"cancelled by {signal.Signals(number).name}")


def _watch(ancestors: list[Ancestor]) -> None:
    never = threading.Event()
    while not never.wait(LOOK_EVERY):
        if not all(_identity(ancestor.pid) == ancestor for ancestor in ancestors):
            os.kill(os.getpid(), signal.SIGTERM)
            return


def _watch_job(folder: str) -> None:
    """End the task when nobody asks for its lines any more."""
    _wait_for_silence(partial(_touched, asked_in(folder)), FORGOTTEN)
    remove(folder)
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_silence(sign: Callable[[], object], longest: float) -> None:
    """Return when a sign of life has stayed the same for that many seconds, or is None."""
    never = threading.Event()
    seen, since = sign(), 0.0
    while not never.wait(LOOK_EVERY):
        found = sign()
        # Counted and not measured, so that a machine that was asleep is given time to wake up.
        seen, since = found, 0.0 if found != seen else since + LOOK_EVERY
        if since >= longest or found is None:
            return


def _touched(path: str) -> int | None:
    with contextlib.suppress(OSError):
        return os.stat(path).st_mtime_ns
    return None


def ancestors_to_watch(parent: int) -> list[Ancestor]:
    """Return the processes whose end means that nobody waits for the module: its parent, and those up to Ansible's own.

    [] for a task that runs with C(async), which is meant to outlive them, or where /proc does not tell.
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
            # A wrapper around the whole playbook is another matter.
            return chain[:wanted] if found else []
        chain.append(ancestor)
        if any(os.path.basename(word).startswith("ansible") for word in command[:2]):
            wanted, found = len(chain), True
        pid = parent_of(pid)
    return chain[:wanted]


def _identity(pid: int) -> Ancestor | None:
    started = start_of(pid)
    return Ancestor(pid, started) if started else None
