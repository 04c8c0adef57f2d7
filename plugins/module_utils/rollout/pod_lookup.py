# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out about the pods of rollouts: list and watch them, tell new from old, ask for events and logs.

Nothing is asked before it is needed, nothing twice, and what may not be read becomes a note instead of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from ..api.list_watch import Changed, Collection, Listed, list_and_watch
from ..api.rest import Rest
from ..api.retry import retry_delay
from ..cluster.workloads import Workloads
from ..errors import ApiError, Forbidden, NotFound, Unauthorized
from ..objects import Obj, controller_of, identity_of, int_field, mapping_at
from ..runtime.workers import Message, Pause, Workers
from ..selectors import selector_text
from .diagnosis import Key, revision_hash, trimmed_pod, workload_key
from .pod_status import Trouble, last_run_is_over
from .viewers import REVISION, revision_of
from .workload import Workload

# Events are asked for again after so many seconds: kubelets repeat theirs about every two minutes.
EVENTS_EVERY = 15.0
# Requests of one kind (events, logs) for one round: enough to explain a failure, few enough for any server. While there
# is time, fewer do.
MAX_EVENTS = 10
FEW_EVENTS = 3
MAX_LOGS = 5

TAGS = ("pods", "newest", "events", "log")


@dataclass
class _Pods:
    """The pods of a namespace, by workload and uid. listed: they have been seen.

    refused: why they could not be seen, "" if they could; for_good: asking again would not help; watched: what is
    followed to know them; doubts: errors in a row.
    """

    found: dict[Key, dict[str, Obj]] = field(default_factory=dict)
    asked: bool = False
    listed: bool = False
    refused: str = ""
    for_good: bool = False
    watched: Collection | None = None
    doubts: int = 0

    def put(self, pod: Obj, gone: bool = False) -> None:
        """Take in a pod as it is now. {} is one of a workload that nobody follows."""
        key = workload_key(pod)
        if key is not None and gone:
            self.found.get(key, {}).pop(identity_of(pod), None)
        elif key is not None:
            self.found.setdefault(key, {})[identity_of(pod)] = pod


@dataclass
class _Events:
    found: list[Obj] = field(default_factory=list)
    at: float = 0.0


