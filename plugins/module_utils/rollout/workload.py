# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of workloads whose rollouts are waited for. Handles what was read and says what to read; sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..api.list_watch import Changed, Listed
from ..api.retry import Retries
from ..errors import MaintenanceError
from ..objects import Obj, age_of, int_field, mapping_at, name_of, uid_of, version_of
from .targets import Selection, Target
from .viewers import View, figures, is_observed, view

# An exceeded progress deadline in the first status of a generation may be left over from the one before
# (https://github.com/kubernetes/kubernetes/issues/49637). Controllers correct that at once.
CONFIRM_SECONDS = 2.0


@dataclass(frozen=True)
class Semantics:
    """When a rollout of the task is complete. revision: 0 for any; poll_interval: seconds, where nothing is watched."""

    revision: int = 0
    strict: bool = False
    poll_interval: float = 5.0


@dataclass
class Workload:
    """One workload.

    lines: what kubectl prints, each change once; failure: why its rollout failed, "" if it did not; complete: its
    counts are; pods_line: the line about pods that must still go (semantics strict), None while that is not known;
    changed_at: when its rollout last made progress; read_at: when to read it by itself, None if a list or a watch
    shows it; reading: such a request is in flight; polled: no list and no watch shows it; deadline_exceeded: its
    progress deadline is what failed it.
    """

    target: Target
    semantics: Semantics
    obj: Obj = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    failure: str = ""
    done: bool = False
    complete: bool = False
    pods_line: str | None = ""
    changed_at: float = 0.0
    read_at: float | None = None
    reading: bool = False
    polled: bool = False
    deadline_exceeded: bool = False
    retries: Retries = field(default_factory=Retries)
    _view: View = field(default_factory=lambda: View(""))
    _unconfirmed_since: float | None = None
    _confirmed_generation: int = -1
    _counts: object = None
    _age_before_read: int = 0

    @property
    def known(self) -> bool:
        """Return whether it was read at least once."""
        return bool(self.obj)

    @property
    def finished(self) -> bool:
        """Return whether there is nothing more to wait for."""
        return self.done or bool(self.failure)

    @property
    def stuck(self) -> bool:
        """Return whether its pods may explain why it is not complete."""
        return self.known and not self.done and (self.deadline_exceeded or not self.failure)

    @property
    def message(self) -> str:
        """Return the last line."""
        return self.lines[-1] if self.lines else ""

    @property
    def needs_pods(self) -> bool:
        """Return whether its counts are complete, and its pods are still to be checked."""
        return self.complete and self.pods_line is None and not self.finished

    @property
    def unconfirmed(self) -> bool:
        """Return whether it seems to have failed, and another read has to confirm that."""
        return self._unconfirmed_since is not None and not self.finished

    def update(self, obj: Obj, now: float, versions_reset: bool = False) -> None:
        """Handle a state of the object. Ignore objects without a spec: they would look complete.

        versions_reset: resourceVersions started again, as after a restore of etcd, so a smaller one is not older.
        """
        if self.finished or (self._is_outdated(obj) and not versions_reset) or not mapping_at(obj, "spec"):
            return
        if self.known and uid_of(obj) != uid_of(self.obj):
            # A watch may replay what was deleted long ago, so only a read of its own decides.
            self.read_at = now
            return
        self.obj = obj
        self._note_progress(now)
        found = view(self.target.kind, obj, self.semantics.revision, self.semantics.strict)
        self.read_at = self._next_poll(now)
        if found.may_be_stale and self._confirmed_generation != self._generation:
            self._unconfirmed_since = now if self._unconfirmed_since is None else self._unconfirmed_since
            if now < self._unconfirmed_since + CONFIRM_SECONDS:
                self.read_at = self._unconfirmed_since + CONFIRM_SECONDS
                return
        self._unconfirmed_since = None
        if is_observed(obj):
            self._confirmed_generation = self._generation
        self._view = found
        self.failure, self.deadline_exceeded = found.failure, found.may_be_stale
        self.set_pods_line(None if self.semantics.strict else "")

    def set_pods_line(self, line: str | None) -> None:
        """Decide with the last view and the pods whether the rollout is done, and add the line that says so."""
        self.pods_line = line
        self.complete = self._view.done
        self.done = self._view.done and line == ""
        shown = self._view.message if self.done or not self._view.done else line
        if shown and shown != self.message:
            self.lines.append(shown)

    def on_read_started(self) -> None:
        """Note that a request for this one workload is in flight, and the version known before it."""
        self.reading, self._age_before_read = True, age_of(version_of(self.obj))

    def on_read(self, obj: Obj | None, now: float) -> None:
        """Handle the response to a request for this one workload; None: it does not exist."""
        self.read_at, self.reading = self._next_poll(now), False
        self.retries.reset()
        if self.finished:
            return
        if obj is None:
            self.failure = "it was deleted during the wait for its rollout" if self.known else ""
        elif self.known and uid_of(obj) != uid_of(self.obj):
            self.failure = "it was deleted and created again under its name during the wait for its rollout"
        else:
            # What is requested later is not older, unless resourceVersions started again.
            self.update(obj, now, versions_reset=0 < age_of(version_of(obj)) < self._age_before_read)

    def on_read_error(self, why: str, retry_in: float | None, now: float) -> None:
        """Handle a request that failed. retry_in: seconds until the next one; None: decide by what is known."""
        self.read_at, self.reading = (None if retry_in is None else now + retry_in), False
        if retry_in is None and self.unconfirmed:
            self.update(self.obj, now)
        elif retry_in is None and not self.finished:
            self.failure = f"it is not listed any more, and cannot be read: {why}"

    def on_gone(self, now: float) -> None:
        """Handle that a list or a watch does not show it any more, which a read must confirm.

        It may also have lost the labels that were selected: then it is polled.
        """
        if not self.finished:
            self.read_at, self.polled = now, True

    @property
    def _generation(self) -> int:
        return int_field(mapping_at(self.obj, "metadata").get("generation"))

    def _next_poll(self, now: float) -> float | None:
        return now + self.semantics.poll_interval if self.polled else None

    def _is_outdated(self, obj: Obj) -> bool:
        """Return whether an object is older than the known one: a resumed watch or another server may lag behind."""
        return uid_of(obj) == uid_of(self.obj) and 0 < age_of(version_of(obj)) < age_of(version_of(self.obj))

    def _note_progress(self, now: float) -> None:
        counts = figures(self.target.kind, self.obj), mapping_at(self.obj, "status").get("replicas")
        if counts != self._counts:
            self._counts, self.changed_at = counts, now


