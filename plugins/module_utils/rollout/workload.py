# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow the rollouts of some workloads. Takes in what was heard, says what is to be looked at; asks nobody."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..api.list_watch import Changed, Listed
from ..errors import MaintenanceError
from ..objects import Obj, age_of, int_field, mapping_at, name_of, uid_of, version_of
from .targets import Group, Target
from .viewers import View, figures, is_observed, view

# A passed progress deadline that is the first thing seen of a generation may be left over from the one before
# (https://github.com/kubernetes/kubernetes/issues/49637). Controllers set that right at once.
CONFIRM = 2.0


@dataclass(frozen=True)
class Semantics:
    """How all workloads of a task are judged. revision: 0 for any; apart: seconds between looks where none watches."""

    revision: int = 0
    strict: bool = False
    apart: float = 5.0


@dataclass
class Workload:
    """One workload.

    lines: what kubectl prints, each change once; failure: why its rollout failed, "" if it did not; changed_at: when
    its rollout last moved; look_at: when it is to be looked at by itself, None if news come without; apart: it is
    looked at again and again, because no list and no watch shows it; doubts: looks in a row that failed; late: its
    progress deadline is what failed it.
    """

    target: Target
    manner: Semantics
    obj: Obj = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    failure: str = ""
    done: bool = False
    complete: bool = False
    changed_at: float = 0.0
    look_at: float | None = None
    looking: bool = False
    apart: bool = False
    held: str = ""
    late: bool = False
    doubts: int = 0
    _told: View = field(default_factory=lambda: View(""))
    _doubted_at: float | None = None
    _trusted: int = -1
    _moved: object = None
    _asked_at: int = 0

    @property
    def known(self) -> bool:
        """Tell whether it has been seen at all."""
        return bool(self.obj)

    @property
    def over(self) -> bool:
        """Tell whether there is nothing more to wait for."""
        return self.done or bool(self.failure)

    @property
    def stuck(self) -> bool:
        """Tell whether its pods may say why it is not complete."""
        return self.known and not self.done and (self.late or not self.failure)

    @property
    def message(self) -> str:
        """Return the last line."""
        return self.lines[-1] if self.lines else ""

    @property
    def unsettled(self) -> bool:
        """Tell whether it is complete by its figures, and what its pods say is not known yet."""
        return self.complete and self.held == "?" and not self.over

    @property
    def doubtful(self) -> bool:
        """Tell whether it seems to have failed, and a second look is still to confirm it."""
        return self._doubted_at is not None and not self.over

    def take(self, obj: Obj, now: float, anew: bool = False) -> None:
        """Take in the object as it was seen. What has no spec is none, and without one nothing would seem missing.

        anew: versions have begun anew, as they do when etcd is restored, so a smaller one is not an older one.
        """
        if self.over or (self._outdated(obj) and not anew) or not mapping_at(obj, "spec"):
            return
        if self.known and uid_of(obj) != uid_of(self.obj):
            # A watch may offer what was deleted long ago, so only a look of its own decides.
            self.look_at = now
            return
        self.obj = obj
        self._note_movement(now)
        found = view(self.target.kind, obj, self.manner.revision, self.manner.strict)
        self.look_at = now + self.manner.apart if self.apart else None
        if found.doubtful and self._trusted != self._generation:
            self._doubted_at = now if self._doubted_at is None else self._doubted_at
            if now < self._doubted_at + CONFIRM:
                self.look_at = self._doubted_at + CONFIRM
                return
        self._doubted_at = None
        if is_observed(obj):
            self._trusted = self._generation
        self._told = found
        self.failure, self.late = found.failure, found.doubtful
        # With strict semantics, what the pods say is still to come.
        self.settle("?" if self.manner.strict else "")

    def settle(self, held: str) -> None:
        """Say the line of the last view, or what holds back a rollout that is complete by its figures.

        held: a line about pods that are still to go (semantics strict), "?" while that is not known.
        """
        self.held = held
        self.complete = self._told.done
        self.done = self._told.done and not held
        line = held if self._told.done and held else self._told.message
        if line and line != "?" and line != self.message:
            self.lines.append(line)

    def begin_look(self) -> None:
        """Note that a look at this one workload is under way, and what was known before it."""
        self.looking, self._asked_at = True, age_of(version_of(self.obj))

    def looked(self, obj: Obj | None, now: float) -> None:
        """Take in a look at this one workload; None: there is none of that name."""
        self.look_at, self.looking, self.doubts = (now + self.manner.apart if self.apart else None), False, 0
        if self.over:
            return
        if obj is None:
            self.failure = "it was deleted while its rollout was followed" if self.known else ""
        elif self.known and uid_of(obj) != uid_of(self.obj):
            self.failure = "it was deleted, and another one was created under its name, while its rollout was followed"
        else:
            # What is asked for later is not older, unless versions have begun anew.
            self.take(obj, now, anew=0 < age_of(version_of(obj)) < self._asked_at)

    def not_looked(self, why: str, again: float | None, now: float) -> None:
        """Take in that a look failed. again: after how many seconds to look again, None: what was heard counts."""
        self.look_at, self.looking = (None if again is None else now + again), False
        if again is None and self.doubtful:
            self.take(self.obj, now)
        elif again is None and not self.over:
            self.failure = "it is not listed any more, and cannot be read: " + why

    def vanished(self, now: float) -> None:
        """Take in that a list or a watch does not show it any more, which a look must confirm.

        It may also have left the label selector: then it is followed by looks.
        """
        if not self.over:
            self.look_at, self.apart = now, True

    @property
    def _generation(self) -> int:
        return int_field(mapping_at(self.obj, "metadata").get("generation"))

    def _outdated(self, obj: Obj) -> bool:
        """Tell whether an object is older than what was seen: a resumed watch or another server may be behind."""
        return uid_of(obj) == uid_of(self.obj) and 0 < age_of(version_of(obj)) < age_of(version_of(self.obj))

    def _note_movement(self, now: float) -> None:
        moved = figures(self.target.kind, self.obj), mapping_at(self.obj, "status").get("replicas")
        if moved != self._moved:
            self._moved, self.changed_at = moved, now


