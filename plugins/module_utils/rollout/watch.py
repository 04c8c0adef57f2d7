# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read workloads: one list and one watch for each group, and requests for single ones where these do not suffice."""

from __future__ import annotations

from functools import partial
from itertools import chain

from ..api.list_watch import Changed, Collection, Listed, Unwatched, list_and_watch
from ..api.responses import selector_fault
from ..api.rest import Rest
from ..cluster.workloads import Workloads
from ..errors import ApiError, Forbidden, InvalidOptions, MaintenanceError, NotFound, Unauthorized
from ..runtime.workers import Message, Pause, Workers
from .options import RolloutTask
from .targets import APPS, Selection, selections_of
from .viewers import KINDS
from .workload import Semantics, Workload, WorkloadGroup

# Requests for single workloads in flight at once, where no list may be used.
MAX_READS = 20

ASSUMED = " (no namespace was given, so that of the kubeconfig context was used, or default)"


class WorkloadWatch:
    """The workloads of a task.

    warnings: what the user should know although it failed nothing; unreadable: why the wait does not start, "" if
    all that the task names can be read.
    """

    def __init__(self, task: RolloutTask, workers: Workers, rest: Rest, client: Workloads) -> None:
        self._task = task
        self._workers = workers
        self._rest = rest
        self._client = client
        semantics = Semantics(task.revision, task.strict, task.wait_sleep)
        self.groups = [WorkloadGroup(selection, semantics) for selection in _selections(task, rest.namespace)]
        self.warnings: list[str] = []
        self.unreadable = ""
        self._checked = False

    @property
    def members(self) -> list[Workload]:
        """Return the workloads in the order in which kubectl would go through them."""
        return [member for group in self.groups for member in group.members.values()]

    @property
    def synced(self) -> bool:
        """Return whether each workload was read or found missing."""
        return all(group.synced for group in self.groups)

    def start(self) -> None:
        """Watch every group, or list it once."""
        for number, group in enumerate(self.groups):
            if self._task.watch:
                self._start_watch(number)
            else:
                self._workers.start(("group", number), partial(self._list, group.selection))

    def list_again(self, now: float) -> None:
        """List every group that has unfinished workloads again, for the final check."""
        for number, group in enumerate(self.groups):
            waiting = [member for member in group.members.values() if not member.finished]
            if waiting and not group.polled:
                self._workers.start(("again", number), partial(self._list, group.selection))
            elif group.polled:
                for member in waiting:
                    member.read_at = now

    def start_due_reads(self, now: float) -> None:
        """Request the single workloads that are due."""
        in_flight = sum(member.reading for member in self.members)
        for number, group in enumerate(self.groups):
            for name, member in group.members.items():
                due = member.read_at is not None and member.read_at <= now
                if due and in_flight < MAX_READS and not (member.finished or member.reading):
                    in_flight += 1
                    member.on_read_started()
                    target, plural = member.target, KINDS[member.target.kind].plural
                    job = partial(self._client.get, target.api_version, plural, target.namespace, name)
                    self._workers.start(("read", number, name), job)

    def wakes(self, now: float) -> list[float]:
        """Return in how many seconds single workloads are due."""
        if sum(member.reading for member in self.members) >= MAX_READS:
            return []
        waiting = [member for member in self.members if not (member.finished or member.reading)]
        return [member.read_at - now for member in waiting if member.read_at is not None]

    def on_message(self, message: Message, now: float) -> None:
        """Handle what a worker reports of a group or of one workload."""
        number, error = message.tag[1], message.error
        group = self.groups[number]
        if message.tag[0] == "read":
            self._on_read(group, message, now)
        elif error is not None and message.tag[0] == "group":
            self._on_watch_error(number, error, now)
        elif isinstance(message.value, Unwatched):
            self._warn(group, "watched", message.value.message, "listed")
        elif isinstance(message.value, Listed):
            group.retries.reset()
            group.on_list(message.value, now)
        elif isinstance(message.value, Changed):
            group.retries.reset()
            group.on_watch_event(message.value, now)
        if self.synced and not self._checked:
            self._checked = True
            self._check_names()

    def _start_watch(self, number: int, *before: Pause) -> None:
        collection = self._collection(self.groups[number].selection)
        self._workers.follow(("group", number), chain(before, list_and_watch(self._rest, collection)))

    def _collection(self, selection: Selection) -> Collection:
        plural = KINDS[selection.kind].plural
        return self._client.collection(
            selection.api_version, plural, selection.namespace, selection.names, selection.selectors
        )

    def _list(self, selection: Selection) -> Listed:
        return Listed(self._client.listed(self._collection(selection)))

    def _on_read(self, group: WorkloadGroup, message: Message, now: float) -> None:
        name, error = message.tag[2], message.error
        member = group.members[name]
        if error is None:
            group.on_read(name, message.value, now)
            if message.value is None and self._task.allow_missing:
                member.obj, member.failure, member.done = {}, "", True
        elif member.known:
            delay = member.retries.delay_after(error) if self._task.watch else None
            retry_in = self._task.wait_sleep if self._rest.is_retryable(error) else delay
            member.on_read_error(error.message, retry_in, now)
        elif isinstance(error, Forbidden) or any(other.known for other in self.members):
            group.on_unreadable(name, error)
        else:
            raise error

    def _on_watch_error(self, number: int, error: MaintenanceError, now: float) -> None:
        """Go on without the list or watch of a group if there is a way, else fail its workloads."""
        group = self.groups[number]
        kind, api_version = group.selection.kind, group.selection.api_version
        delay = group.retries.delay_after(error)
        if delay is not None and self._may_be_transient(group, error):
            self._start_watch(number, Pause(delay))
            return
        if isinstance(error, Forbidden) and group.selection.names and not group.polled:
            self._warn(group, "listed", error.message, "read one by one")
            group.start_polling(now)
            return
        if group.synced and self._rest.is_retryable(error):
            # Time is up, and that is what the task fails for.
            return
        if isinstance(error, ApiError) and error.status == 404 and api_version != APPS:
            error = InvalidOptions(
                f"this API server has no {kind} in api_version {api_version}: leave it out, or give one that it has"
            )
        if not any(member.known for member in self.members):
            selectors = list(group.selection.selectors)
            raise selector_fault(error, "label_selectors", selectors) if isinstance(error, ApiError) else error
        for member in group.members.values():
            member.failure = member.failure or ("" if member.done else error.message)
        group.synced = True

    def _may_be_transient(self, group: WorkloadGroup, error: MaintenanceError) -> bool:
        """Return whether the same request, or one that has to succeed wherever it did, succeeded before.

        Wrong input fails from the start (a missing right, an unknown api_version), and is reported at once. But a 404
        for apps/v1 or a 401 is suspect once the server has returned workloads.
        """
        if not self._task.watch:
            return False
        suspect = isinstance(error, Unauthorized) or (
            isinstance(error, NotFound) and group.selection.api_version == APPS
        )
        return group.synced or (suspect and any(member.known for member in self.members))

    def _check_names(self) -> None:
        """Before the wait, report all names that do not exist or may not be read.

        If some workloads exist, the task fails with a result that lists them instead of an error.
        """
        for group in self.groups:
            if not group.members and not self._task.allow_empty:
                raise InvalidOptions(self._nothing_matches(group))
        incomplete = [group for group in self.groups if group.missing]
        for group in incomplete if self._task.allow_missing else ():
            for name in group.missing:
                group.members[name].done = True
        missing = [] if self._task.allow_missing else [self._fail_missing(group) for group in incomplete]
        errors = [error for group in self.groups for error in group.unreadable.values()]
        if not any(member.known for member in self.members):
            if missing:
                raise InvalidOptions("; ".join(missing))
            if errors:
                raise errors[0]
        self.unreadable = "; ".join([*missing, *dict.fromkeys(error.message for error in errors)])

    def _fail_missing(self, group: WorkloadGroup) -> str:
        """Fail the workloads that do not exist; return a sentence about them, with a hint at the first."""
        kind, namespace, api_version = group.selection.kind, group.selection.namespace, group.selection.api_version
        name, *others = group.missing
        for missing in group.missing:
            group.members[missing].failure = f"there is no such {kind}"
        more = f", nor {', '.join(others)}" if others else ""
        hint = self._client.likely(api_version, KINDS[kind].plural, namespace, name)
        return f"there is no {kind} {name!r} in namespace {namespace}{more}{self._assumed(group.selection)}{hint}"

    def _nothing_matches(self, group: WorkloadGroup) -> str:
        kind, namespace, selectors = (
            group.selection.kind,
            group.selection.namespace,
            ",".join(group.selection.selectors),
        )
        elsewhere = self._client.elsewhere(
            group.selection.api_version, KINDS[kind].plural, namespace, "there are some", labelSelector=selectors
        )
        return (
            f"no {kind} in namespace {namespace} matches label_selectors {selectors!r}{self._assumed(group.selection)}"
            f"{elsewhere}; fix the selector or the labels, or set allow_empty to accept no match"
        )

    def _assumed(self, selection: Selection) -> str:
        """Return a hint that the user did not name the namespace, "" otherwise."""
        named = self._task.namespace or any(
            target.namespace == selection.namespace for target in self._task.targets if target.kind == selection.kind
        )
        return "" if named else ASSUMED

    def _warn(self, group: WorkloadGroup, verb: str, why: str, instead: str) -> None:
        self.warnings.append(
            f"{KINDS[group.selection.kind].plural} in {group.selection.namespace} cannot be {verb} ({why}), so they are"
            f" {instead} every {self._task.wait_sleep:g} s"
        )


def _selections(task: RolloutTask, default: str) -> list[Selection]:
    namespace = task.namespace or default
    if task.label_selectors:
        return [Selection(task.kind, namespace, task.api_version, selectors=task.label_selectors)]
    return selections_of(task.targets, namespace)
