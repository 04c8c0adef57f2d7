# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hear about workloads: one list and one watch for each group, and looks at single ones where these do not do."""

from __future__ import annotations

from functools import partial
from itertools import chain

from ..api.list_watch import Changed, Collection, Listed, Unwatched, list_and_watch
from ..api.responses import selector_fault
from ..api.rest import Rest
from ..api.retry import retry_delay
from ..cluster.workloads import Workloads
from ..errors import ApiError, Forbidden, InvalidOptions, MaintenanceError, NotFound, Unauthorized
from ..runtime.workers import Message, Pause, Workers
from .options import RolloutTask
from .targets import APPS, Group, grouped
from .viewers import KINDS
from .workload import Semantics, Workload, WorkloadGroup

# Looks at single workloads under way at once, where no list may be used.
MAX_RETRIES = 20

ASSUMED = " (no namespace was given, so that of the kubeconfig context was taken, or default)"


class WorkloadWatch:
    """The workloads of a task.

    warnings: what the user should know although it failed nothing; refused: why nothing is waited for, "" if all that
    the task names can be followed.
    """

    def __init__(self, task: RolloutTask, crew: Workers, rest: Rest, workloads: Workloads) -> None:
        self._task = task
        self._crew = crew
        self._rest = rest
        self._workloads = workloads
        manner = Semantics(task.revision, task.strict, task.wait_sleep)
        self.followings = [WorkloadGroup(group, manner) for group in _groups(task, rest.namespace)]
        self.warnings: list[str] = []
        self.refused = ""
        self._checked = False

    @property
    def members(self) -> list[Workload]:
        """Return the workloads in the order in which kubectl would go through them."""
        return [member for following in self.followings for member in following.members.values()]

    @property
    def seen(self) -> bool:
        """Tell whether the first look at all of them is over."""
        return all(following.seen for following in self.followings)

    def begin(self) -> None:
        """Follow every group, or look at it once."""
        for number, following in enumerate(self.followings):
            if self._task.watch:
                self._follow(number)
            else:
                self._crew.start(("group", number), partial(self._look_at_all, following.group))

    def _follow(self, number: int, *before: Pause) -> None:
        what = self._collection(self.followings[number].group)
        self._crew.follow(("group", number), chain(before, list_and_watch(self._rest, what)))

    def look_at_all(self, now: float) -> None:
        """Look once more at every group that has unfinished workloads."""
        for number, following in enumerate(self.followings):
            waiting = [member for member in following.members.values() if not member.over]
            if waiting and not following.alone:
                self._crew.start(("again", number), partial(self._look_at_all, following.group))
            elif following.alone:
                for member in waiting:
                    member.look_at = now

    def look(self, now: float) -> None:
        """Look at the workloads that are to be looked at by themselves."""
        under_way = sum(member.looking for member in self.members)
        for number, following in enumerate(self.followings):
            for name, member in following.members.items():
                due = member.look_at is not None and member.look_at <= now
                if due and under_way < MAX_RETRIES and not (member.over or member.looking):
                    under_way += 1
                    member.begin_look()
                    group = following.group
                    plural = KINDS[group.kind].plural
                    job = partial(self._workloads.get, group.api_version, plural, group.namespace, name)
                    self._crew.start(("look", number, name), job)

    def wakes(self, now: float) -> list[float]:
        """Return in how many seconds workloads are to be looked at by themselves."""
        if sum(member.looking for member in self.members) >= MAX_RETRIES:
            return []
        waiting = [member for member in self.members if not (member.over or member.looking)]
        return [member.look_at - now for member in waiting if member.look_at is not None]

    def take(self, message: Message, now: float) -> None:
        """Take in what was heard of a group or of one workload."""
        following, error = self.followings[message.tag[1]], message.error
        if message.tag[0] == "look":
            self._looked(following, message, now)
        elif error is not None and message.tag[0] == "group":
            self._broken(message.tag[1], error, now)
        elif isinstance(message.value, Unwatched):
            self._warn(following, "watched", message.value.message, "listed")
        elif isinstance(message.value, (Listed, Changed)):
            following.doubts = 0
            following.take(message.value, now)
        if self.seen and not self._checked:
            self._checked = True
            self._check()

    def _collection(self, group: Group) -> Collection:
        plural = KINDS[group.kind].plural
        return self._workloads.collection(group.api_version, plural, group.namespace, group.names, group.selectors)

    def _look_at_all(self, group: Group) -> Listed:
        return Listed(self._workloads.listed(self._collection(group)))

    def _looked(self, following: WorkloadGroup, message: Message, now: float) -> None:
        name = message.tag[2]
        member = following.members[name]
        if message.error is None:
            following.looked(name, message.value, now)
            if message.value is None and self._task.allow_missing:
                member.obj, member.failure, member.done = {}, "", True
        elif member.known:
            member.not_looked(message.error.message, self._look_again(member, message.error), now)
        elif isinstance(message.error, Forbidden) or any(other.known for other in self.members):
            following.refuse(name, message.error)
        else:
            raise message.error

    def _look_again(self, member: Workload, error: MaintenanceError) -> float | None:
        """Return after how many seconds to look again at a workload that was seen before, None if no look will help."""
        member.doubts += 1
        if self._rest.is_retryable(error):
            return self._task.wait_sleep
        return retry_delay(error, member.doubts) if self._task.watch else None

    def _broken(self, number: int, error: MaintenanceError, now: float) -> None:
        """Go on without the list or watch of a group if there is a way, else fail its workloads."""
        following = self.followings[number]
        group = following.group
        following.doubts += 1
        pause = retry_delay(error, following.doubts) if self._was_well(following, error) else None
        if pause is not None:
            self._follow(number, Pause(pause))
            return
        if isinstance(error, Forbidden) and group.names and not following.alone:
            self._warn(following, "listed", error.message, "looked at one by one")
            following.go_alone(now)
            return
        if following.seen and self._rest.is_retryable(error):
            # Time is up, and that is what the task fails for.
            return
        if isinstance(error, ApiError) and error.status == 404 and group.api_version != APPS:
            text = "this API server has no %s in api_version %s: leave it out, or give one that it has"
            error = InvalidOptions(text % (group.kind, group.api_version))
        if not any(member.known for member in self.members):
            selectors = list(group.selectors)
            raise selector_fault(error, "label_selectors", selectors) if isinstance(error, ApiError) else error
        for member in following.members.values():
            member.failure = member.failure or ("" if member.done else error.message)
        following.seen = True

    def _was_well(self, following: WorkloadGroup, error: MaintenanceError) -> bool:
        """Tell whether a list that fails now has been answered before, or must have an answer where another had one.

        What is wrong from the start is wrong input, and nobody should wait to be told of that: a right or an
        api_version that there is not. That it knows no apps/v1 or not who asks is not to be believed of a server that
        has just shown other workloads.
        """
        if not self._task.watch:
            return False
        odd = isinstance(error, Unauthorized) or (isinstance(error, NotFound) and following.group.api_version == APPS)
        return following.seen or (odd and any(member.known for member in self.members))

    def _check(self) -> None:
        """Refuse names that there are not or that may not be looked at, all at once, before anything is waited for.

        Where others of the task are there, they are told of too, so that is no error but an end with a result.
        """
        for following in self.followings:
            if not following.members and not self._task.allow_empty:
                raise InvalidOptions(self._nothing_matches(following))
        absent = [following for following in self.followings if following.missing]
        for following in absent if self._task.allow_missing else ():
            for name in following.missing:
                following.members[name].done = True
        missing = [] if self._task.allow_missing else [self._missing(following) for following in absent]
        refused = [error for following in self.followings for error in following.refused.values()]
        if not any(member.known for member in self.members):
            if missing:
                raise InvalidOptions("; ".join(missing))
            if refused:
                raise refused[0]
        self.refused = "; ".join([*missing, *dict.fromkeys(error.message for error in refused)])

    def _missing(self, following: WorkloadGroup) -> str:
        """Note for each name that there is no such workload; return a sentence about them, with a hint at the first."""
        group, (name, *others) = following.group, following.missing
        for absent in following.missing:
            following.members[absent].failure = "there is no such %s" % group.kind
        hint = self._workloads.likely(group.api_version, KINDS[group.kind].plural, group.namespace, name)
        more = ", nor %s" % ", ".join(others) if others else ""
        hint = more + self._assumed(following) + hint
        return "there is no %s %r in namespace %s%s" % (group.kind, name, group.namespace, hint)

    def _nothing_matches(self, following: WorkloadGroup) -> str:
        group, selectors = following.group, ",".join(following.group.selectors)
        plural = KINDS[group.kind].plural
        return "no %s in namespace %s matches label_selectors %r%s%s; set allow_empty if that is fine" % (
            group.kind,
            group.namespace,
            selectors,
            self._assumed(following),
            self._workloads.elsewhere(
                group.api_version, plural, group.namespace, "there are some", labelSelector=selectors
            ),
        )

    def _assumed(self, following: WorkloadGroup) -> str:
        """Return that nobody named a group's namespace, "" if somebody did."""
        group = following.group
        named = self._task.namespace or any(
            target.namespace == group.namespace for target in self._task.targets if target.kind == group.kind
        )
        return "" if named else ASSUMED

    def _warn(self, following: WorkloadGroup, what: str, why: str, instead: str) -> None:
        group = following.group
        self.warnings.append(
            "%s in %s cannot be %s (%s), so they are %s every %g s"
            % (KINDS[group.kind].plural, group.namespace, what, why, instead, self._task.wait_sleep)
        )


def _groups(task: RolloutTask, default: str) -> list[Group]:
    namespace = task.namespace or default
    if task.label_selectors:
        return [Group(task.kind, namespace, task.api_version, selectors=task.label_selectors)]
    return grouped(task.targets, namespace)
