# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run requests and watches beside the main thread, which alone decides.

Threads only talk to the API server and post what they received; they share no other state. The main thread handles the
messages one after the other, so a task is a loop without locks. Unit tests replace C(Workers) by one without threads
that their fake clock drives.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import MaintenanceError

# Identifies a piece of work: its kind and its subject.
Tag = tuple[Any, ...]
Value = TypeVar("Value")
NO_THREADS = (
    "no more threads can be started on this host: raise the limit of processes of the task's user or container,"
    " or do less at once"
)


class Pause(NamedTuple):
    """Yielded by a followed iterator to be continued only after C(seconds)."""

    seconds: float


class Message(NamedTuple):
    """The outcome of a job, or an item of a followed iterator.

    tag: what the work was started with; value: its result; error: why there is none; ended: true when nothing
    more comes under this tag.
    """

    tag: Tag
    value: Any
    error: MaintenanceError | None = None
    ended: bool = False


class Workers(Protocol):
    """Run requests beside the main thread."""

    def start(self, tag: Tag, job: Callable[[], Any]) -> None:
        """Run a job; its value or its error arrives as one message."""

    def follow(self, tag: Tag, items: Iterator[Any]) -> None:
        """Post each item of an endless iterator as it comes."""

    def drop(self, tag: Tag) -> None:
        """Stop following what was started with this tag."""

    def receive(self, seconds: float) -> list[Message]:
        """Wait up to C(seconds) for a message; return all that have arrived."""


def within(seconds: float, job: Callable[[], Value]) -> Value:
    """Run a job and return its value or raise its error; raise TimeoutError if it takes more than C(seconds).

    For jobs without a limit of their own, or with one for each step only. After a timeout, the job keeps running as a
    daemon thread; its result is discarded.
    """
    outcome: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((True, job()))
        except BaseException as exc:  # pylint: disable=broad-except
            outcome.put((False, exc))

    if not _start_thread(run):
        # Without a thread there is no timeout, but a result.
        return job()
    try:
        good, value = outcome.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if not good:
        raise value
    return value  # type: ignore[no-any-return]


class ThreadWorkers:
    """Run jobs in threads of their own that die with the process."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[Message | BaseException] = queue.SimpleQueue()
        self._dropped: set[Tag] = set()

    def start(self, tag: Tag, job: Callable[[], Any]) -> None:
        """Run a job; its value or its error arrives as one message. The caller limits how many run at once."""
        if not self._thread(lambda: self._inbox.put(_outcome(tag, job))):
            # Without a thread, run it here: slower, with the same result.
            self._inbox.put(_outcome(tag, job))

    def follow(self, tag: Tag, items: Iterator[Any]) -> None:
        """Post each item of an endless iterator as it comes; None is passed over, a Pause is kept."""
        if not self._thread(lambda: self._pump(tag, items)):
            self._inbox.put(Message(tag, None, MaintenanceError(NO_THREADS), ended=True))

    def drop(self, tag: Tag) -> None:
        """Stop following what was started with this tag; it ends with its next item."""
        self._dropped.add(tag)

    def receive(self, seconds: float) -> list[Message]:
        """Wait up to C(seconds) for a message; return all that have arrived."""
        messages: list[Message] = []
        wait = min(max(seconds, 0.0), 3600.0)
        while True:
            try:
                found = self._inbox.get(timeout=wait) if not messages else self._inbox.get_nowait()
            except queue.Empty:
                return messages
            if isinstance(found, BaseException):
                raise found
            messages.append(found)

    def _thread(self, run: Callable[[], None]) -> bool:
        """Run it in a thread; return whether one could be started."""

        def guarded() -> None:
            # A bug in a thread must end the task, not leave the main thread waiting for a message.
            try:
                run()
            except BaseException as exc:  # pylint: disable=broad-except
                self._inbox.put(exc)

        return _start_thread(guarded)

    def _pump(self, tag: Tag, items: Iterator[Any]) -> None:
        try:
            for item in items:
                if tag in self._dropped:
                    return
                if isinstance(item, Pause):
                    threading.Event().wait(item.seconds)
                elif item is not None:
                    self._inbox.put(Message(tag, item))
        except MaintenanceError as exc:
            self._inbox.put(Message(tag, None, exc, ended=True))
            return
        self._inbox.put(Message(tag, None, ended=True))


def _start_thread(run: Callable[[], None]) -> bool:
    """Start a daemon thread; return whether the host's limits allow one more."""
    try:
        threading.Thread(target=run, daemon=True).start()
    except RuntimeError:
        return False
    return True


def _outcome(tag: Tag, job: Callable[[], Any]) -> Message:
    try:
        return Message(tag, job(), ended=True)
    except MaintenanceError as exc:
        return Message(tag, None, exc, ended=True)
