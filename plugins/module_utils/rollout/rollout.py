# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for rollouts: hear what happens to all of them at once, until each is complete, failed, or out of time.

One thread decides; requests and watches run beside it and only report (see workers.py). Each step looks at the whole
state anew, so the order in which news come does not matter.
"""

from __future__ import annotations

from ..cluster.context import Context
from ..cluster.workloads import Workloads
from ..errors import Cancelled, MaintenanceError
from ..runtime.clock import CLEANUP_SECONDS, Deadline, LastLook
from .evidence import Findings
from .options import RolloutTask
from .pod_lookup import TAGS
from .progress import RolloutProgress
from .result import Report
from .watch import WorkloadWatch
from .workload import Workload

# How long explaining a failure may take before the deadline.
EXPLAINING = 5.0
# Seconds: a moment that is due at this instant may be a rounding error away.
SHORTEST = 0.01
NOTHING_HEARD = "nothing was heard about the workloads within %g s: raise wait_timeout, or check the API server"


class Rollouts:
    """One task on some workloads."""

    def __init__(self, task: RolloutTask, tools: Context) -> None:
        self._task = task
        self._tools = tools
        self._crew, self._clock = tools.crew, tools.clock
        self._deadline = Deadline(tools.clock, task.wait_timeout, tools.clock.began)
        rest = tools.rest_for(self._deadline)
        workloads = Workloads(rest, pause=task.wait_sleep)
        self._groups = WorkloadWatch(task, tools.crew, rest, workloads)
        self._evidence = Findings(task, tools.crew, rest, workloads)
        self._last_look = LastLook(self._deadline)
        self.report = Report(task, self._groups.followings, warnings=self._groups.warnings)

    def run(self) -> Report:
        """Carry the task out. The report tells how it ended; an error means that it could not even begin."""
        started = self._clock.monotonic()
        self._tools.progress.follow(RolloutProgress(self._groups, self._evidence, self._deadline))
        try:
            self._groups.begin()
            self._wait()
            self.report.seconds = self._clock.monotonic() - started
            self._explain()
        except Cancelled as exc:
            self.report.cancelled = exc.message
        if self.report.failed:
            self.report.entries = self._evidence.entries(self._stuck(), self._clock.monotonic())
            self.report.notes = self._evidence.notes + self.report.notes
        self._tools.progress.close()
        return self.report

    def _wait(self) -> None:
        while True:
            now = self._clock.monotonic()
            if self._last_look.due():
                self._groups.look_at_all(now)
            self._groups.look(now)
            if self._groups.refused:
                self.report.refused = self._groups.refused
                return
            if self._groups.seen:
                self._evidence.review(self._groups.members, now)
            self._tools.progress.step()
            if self._is_over():
                return
            self._hear(self._next_wake())

    def _hear(self, seconds: float) -> None:
        for message in self._crew.receive(seconds):
            taker = self._evidence if message.tag[0] in TAGS else self._groups
            taker.take(message, self._clock.monotonic())

    def _stuck(self) -> list[Workload]:
        return [member for member in self._groups.members if member.stuck]

    def _is_over(self) -> bool:
        members = self._groups.members
        if self._deadline.expired():
            if not self._groups.seen and not any(member.known for member in members):
                # The request that ran out of time just now knows best why; another may be heard before it.
                limit = Deadline(self._clock, CLEANUP_SECONDS)
                while not (limit.expired() or self._groups.seen):
                    self._hear(max(SHORTEST, limit.remaining()))
                raise MaintenanceError(NOTHING_HEARD % self._task.wait_timeout)
            self.report.timed_out = not all(member.over for member in members)
            return True
        if not self._groups.seen:
            return False
        if not self._task.watch:
            return not any(member.doubtful or member.unsettled for member in members)
        return bool(self._evidence.verdict) or all(member.over for member in members)

    def _next_wake(self) -> float:
        now = self._clock.monotonic()
        times = [self._deadline.remaining(), self._tools.progress.due(), *self._groups.wakes(now)]
        times += self._last_look.wakes()
        if self._groups.seen:
            times += self._evidence.wakes(self._groups.members, now)
        return max(SHORTEST, min(times))

    def _explain(self) -> None:
        """Find out what the failure's readers want to know, within a bounded time."""
        self.report.verdict = self._evidence.verdict
        failing = self._stuck()
        if self.report.refused or not self.report.failed or not failing:
            return
        left = self._deadline.remaining()
        limit = Deadline(self._clock, min(EXPLAINING, left) if left > CLEANUP_SECONDS else CLEANUP_SECONDS)
        self._evidence.dig(Workloads(self._tools.rest_for(limit), pause=self._task.wait_sleep))
        while self._evidence.digging(failing, self._clock.monotonic()):
            if limit.expired():
                self.report.notes.append("there was no time to find out more about the pods")
                return
            for message in self._crew.receive(max(SHORTEST, limit.remaining())):
                if message.tag[0] in TAGS:
                    self._evidence.take(message, self._clock.monotonic())
