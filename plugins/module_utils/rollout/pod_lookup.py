# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request what is known about the pods of workloads: list and watch them, read their revisions, events and logs.

Nothing is requested before it is needed, nothing twice, and what may not be read becomes a note instead of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

from ..api.list_watch import Changed, Collection, Listed, list_and_watch
from ..api.rest import Rest
from ..api.retry import Retries
from ..cluster.workloads import Workloads
from ..errors import ApiError, Forbidden, MaintenanceError, NotFound, Unauthorized
from ..objects import Obj, controller_of, identity_of, int_field, mapping_at
from ..runtime.workers import Message, Pause, Workers
from ..selectors import selector_text
from .pod_status import Problem, last_run_is_over
from .viewers import REVISION, revision_of
from .workload import Workload
from .workload_status import Key, revision_hash, trimmed_pod, workload_key

# Seconds until events are requested again: kubelets repeat theirs about every two minutes.
EVENTS_INTERVAL = 15.0
# Requests for events in one interval, and for logs: enough to explain a failure, few enough for any server. During the
# wait, fewer events suffice.
MAX_EVENTS = 10
FEW_EVENTS = 3
MAX_LOGS = 5

TAGS = ("pods", "newest", "events", "log")


@dataclass
class _Pods:
    """The pods of a namespace, by workload and uid.

    requested: a list or watch was started; error: why they could not be listed, "" if they could; permanent: another
    try would not help; watched: the collection that is watched, if it is.
    """

    found: dict[Key, dict[str, Obj]] = field(default_factory=dict)
    requested: bool = False
    listed: bool = False
    error: str = ""
    permanent: bool = False
    watched: Collection | None = None
    retries: Retries = field(default_factory=Retries)

    def put(self, pod: Obj, deleted: bool = False) -> None:
        """Store a pod, or remove it. {} is a pod of another workload."""
        key = workload_key(pod)
        if key is not None and deleted:
            self.found.get(key, {}).pop(identity_of(pod), None)
        elif key is not None:
            self.found.setdefault(key, {})[identity_of(pod)] = pod


@dataclass
class _Events:
    found: list[Obj] = field(default_factory=list)
    at: float = 0.0