@dataclass
class WorkloadGroup:
    """The workloads of one selection, in the order in which kubectl would go through them.

    synced: each was read or found missing; missing: names that do not exist; unreadable: names that may not be read,
    and why; polled: they cannot be listed, so each is read by itself.
    """

    selection: Selection
    semantics: Semantics
    members: dict[str, Workload] = field(default_factory=dict)
    synced: bool = False
    missing: list[str] = field(default_factory=list)
    unreadable: dict[str, MaintenanceError] = field(default_factory=dict)
    polled: bool = False
    retries: Retries = field(default_factory=Retries)

    def __post_init__(self) -> None:
        for name in self.selection.names:
            self._add(name)

    def _add(self, name: str) -> None:
        self.members.setdefault(name, Workload(self.selection.target(name), self.semantics))

    def on_watch_event(self, event: Changed, now: float) -> None:
        """Handle a change of one object of the group."""
        member = self.members.get(name_of(event.obj))
        if member is not None and event.type != "DELETED":
            member.update(event.obj, now)
        elif member is not None and uid_of(event.obj) == uid_of(member.obj):
            member.on_gone(now)

    def on_list(self, listing: Listed, now: float) -> None:
        """Handle a list of the group."""
        found = {name_of(obj): obj for obj in listing.items if obj}
        for name in [] if self.synced or self.selection.names else found:
            self._add(name)
        for name, member in self.members.items():
            if name in found:
                # A list that is newer than the known object is right, whatever the object's own version.
                newer = age_of(listing.version) >= age_of(version_of(member.obj))
                member.update(found[name], now, listing.versions_reset or newer)
            elif member.known:
                member.on_gone(now)
            elif not self.synced:
                self.missing.append(name)
        self.synced = True

    def start_polling(self, now: float) -> None:
        """Read each workload by itself from now on."""
        self.polled = True
        for member in self.members.values():
            member.on_gone(now)

    def on_read(self, name: str, obj: Obj | None, now: float) -> None:
        """Handle the response to a request for one workload."""
        member = self.members[name]
        if obj is None and not member.known and name not in self.missing:
            self.missing.append(name)
        member.on_read(obj, now)
        self._update_synced()

    def on_unreadable(self, name: str, error: MaintenanceError) -> None:
        """Handle that one workload cannot be read, usually because a right is missing."""
        self.unreadable[name], self.members[name].failure = error, f"it cannot be read: {error.message}"
        self.members[name].reading = False
        self._update_synced()

    def _update_synced(self) -> None:
        if self.polled:
            judged = {*self.missing, *self.unreadable}
            self.synced = all(member.known or name in judged for name, member in self.members.items())
