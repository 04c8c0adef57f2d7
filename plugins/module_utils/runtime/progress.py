# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report progress, as lines shown while the task runs.

A task does not send events; it offers a Source that knows the current state, and calls C(step) whenever something may
have changed. A line reports the difference to the last one, so that however much happens between two lines, one line
covers it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from .clock import Clock

# The environment variables by which action plugins and modules find each other; options would show in results.
# The level of progress, unless the option C(progress) is set.
WANTED = "K8S_MAINTENANCE_PROGRESS"
# The file for the lines.
LINES = "K8S_MAINTENANCE_PROGRESS_LINES"

# The levels of progress.
CHANGES = "changes"
SUMMARY = "summary"
OFF = "off"

# Seconds from one line to the next. With the last line, which must not delay the end of the task for long, there are at
# most two a second.
LINE_INTERVAL = 0.85
# Changes within this time, in seconds, share one line.
GATHER = 0.2
# Tolerance for timers that fire early, in seconds.
SLACK = 0.001
# There are at most two lines in a span of this length, in seconds.
SPAN = 1.0
# Seconds from one summary to the next: at least one a minute.
SUMMARY_EVERY = 50.0
MAX_LINE = 1000

NEVER = float("inf")


class Source(Protocol):
    """The state of a task, for progress lines."""

    def changes(self, detail: bool) -> str:
        """Return what is new and has not been returned before, "" if nothing is.

        C(detail): with what only C(-v) shows.
        """

    def summary(self) -> str:
        """Return the current state, "" if there is nothing to wait for."""


def one_line(text: str) -> str:
    """Return a text as one line that is not too long, and has printable characters only."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "..."


class LineFile:
    """A file that the action plugin created and reads while it grows.

    Each line is one JSON object in ASCII, written at once. An error does not fail the task.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    def append(self, entry: dict[str, Any]) -> bool:
        """Write an entry; return whether that succeeded."""
        line = json.dumps(entry).encode("ascii") + b"\n"
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            return os.write(self._file, line) == len(line)
        except OSError:
            return False


class Progress:
    """The lines of one task.

    write: writes an entry and returns whether that succeeded; clean: removes secrets from a text; detail: see Source.
    """

    def __init__(
        self,
        clock: Clock,
        write: Callable[[dict[str, Any]], bool],
        level: str = CHANGES,
        detail: bool = False,
        clean: Callable[[str], str] = str,
    ) -> None:
        self._clock = clock
        self._write = write
        self._level = level
        self._detail = detail
        self._clean = clean
        self._source: Source | None = None
        self._written_at: list[float] = []
        self._summary_at = NEVER
        # Since when something may have changed that no line has reported.
        self._changed_at = NEVER

    def follow(self, source: Source) -> None:
        """Report on this source from now on."""
        if self._level == OFF:
            return
        self._source = source
        self._summary_at = self._clock.monotonic() + SUMMARY_EVERY

    def step(self) -> None:
        """Report changes, or after a while the current state; wait if the changes or the last line are very recent."""
        if self._source is None:
            return
        now = self._clock.monotonic()
        self._changed_at = min(self._changed_at, now)
        if now + SLACK < min(self._line_at(), self._summary_at):
            return
        self._changed_at = NEVER
        changes = self._source.changes(self._detail) if self._level == CHANGES else ""
        if now + SLACK < self._summary_at:
            self.tell(changes, CHANGES)
            return
        self._summary_at = now + SUMMARY_EVERY
        self.tell(" ".join(text for text in (changes, self._source.summary()) if text), SUMMARY)

    def due(self) -> float:
        """Return in how many seconds C(step) is to be called if nothing happens until then."""
        if self._source is None:
            return NEVER
        return max(0.0, min(self._line_at(), self._summary_at) - self._clock.monotonic())

    def close(self) -> None:
        """Report the last changes: the task ends now."""
        if self._source is None:
            return
        # A source may report some changes in one call and others in the next.
        text = ". ".join(iter(partial(self._source.changes, self._detail), ""))
        self._source = None
        if text and len(self._written_at) > 1:
            self._clock.sleep(max(0.0, self._written_at[0] + SPAN - self._clock.monotonic()))
        self.tell(text, CHANGES)

    def tell(self, text: str, kind: str = CHANGES, **facts: Any) -> None:
        """Write a line, with facts about it that JSON can hold."""
        if not text or self._level == OFF:
            return
        self._written_at = [*self._written_at[-1:], self._clock.monotonic()]
        if not self._write(dict(facts, text=one_line(self._clean(text)), kind=kind, at=round(self._clock.wall(), 3))):
            self._level, self._source = OFF, None

    def _line_at(self) -> float:
        """Return when changes may be reported."""
        if self._level != CHANGES:
            return NEVER
        return max(self._changed_at + GATHER, self._written_at[-1] + LINE_INTERVAL if self._written_at else 0.0)


# Discards everything.
SILENT = Progress(Clock(), lambda entry: False, OFF)