class PodLookup:
    """What is known about the pods of some workloads. keys: those workloads; notes: what could not be read."""

    def __init__(self, workers: Workers, rest: Rest, client: Workloads, keys: set[Key]) -> None:
        self._workers = workers
        self._rest = rest
        self._client = client
        self._keys = keys
        self._pods: dict[str, _Pods] = {}
        self._newest: dict[tuple[Any, ...], str | None] = {}
        self._events: dict[str, _Events] = {}
        self._no_events: set[str] = set()
        self._logs: dict[tuple[str, str], str] = {}
        self._in_flight: set[tuple[Any, ...]] = set()
        self.notes: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        """Return whether a response is still to come."""
        return bool(self._in_flight)

    def pods_of(self, key: Key) -> list[Obj]:
        """Return the pods of a workload, as far as known."""
        return list(self._pods_in(key[1]).found.get(key, {}).values())

    def pods_error(self, namespace: str) -> str:
        """Return why the pods of a namespace cannot be read, "" if they can or were not requested."""
        return self._pods_in(namespace).error

    def listed(self, namespace: str) -> bool:
        """Return whether the pods of a namespace were listed."""
        return self._pods_in(namespace).listed

    def use_client(self, client: Workloads) -> None:
        """Send requests through another client from now on, also those that did not fail for good."""
        self._client = client
        for pods in self._pods.values():
            if pods.error and not pods.permanent:
                pods.requested, pods.error = False, ""

    def request_pods(self, namespace: str, members: Iterable[Workload], watch: bool) -> None:
        """List the pods of a namespace, once; watch: and watch them from then on."""
        pods = self._pods_in(namespace)
        if pods.requested or pods.error:
            return
        pods.requested = True
        # One workload's pods are few, whatever else is in the namespace.
        selectors = {selector_text(mapping_at(member.obj, "spec").get("selector")) for member in members}
        collection = self._client.pods_collection(namespace, selectors.pop() if len(selectors) == 1 else "", self._keep)
        tag = ("pods", namespace)
        self._in_flight.add(tag)
        if watch:
            pods.watched = collection
            self._workers.follow(tag, list_and_watch(self._rest, collection))
        else:
            self._workers.start(tag, lambda: Listed(self._client.listed(collection)))

    def on_message(self, message: Message, now: float) -> None:
        """Handle a response to one of the requests that TAGS name."""
        self._in_flight.discard(message.tag)
        kind, about = message.tag[0], message.tag[1:]
        if kind == "pods":
            self._on_pods(about[0], message)
        elif kind == "newest":
            self._newest[about] = message.value
            self._note_error(message, f"{about[0]}s in {about[1]}")
        elif kind == "events":
            self._events[about[1]] = _Events(message.value or [], now)
            if self._note_error(message, f"events in {about[0]}"):
                self._no_events.add(about[0])
        else:
            self._logs[about[1], about[2]] = message.value or ""
            self._note_error(message, f"logs in {about[0]}")

    def is_new(self, member: Workload, pod: Obj, fetch: bool) -> bool | None:
        """Return whether a pod is of the new revision; None while that is not known. fetch: request what decides it."""
        kind, namespace, name = member.target.kind, member.target.namespace, member.target.name
        if kind == "StatefulSet":
            return revision_hash(pod) == mapping_at(member.obj, "status").get("updateRevision")
        if kind == "DaemonSet":
            generation = int_field(mapping_at(member.obj, "metadata").get("generation"))
            about: tuple[Any, ...] = ("ControllerRevision", namespace, name, generation)
            newest = self._cached(about, fetch, lambda: self._client.newest_hash(member.obj))
            return None if newest is None else newest == revision_hash(pod)
        running = str(revision_of(member.obj) or "")
        owner = str((controller_of(pod) or {}).get("name") or "")
        about = ("ReplicaSet", namespace, owner, running)
        found = self._cached(about, fetch, lambda: self._client.replica_set_revision(namespace, owner, REVISION))
        return None if found is None else found == running

    def events(self, namespace: str, uid: str, now: float, limit: int = 0) -> list[Obj]:
        """Return the events about an object, as far as known.

        limit: request them, unless that was done just now, or for that many objects in this interval.
        """
        known = self._events.get(uid)
        tag = ("events", namespace, uid)
        fresh = known is not None and now - known.at < EVENTS_INTERVAL
        skip = fresh or tag in self._in_flight or namespace in self._no_events
        if not skip and self._recent_events(now) < limit:
            self._start(tag, partial(self._client.events_about, namespace, uid))
        return known.found if known is not None else []

    def log(self, pod: Obj, problem: Problem, fetch: bool) -> str:
        """Return the last lines that the failing container wrote, as far as known."""
        about = (identity_of(pod), problem.container)
        if fetch and problem.has_log and about not in self._logs and len(self._logs) < MAX_LOGS:
            namespace = str(mapping_at(pod, "metadata").get("namespace"))
            self._logs[about] = ""
            previous = last_run_is_over(pod, problem.container)
            self._start(("log", namespace, *about), lambda: self._read_log(pod, problem.container, previous))
        return self._logs.get(about, "")

    def _read_log(self, pod: Obj, container: str, previous: bool) -> str:
        try:
            return self._client.last_log(pod, container, previous)
        except Forbidden:
            raise
        except ApiError:
            # The log of the previous run may have been removed; that of the current one helps, too.
            return self._client.last_log(pod, container, False) if previous else ""

    def _recent_events(self, now: float) -> int:
        in_flight = [tag for tag in self._in_flight if tag[0] == "events"]
        return len(in_flight) + sum(now - known.at < EVENTS_INTERVAL for known in self._events.values())

    def _cached(self, about: tuple[Any, ...], fetch: bool, job: Callable[[], str]) -> str | None:
        tag = ("newest", *about)
        if fetch and about not in self._newest and tag not in self._in_flight:
            self._start(tag, job)
        return self._newest.get(about)

    def _start(self, tag: tuple[Any, ...], job: Callable[[], Any]) -> None:
        self._in_flight.add(tag)
        self._workers.start(tag, job)

    def _pods_in(self, namespace: str) -> _Pods:
        return self._pods.setdefault(namespace, _Pods())

    def _keep(self, pod: Obj) -> Obj:
        return trimmed_pod(pod) if workload_key(pod) in self._keys else {}

    def _on_pods(self, namespace: str, message: Message) -> None:
        pods, event, about = self._pods_in(namespace), message.value, f"pods in {namespace}"
        if message.error is not None:
            if not self._on_watch_error(pods, message.tag, message.error):
                pods.error, pods.permanent = message.error.message, self._note_error(message, about)
        elif isinstance(event, Listed):
            pods.listed, pods.error, pods.found = True, "", {}
            pods.retries.reset()
            self.notes.pop(about, None)
            for pod in event.items:
                pods.put(pod)
        elif isinstance(event, Changed):
            pods.put(event.obj, event.type == "DELETED")

    def _on_watch_error(self, pods: _Pods, tag: tuple[Any, ...], error: MaintenanceError) -> bool:
        """Watch pods again after an error that may be transient; return whether it may be."""
        delay = pods.retries.delay_after(error)
        # The server has returned workloads, so a 404 or a 401 is suspect.
        may_be_transient = pods.listed or isinstance(error, (NotFound, Unauthorized))
        if pods.watched is None or delay is None or not may_be_transient:
            return False
        if not pods.listed:
            self._in_flight.add(tag)
        self._workers.follow(tag, chain([Pause(delay)], list_and_watch(self._rest, pods.watched)))
        return True

    def _note_error(self, message: Message, what: str) -> bool:
        """Note that something could not be read; return whether a right is missing, so that it never can."""
        if message.error is None:
            return False
        self.notes[what] = f"{what} cannot be read ({message.error.message})"
        return isinstance(message.error, Forbidden)
