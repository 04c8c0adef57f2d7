# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for rollouts: handle the events of all of them, until each is complete, failed, or out of time.

One thread decides; requests and watches run beside it and only report (see runtime/workers.py). Each step decides from
the whole state, so the order of the events does not matter.
"""

from __future__ import annotations

from ..cluster.context import Context
from ..cluster.workloads import Workloads
from ..errors import Cancelled, MaintenanceError
from ..runtime.clock import CLEANUP_SECONDS, Deadline, LastLook
from .findings import Findings
from .options import RolloutTask
from .pod_lookup import TAGS
from .progress import RolloutProgress
from .result import Report
from .watch import WorkloadWatch
from .workload import Workload

# How long explaining a failure may take before the deadline.
EXPLAIN_SECONDS = 5.0
# Seconds: what is due now may be a rounding error away.
EPSILON = 0.01


class Rollouts:
    """The wait for some workloads."""

    def __init__(self, task: RolloutTask, context: Context) -> None:
        self._task = task
        self._context = context
        self._workers, self._clock = context.workers, context.clock
        self._deadline = Deadline(context.clock, task.wait_timeout, context.clock.began)
        rest = context.rest_for(self._deadline)
        client = Workloads(rest, pause=task.wait_sleep)
        self._watch = WorkloadWatch(task, context.workers, rest, client)
        self._findings = Findings(task, context.workers, rest, client)
        self._final_check = LastLook(self._deadline)
        self.report = Report(task, self._watch.groups, warnings=self._watch.warnings)

    def run(self) -> Report:
        """Wait. Return how it ended; raise an error if the wait could not start."""
        started = self._clock.monotonic()
        self._context.progress.follow(RolloutProgress(self._watch, self._findings, self._deadline))
        try:
            self._watch.start()
            self._wait()
            self.report.seconds = self._clock.monotonic() - started
            self._explain()
        except Cancelled as exc:
            self.report.cancelled = exc.message
        if self.report.failed:
            self.report.pending_pods = self._findings.pending_pods(self._stuck(), self._clock.monotonic())
            self.report.notes = self._findings.notes + self.report.notes
        self._context.progress.close()
        return self.report

    def _wait(self) -> None:
        while True:
            now = self._clock.monotonic()
            if self._final_check.due():
                self._watch.list_again(now)
            self._watch.start_due_reads(now)
            if self._watch.unreadable:
                self.report.unreadable = self._watch.unreadable
                return
            if self._watch.synced:
                self._findings.update(self._watch.members, now)
            self._context.progress.step()
            if self._is_over():
                return
            self._handle_messages(self._next_wake())

    def _handle_messages(self, seconds: float) -> None:
        for message in self._workers.receive(seconds):
            handler = self._findings if message.tag[0] in TAGS else self._watch
            handler.on_message(message, self._clock.monotonic())

    def _stuck(self) -> list[Workload]:
        return [member for member in self._watch.members if member.stuck]

    def _is_over(self) -> bool:
        members = self._watch.members
        if self._deadline.expired():
            if not self._watch.synced and not any(member.known for member in members):
                self._raise_no_response()
            self.report.timed_out = not all(member.finished for member in members)
            return True
        if not self._watch.synced:
            return False
        if not self._task.watch:
            return not any(member.unconfirmed or member.needs_pods for member in members)
        return bool(self._findings.decisive) or all(member.finished for member in members)

    def _raise_no_response(self) -> None:
        # The request that just timed out has the best error; other messages may come before it.
        limit = Deadline(self._clock, CLEANUP_SECONDS)
        while not (limit.expired() or self._watch.synced):
            self._handle_messages(max(EPSILON, limit.remaining()))
        raise MaintenanceError(
            f"no response about the workloads within {self._task.wait_timeout:g} s: raise wait_timeout, or check the"
            " API server"
        )

    def _next_wake(self) -> float:
        now = self._clock.monotonic()
        times = [self._deadline.remaining(), self._context.progress.due(), *self._watch.wakes(now)]
        times += self._final_check.wakes()
        if self._watch.synced:
            times += self._findings.wakes(self._watch.members, now)
        return max(EPSILON, min(times))

    def _explain(self) -> None:
        """Collect what explains the failure, within a bounded time."""
        self.report.decisive = self._findings.decisive
        stuck = self._stuck()
        if self.report.unreadable or not self.report.failed or not stuck:
            return
        left = self._deadline.remaining()
        limit = Deadline(self._clock, min(EXPLAIN_SECONDS, left) if left > CLEANUP_SECONDS else CLEANUP_SECONDS)
        self._findings.use_client(Workloads(self._context.rest_for(limit), pause=self._task.wait_sleep))
        while self._findings.collect(stuck, self._clock.monotonic()):
            if limit.expired():
                self.report.notes.append("time ran out before all pods could be examined")
                return
            for message in self._workers.receive(max(EPSILON, limit.remaining())):
                if message.tag[0] in TAGS:
                    self._findings.on_message(message, self._clock.monotonic())
