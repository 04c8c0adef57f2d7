# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what a task that polls is waiting for, and sleep between its checks."""

from __future__ import annotations

import re

from ..runtime.clock import Clock, Deadline
from ..runtime.progress import Progress
from ..text import format_duration

_NUMBERS = re.compile(r"\d+")


class WaitProgress:
    """The progress lines of a wait; see progress.Source. subject: how they begin. None before the first C(set)."""

    def __init__(self, subject: str, deadline: Deadline) -> None:
        self._subject = subject
        self._deadline = deadline
        self._text = self._first = ""
        self._kind: object = None
        self._shown: object = None
        self._fresh = False

    def set(self, text: str, first: str = "", kind: object = None) -> None:
        """Set the status. first: the text for its first line, where that is another one.

        kind: a new line is shown only if this has changed. By default it is the text without its numbers, because
        conditions that count seconds change with every check.
        """
        self._text, self._first = text, first or text
        self._kind = _NUMBERS.sub("", text) if kind is None else kind

    def finish(self, text: str) -> None:
        """Set the status of a good end, which is worth a line only if the task has waited."""
        if self._text:
            self.set(text)

    def changes(self, detail: bool) -> str:
        """Return the status if it is new."""
        self._fresh = self._kind != self._shown
        self._shown = self._kind
        return f"{self._subject}: {self._first}" if self._fresh else ""

    def summary(self) -> str:
        """Return the status, and how much time is left."""
        if not self._text:
            return ""
        left, whole = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
        time = "" if self._deadline.unlimited else f"{left} of {whole} left"
        if self._fresh:
            # The same line has begun with the status.
            return f"({time})" if time else ""
        return "; ".join(text for text in (f"{self._subject}: {self._text}", time) if text)


def pause(clock: Clock, progress: Progress, seconds: float) -> None:
    """Sleep, and show the progress lines that are due meanwhile."""
    end = clock.monotonic() + seconds
    progress.step()
    while True:
        left, due = end - clock.monotonic(), progress.due()
        if left <= 0:
            return
        clock.sleep(min(left, due))
        if due < left:
            progress.step()
