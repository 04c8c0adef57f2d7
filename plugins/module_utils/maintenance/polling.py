# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check until a condition is met or the time is up, retry errors that may pass, and show what is waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..api.rest import Rest
from ..cluster.context import Context
from ..errors import MaintenanceError
from ..runtime.clock import Deadline
from ..text import format_duration
from .progress import WaitProgress, pause

# Seconds: what is left of a float by rounding.
EPSILON = 0.01


@dataclass(frozen=True)
class Pending:
    """What a check found missing. text, first, kind: the line, see WaitProgress.set.

    delay: seconds until the next check, None if waiting cannot change the result.
    """

    text: str
    delay: float | None
    first: str = ""
    kind: object = None


class Polling:
    """The wait of one task. waited: seconds from its start to the last check."""

    def __init__(self, context: Context, subject: str, timeout: float, max_request: float) -> None:
        self._context = context
        self._deadline = Deadline(context.clock, timeout, context.clock.began)
        self._lines = WaitProgress(subject, self._deadline)
        self._max_request = max_request
        self.waited = 0.0

    def run(
        self,
        check: Callable[[Rest], Pending | None],
        on_error: Callable[[MaintenanceError], Pending | None],
        success: str,
        once: bool,
    ) -> bool:
        """Return whether C(check) returned None, that is whether all is as it should be, before the time was up.

        on_error: returns what to show of an error that may pass, None to raise it. once: do not wait. success: the last
        line after a wait.
        """
        context = self._context
        started = context.clock.monotonic()
        context.progress.follow(self._lines)
        while True:
            seconds = max(1.0, min(self._max_request, self._deadline.remaining()))
            rest = context.rest_for(Deadline(context.clock, seconds))
            try:
                pending = check(rest)
            except MaintenanceError as exc:
                pending = on_error(exc)
                if pending is None:
                    raise
            self.waited = context.clock.monotonic() - started
            if pending is None or pending.delay is None or once or self._deadline.remaining() < EPSILON:
                if pending is None:
                    self._lines.finish(f"{success} after {format_duration(self.waited)}")
                context.progress.close()
                return pending is None
            self._lines.set(pending.text, pending.first, pending.kind)
            pause(context.clock, context.progress, min(pending.delay, self._deadline.remaining()))
