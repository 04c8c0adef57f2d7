# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what goes on while a task runs, in lines that whoever started it reads as they come.

A use case does not send news; it offers a Source that knows how things stand, and calls C(step) whenever something may
have happened. What is told is the difference between then and now, so that however much happens between two lines,
one line tells it all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from .clock import Clock

# The environment variables by which action plugins and modules find each other; options would show in results.
# How much the user wants to be told, unless the option of that name says it.
WANTED = "K8S_MAINTENANCE_PROGRESS"
# The file for the lines.
LINES = "K8S_MAINTENANCE_PROGRESS_LINES"

# How much is told.
CHANGES = "changes"
SUMMARY = "summary"
OFF = "off"

# Seconds from one line to the next. That makes two a second at most, together with the last line, which must not have
# the end of the task wait for long.
LINE_INTERVAL = 0.85
# What happens within so many seconds stands in one line.
GATHER = 0.2
# Who was told when to come may come so many seconds early, by rounding.
SLACK = 0.001
# In each span of so many seconds there are at most two lines.
SPAN = 1.0
# Seconds from one summary to the next: who waits for a sign of life each minute gets one.
SUMMARY_EVERY = 50.0
MAX_LINE = 1000

NEVER = float("inf")


class Source(Protocol):
    """What a task has to tell."""

    def changes(self, detail: bool) -> str:
        """Return what is new and has not been returned before, "" if nothing is.

        C(detail): also what few want to know.
        """

    def summary(self) -> str:
        """Return how things stand, "" if there is nothing to wait for."""


def one_line(text: str) -> str:
    """Return a text as one line that is not too long, and in which no letter does more than to be seen."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "..."


class LineFile:
    """A file that somebody else made and reads while it grows.

    Each line is one JSON object in ASCII, written at once. A file that is gone or full is no reason to fail.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    def append(self, entry: dict[str, Any]) -> bool:
        """Write an entry; tell whether it could be."""
        line = json.dumps(entry).encode("ascii") + b"\n"
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
            return os.write(self._file, line) == len(line)
        except OSError:
            return False


class Progress:
    """The lines of one task.

    write: takes an entry and tells whether it got through; clean: takes secrets out of a text; detail: see Source.
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
        self._told_at: list[float] = []
        self._summary_at = NEVER
        # Since when something may have happened that the last line does not tell.
        self._news_at = NEVER

    def follow(self, source: Source) -> None:
        """Tell of this from now on."""
        if self._level == OFF:
            return
        self._source = source
        self._summary_at = self._clock.monotonic() + SUMMARY_EVERY

    def step(self) -> None:
        """Tell what is new, or after a while how things stand; keep it for later if it or the last line is fresh."""
        if self._source is None:
            return
        now = self._clock.monotonic()
        self._news_at = min(self._news_at, now)
        if now + SLACK < min(self._line_at(), self._summary_at):
            return
        self._news_at = NEVER
        changes = self._source.changes(self._detail) if self._level == CHANGES else ""
        if now + SLACK < self._summary_at:
            self.tell(changes, CHANGES)
            return
        self._summary_at = now + SUMMARY_EVERY
        self.tell(" ".join(text for text in (changes, self._source.summary()) if text), SUMMARY)

    def due(self) -> float:
        """Return in how many seconds C(step) is to be called although nothing has happened."""
        if self._source is None:
            return NEVER
        return max(0.0, min(self._line_at(), self._summary_at) - self._clock.monotonic())

    def close(self) -> None:
        """Tell what is left to tell: the task ends now."""
        if self._source is None:
            return
        # A source may tell of some things first, and of others when it is asked again.
        text = ". ".join(iter(partial(self._source.changes, self._detail), ""))
        self._source = None
        if text and len(self._told_at) > 1:
            self._clock.sleep(max(0.0, self._told_at[0] + SPAN - self._clock.monotonic()))
        self.tell(text, CHANGES)

    def tell(self, text: str, kind: str = CHANGES, **facts: Any) -> None:
        """Write a line, with facts about it that JSON can hold."""
        if not text or self._level == OFF:
            return
        self._told_at = [*self._told_at[-1:], self._clock.monotonic()]
        if not self._write(dict(facts, text=one_line(self._clean(text)), kind=kind, at=round(self._clock.wall(), 3))):
            self._level, self._source = OFF, None

    def _line_at(self) -> float:
        """Return when changes may be told."""
        if self._level != CHANGES:
            return NEVER
        return max(self._news_at + GATHER, self._told_at[-1] + LINE_INTERVAL if self._told_at else 0.0)


# Tells nothing to nobody.
SILENT = Progress(Clock(), lambda entry: False, OFF)