class PodLookup:
    """What is known about the pods of some workloads. keys: those workloads; notes: what could not be read."""

    def __init__(self, crew: Workers, rest: Rest, workloads: Workloads, keys: set[Key]) -> None:
        self._crew = crew
        self._rest = rest
        self.workloads = workloads
        self._keys = keys
        self._pods: dict[str, _Pods] = {}
        self._newest: dict[tuple[Any, ...], str | None] = {}
        self._events: dict[str, _Events] = {}
        self._no_events: set[str] = set()
        self._logs: dict[tuple[str, str], str] = {}
        self._open: set[tuple[Any, ...]] = set()
        self.notes: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        """Tell whether an answer is still to come."""
        return bool(self._open)

    def pods_of(self, key: Key) -> list[Obj]:
        """Return the pods of a workload, as far as known."""
        return list(self._place(key[1]).found.get(key, {}).values())

    def refused(self, namespace: str) -> str:
        """Return why the pods of a namespace cannot be read, "" if they can or were not asked for."""
        return self._place(namespace).refused

    def listed(self, namespace: str) -> bool:
        """Tell whether the pods of a namespace have been seen."""
        return self._place(namespace).listed

    def try_again(self, workloads: Workloads) -> None:
        """Ask through another dialogue from now on, also for what failed for another reason than missing rights."""
        self.workloads = workloads
        for place in self._pods.values():
            if place.refused and not place.for_good:
                place.asked, place.refused = False, ""

    def want_pods(self, namespace: str, followed: Iterable[Workload], watch: bool) -> None:
        """Ask for the pods of a namespace; watch: and for every change from then on."""
        place = self._place(namespace)
        if place.asked or place.refused:
            return
        place.asked = True
        # One workload's pods are few, whatever else is in the namespace.
        selectors = {selector_text(mapping_at(one.obj, "spec").get("selector")) for one in followed}
        what = self.workloads.pods_collection(namespace, selectors.pop() if len(selectors) == 1 else "", self._keep)
        tag = ("pods", namespace)
        self._open.add(tag)
        if watch:
            place.watched = what
            self._crew.follow(tag, list_and_watch(self._rest, what))
        else:
            self._crew.start(tag, lambda: Listed(self.workloads.listed(what)))

    def take(self, message: Message, now: float) -> None:
        """Take in an answer to one of the questions that TAGS name."""
        self._open.discard(message.tag)
        kind, about = message.tag[0], message.tag[1:]
        if kind == "pods":
            self._pod_news(about[0], message)
        elif kind == "newest":
            self._newest[about] = message.value
            self._note(message, "%ss in %s" % (about[0], about[1]))
        elif kind == "events":
            self._events[about[1]] = _Events(message.value or [], now)
            if self._note(message, "events in %s" % about[0]):
                self._no_events.add(about[0])
        else:
            self._logs[about[1], about[2]] = message.value or ""
            self._note(message, "logs in %s" % about[0])

    def is_new(self, followed: Workload, pod: Obj, ask: bool) -> bool | None:
        """Tell whether a pod is of the workload's new revision; None while that is not known. ask: find out."""
        kind, namespace, name = followed.target.kind, followed.target.namespace, followed.target.name
        if kind == "StatefulSet":
            return revision_hash(pod) == mapping_at(followed.obj, "status").get("updateRevision")
        if kind == "DaemonSet":
            generation = int_field(mapping_at(followed.obj, "metadata").get("generation"))
            about: tuple[Any, ...] = ("ControllerRevision", namespace, name, generation)
            newest = self._answer(about, ask, lambda: self.workloads.newest_hash(followed.obj))
            return None if newest is None else newest == revision_hash(pod)
        running = str(revision_of(followed.obj) or "")
        owner = str((controller_of(pod) or {}).get("name") or "")
        about = ("ReplicaSet", namespace, owner, running)
        found = self._answer(about, ask, lambda: self.workloads.replica_set_revision(namespace, owner, REVISION))
        return None if found is None else found == running

    def events(self, namespace: str, uid: str, now: float, most: int = 0) -> list[Obj]:
        """Return the events about an object, as far as known.

        most: find out, unless they were asked for just now, or so many others in this round.
        """
        known = self._events.get(uid)
        tag = ("events", namespace, uid)
        fresh = known is not None and now - known.at < EVENTS_EVERY
        settled = fresh or tag in self._open or namespace in self._no_events
        if not settled and self._recent_events(now) < most:
            self._start(tag, partial(self.workloads.events_about, namespace, uid))
        return known.found if known is not None else []

    def log(self, pod: Obj, trouble: Trouble, ask: bool) -> str:
        """Return the last lines that the container at fault wrote, as far as known."""
        about = (identity_of(pod), trouble.container)
        if ask and trouble.logged and about not in self._logs and len(self._logs) < MAX_LOGS:
            namespace = str(mapping_at(pod, "metadata").get("namespace"))
            self._logs[about] = ""
            previous = last_run_is_over(pod, trouble.container)
            self._start(("log", namespace, *about), lambda: self._read_log(pod, trouble.container, previous))
        return self._logs.get(about, "")

    def _read_log(self, pod: Obj, container: str, previous: bool) -> str:
        try:
            return self.workloads.last_log(pod, container, previous)
        except Forbidden:
            raise
        except ApiError:
            # The run before may have been cleaned away; what there is now tells something, too.
            return self.workloads.last_log(pod, container, False) if previous else ""

    def _recent_events(self, now: float) -> int:
        under_way = sum(tag[0] == "events" for tag in self._open)
        return int(under_way) + len([known for known in self._events.values() if now - known.at < EVENTS_EVERY])

    def _answer(self, about: tuple[Any, ...], ask: bool, job: Callable[[], str]) -> str | None:
        tag = ("newest", *about)
        if ask and about not in self._newest and tag not in self._open:
            self._start(tag, job)
        return self._newest.get(about)

    def _start(self, tag: tuple[Any, ...], job: Callable[[], Any]) -> None:
        self._open.add(tag)
        self._crew.start(tag, job)

    def _place(self, namespace: str) -> _Pods:
        return self._pods.setdefault(namespace, _Pods())

    def _keep(self, pod: Obj) -> Obj:
        return trimmed_pod(pod) if workload_key(pod) in self._keys else {}

    def _pod_news(self, namespace: str, message: Message) -> None:
        place, news = self._place(namespace), message.value
        if message.error is not None and self._followed_anew(place, message):
            return
        if message.error is not None:
            place.refused, place.for_good = message.error.message, self._note(message, "pods in %s" % namespace)
        elif isinstance(news, Listed):
            place.listed, place.refused, place.found, place.doubts = True, "", {}, 0
            self.notes.pop("pods in %s" % namespace, None)
            for pod in news.items:
                place.put(pod)
        elif isinstance(news, Changed):
            place.put(news.obj, news.type == "DELETED")

    def _followed_anew(self, place: _Pods, message: Message) -> bool:
        """Follow pods on after an error in the middle; tell whether there is hope. A right may be missing for good."""
        place.doubts += 1
        pause = retry_delay(message.error, place.doubts) if message.error is not None else None
        # Of a server that has shown workloads it is not to be believed that it has no pods, or knows not who asks.
        hope = place.listed or isinstance(message.error, (NotFound, Unauthorized))
        if place.watched is None or pause is None or not hope:
            return False
        if not place.listed:
            self._open.add(message.tag)
        self._crew.follow(message.tag, chain([Pause(pause)], list_and_watch(self._rest, place.watched)))
        return True

    def _note(self, message: Message, what: str) -> bool:
        """Note that something could not be read; tell whether it never can."""
        if message.error is None:
            return False
        self.notes[what] = "%s cannot be read (%s)" % (what, message.error.message)
        return isinstance(message.error, Forbidden)
