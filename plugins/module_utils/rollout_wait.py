# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for rollouts: hear what happens to all of them at once, until each is complete, failed, or out of time.

One thread decides; requests and watches run beside it and only report (see workers.py).
"""

from __future__ import annotations

from functools import partial

from .answers import selector_fault
from .errors import ApiError, Cancelled, Forbidden, InvalidOptions, MaintenanceError
from .objects import part
from .observe import Changed, Listed, Unwatched, observe
from .rollout_evidence import Evidence
from .rollout_follow import Followed, Following, Manner
from .rollout_inquiry import TAGS
from .rollout_options import RolloutTask
from .rollout_report import Report
from .rollout_targets import APPS, Group, grouped
from .rollout_viewers import KINDS
from .tools import Tools
from .waiting import Deadline
from .workers import Message
from .workloads import Workloads

# Before time runs out, look once more: what the watch has not told yet must not fail a task.
LAST_LOOK = 1.0
# Looks at single workloads under way at once, where no list may be used.
MOST_LOOKS = 20
# How long explaining a failure may take; after the deadline only as long as a task may outlast it.
EXPLAINING = 5.0
AFTERWARDS = 1.0


class Rollouts:
    """One task on some workloads."""

    def __init__(self, task: RolloutTask, tools: Tools) -> None:
        self._task = task
        self._crew, self._clock, self._rest_for = tools.crew, tools.clock, tools.rest_for
        self._deadline = Deadline(tools.clock, task.wait_timeout)
        self._rest = tools.rest_for(self._deadline)
        self._workloads = Workloads(self._rest, pause=task.wait_sleep)
        self._manner = Manner(task.revision, task.strict, task.wait_sleep)
        self._followings: list[Following] = []
        self._evidence = Evidence(task, tools, self._rest, self._workloads)
        self._last_looked = False
        self.report = Report(task)

    def run(self) -> Report:
        """Carry the task out. The report tells how it ended; an error means that it could not even begin."""
        groups = self._groups()
        self._followings = [Following(group, self._manner) for group in groups]
        self.report.followings = self._followings
        started = self._clock.monotonic()
        try:
            self._begin()
            self._wait()
            self.report.seconds = self._clock.monotonic() - started
            self._explain()
        except Cancelled as exc:
            self.report.cancelled = exc.message
        if self.report.failed:
            self.report.entries = self._evidence.entries(self._unfinished(), self._clock.monotonic())
            self.report.notes = self._evidence.notes
        return self.report

    def _groups(self) -> list[Group]:
        namespace = self._task.namespace or self._rest.namespace
        if self._task.label_selectors:
            kind, version = self._task.kind, self._task.api_version
            return [Group(kind, namespace, version, selectors=self._task.label_selectors)]
        return grouped(self._task.targets, namespace)

    def _begin(self) -> None:
        for number, following in enumerate(self._followings):
            group = following.group
            what = self._workloads.collection(
                group.api_version, KINDS[group.kind].plural, group.namespace, group.names, group.selectors
            )
            tag = ("group", number)
            if self._task.watch:
                self._crew.follow(tag, observe(self._rest, what))
            else:
                self._crew.start(tag, lambda what=what: Listed(self._workloads.listed(what)))  # type: ignore[misc]

    def _wait(self) -> None:
        while True:
            self._act()
            if self._is_over():
                return
            for message in self._crew.receive(self._next_wake()):
                self._take(message)

    def _members(self) -> list[Followed]:
        return [member for following in self._followings for member in following.members.values()]

    def _unfinished(self) -> list[Followed]:
        return [member for member in self._members() if not member.done]

    def _seen(self) -> bool:
        return all(following.seen for following in self._followings)

    def _is_over(self) -> bool:
        if self._deadline.expired():
            self.report.timed_out = self._task.watch and any(not member.over for member in self._members())
            self._check_begun()
            return True
        if not self._seen():
            return False
        if not self._task.watch:
            return not any(member.doubtful or member.unsettled for member in self._members())
        return bool(self._evidence.verdict) or all(member.over for member in self._members())

    def _check_begun(self) -> None:
        """Time is up: a task that has not seen its workloads yet must not say that there are none."""
        if not self._seen() and not self._members():
            raise MaintenanceError("no answer came within %g s" % self._task.wait_timeout)

    def _act(self) -> None:
        now = self._clock.monotonic()
        self._look_once_more(now)
        looking = sum(member.looking for member in self._members())
        for number, following in enumerate(self._followings):
            for name, member in following.members.items():
                if member.over or member.looking or member.look_at is None or member.look_at > now:
                    continue
                if looking < MOST_LOOKS:
                    looking, member.looking = looking + 1, True
                    group = following.group
                    plural = KINDS[group.kind].plural
                    job = partial(self._workloads.get, group.api_version, plural, group.namespace, name)
                    self._crew.start(("look", number, name), job)
        if self._seen():
            self._evidence.review(self._members(), now)

    def _look_once_more(self, now: float) -> None:
        if self._last_looked or self._deadline.unlimited or self._deadline.remaining() > LAST_LOOK:
            return
        self._last_looked = True
        for member in self._unfinished()[:MOST_LOOKS]:
            if not member.over:
                member.look_at = now

    def _next_wake(self) -> float:
        now = self._clock.monotonic()
        times = [self._deadline.remaining()]
        if not self._deadline.unlimited and not self._last_looked:
            times.append(self._deadline.remaining() - LAST_LOOK)
        if sum(member.looking for member in self._members()) < MOST_LOOKS:
            times += [
                member.look_at - now
                for member in self._members()
                if member.look_at is not None and not member.over and not member.looking
            ]
        if self._seen():
            times += self._evidence.wakes(self._members(), now)
        # A moment that is due at this instant may be a rounding error away.
        return max(0.01, min(times))

    def _take(self, message: Message) -> None:
        now = self._clock.monotonic()
        if message.tag[0] in TAGS:
            self._evidence.take(message, now)
            return
        following = self._followings[message.tag[1]]
        if message.tag[0] == "look":
            self._looked(following, message, now)
        elif message.error is not None:
            self._broken(following, message.error, now)
        elif isinstance(message.value, Unwatched):
            self._warn(following, "watched", message.value.message, "listed")
        elif isinstance(message.value, (Listed, Changed)):
            following.take(message.value, now)
            self._check_missing(following)

    def _looked(self, following: Following, message: Message, now: float) -> None:
        name = message.tag[2]
        if message.error is None:
            following.looked(name, message.value, now)
            self._check_missing(following)
            return
        member = following.members[name]
        if not member.known:
            raise message.error
        member.not_looked(message.error.message, isinstance(message.error, Forbidden), now)

    def _broken(self, following: Following, error: MaintenanceError, now: float) -> None:
        """Go on without the list or watch of a group if there is a way, else fail its workloads."""
        group = following.group
        if isinstance(error, Forbidden) and group.names and not following.alone:
            self._warn(following, "listed", error.message, "looked at one by one")
            following.go_alone(now)
            return
        if isinstance(error, ApiError) and error.status == 404 and group.api_version != APPS:
            error = InvalidOptions("this API server has no %s in api_version %s" % (group.kind, group.api_version))
        if not any(member.known for member in self._members()):
            selectors = list(group.selectors)
            raise selector_fault(error, "label_selectors", selectors) if isinstance(error, ApiError) else error
        for member in following.members.values():
            member.failure = member.failure or ("" if member.done else error.message)
        following.seen = True

    def _check_missing(self, following: Following) -> None:
        group = following.group
        if following.seen and following.missing:
            name = following.missing[0]
            more = ", nor %s" % ", ".join(following.missing[1:4]) if len(following.missing) > 1 else ""
            hint = self._workloads.likely(group.api_version, KINDS[group.kind].plural, group.namespace, name)
            raise InvalidOptions(
                "there is no %s %r in namespace %s%s%s" % (group.kind, name, group.namespace, more, hint)
            )
        if following.seen and not following.members and not self._task.allow_empty:
            raise InvalidOptions(
                "no %s in namespace %s matches label_selectors %r; set allow_empty if that is fine"
                % (group.kind, group.namespace, ",".join(group.selectors))
            )

    def _warn(self, following: Following, what: str, why: str, instead: str) -> None:
        group = following.group
        self.report.warnings.append(
            "%s in %s cannot be %s (%s), so they are %s every %g s"
            % (KINDS[group.kind].plural, group.namespace, what, why, instead, self._task.wait_sleep)
        )

    def _explain(self) -> None:
        """Find out what the failure's readers want to know, within a bounded time."""
        self.report.verdict = self._evidence.verdict
        failing = [member for member in self._unfinished() if part(member.obj, "metadata")]
        if not self.report.failed or not failing:
            return
        left = self._deadline.remaining()
        limit = Deadline(self._clock, min(EXPLAINING, left) if left > AFTERWARDS else AFTERWARDS)
        self._evidence.dig(Workloads(self._rest_for(limit), pause=self._task.wait_sleep))
        while self._evidence.digging(failing, self._clock.monotonic()) and not limit.expired():
            for message in self._crew.receive(limit.remaining()):
                if message.tag[0] in TAGS:
                    self._evidence.take(message, self._clock.monotonic())
