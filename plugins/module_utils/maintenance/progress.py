# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell what a task that looks again and again is waiting for, and pause between its looks."""

from __future__ import annotations

import re

from ..runtime.clock import Clock, Deadline
from ..runtime.progress import Progress
from ..text import format_duration

_NUMBERS = re.compile(r"\d+")


class WaitProgress:
    """What there is to tell of a wait; see progress.Source.

    subject: what the lines are about. Nothing is told before the first C(stands).
    """

    def __init__(self, subject: str, deadline: Deadline) -> None:
        self._subject = subject
        self._deadline = deadline
        self._text = self._news = ""
        self._kind: object = None
        self._told: object = None
        self._fresh = False

    def stands(self, text: str, news: str = "", kind: object = None) -> None:
        """Take note of how things stand. news: how to say it for the first time, where that is another text.

        kind: it is news only if this has changed. By default the text without its numbers, for conditions that count
        seconds change with every look.
        """
        self._text, self._news = text, news or text
        self._kind = _NUMBERS.sub("", text) if kind is None else kind

    def ends(self, text: str) -> None:
        """Take note of a good end, which is worth a line only if there was something to wait for."""
        if self._text:
            self.stands(text)

    def changes(self, detail: bool) -> str:
        """Return how things stand if that is new."""
        self._fresh = self._kind != self._told
        self._told = self._kind
        return f"{self._subject}: {self._news}" if self._fresh else ""

    def summary(self) -> str:
        """Return how things stand, and how much time is left."""
        if not self._text:
            return ""
        left, whole = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
        time = "" if self._deadline.unlimited else f"{left} of {whole} left"
        if self._fresh:
            # The change that stands in the same line has told the rest.
            return f"({time})" if time else ""
        return "; ".join(text for text in (f"{self._subject}: {self._text}", time) if text)


def pause(clock: Clock, progress: Progress, seconds: float) -> None:
    """Do nothing for that many seconds but tell what is due to be told."""
    end = clock.monotonic() + seconds
    progress.step()
    while True:
        left, due = end - clock.monotonic(), progress.due()
        if left <= 0:
            return
        clock.sleep(min(left, due))
        if due < left:
            progress.step()