@dataclass
class WorkloadGroup:
    """The workloads of one group, in the order in which kubectl would go through them.

    seen: the first look at all of them is over; missing: names that do not exist; refused: why one cannot be
    looked at; alone: nothing shows all of them at once, so each is looked at; doubts: errors in a row.
    """

    group: Group
    manner: Semantics
    members: dict[str, Workload] = field(default_factory=dict)
    seen: bool = False
    missing: list[str] = field(default_factory=list)
    refused: dict[str, MaintenanceError] = field(default_factory=dict)
    alone: bool = False
    doubts: int = 0

    def __post_init__(self) -> None:
        for name in self.group.names:
            self._add(name)

    def _add(self, name: str) -> Workload:
        return self.members.setdefault(name, Workload(self.group.target(name), self.manner))

    def take(self, news: Listed | Changed, now: float) -> None:
        """Take in a list of the group or a change in it."""
        if isinstance(news, Listed):
            self._list(news, now)
            return
        followed = self.members.get(name_of(news.obj))
        if followed is not None and news.type != "DELETED":
            followed.take(news.obj, now)
        elif followed is not None and uid_of(news.obj) == uid_of(followed.obj):
            followed.vanished(now)

    def _list(self, news: Listed, now: float) -> None:
        found = {name_of(obj): obj for obj in news.items if obj}
        for name in [] if self.seen or self.group.names else found:
            self._add(name)
        for name, followed in self.members.items():
            if name in found:
                # What a list shows that is newer than what is known is so, whatever its own version.
                later = age_of(news.version) >= age_of(version_of(followed.obj))
                followed.take(found[name], now, news.versions_reset or later)
            elif followed.known:
                followed.vanished(now)
            elif not self.seen:
                self.missing.append(name)
        self.seen = True

    def go_alone(self, now: float) -> None:
        """Follow each workload by looks of its own from now on."""
        self.alone = True
        for followed in self.members.values():
            followed.vanished(now)

    def looked(self, name: str, obj: Obj | None, now: float) -> None:
        """Take in a look at one workload."""
        followed = self.members[name]
        if obj is None and not followed.known and name not in self.missing:
            self.missing.append(name)
        followed.looked(obj, now)
        self._see_alone()

    def refuse(self, name: str, error: MaintenanceError) -> None:
        """Take in that one workload cannot be read, usually for want of a right."""
        self.refused[name], self.members[name].failure = error, "it cannot be read: " + error.message
        self.members[name].looking = False
        self._see_alone()

    def _see_alone(self) -> None:
        judged = set(self.missing) | self.refused.keys()
        if self.alone:
            self.seen = all(member.known or name in judged for name, member in self.members.items())
