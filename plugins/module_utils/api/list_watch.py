# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow a collection of the API: one list, then one watch, resumed, and re-listed when the stream stalls or expires.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from ..errors import ApiError, Expired, MaintenanceError, Unreachable
from ..objects import Obj, age_of, mapping_at, version_of
from ..runtime.workers import Pause, Tag, Workers
from .rest import Listing, Rest
from .retry import Retries, backoff
from .transport import ResponseTimeout

# A silent stream may be one that a proxy holds back. Servers send bookmarks about once a minute, so waiting for one
# would trust a dead stream too long; a list each half minute costs little.
MAX_SILENCE = 30.0
# How long the server is asked to keep a stream open.
STREAM_SECONDS = 300
# A watch whose streams end without an event that often in a row is replaced by a new list.
MAX_EMPTY_STREAMS = 3
FIRST_DELAY = 0.5
# Seconds between any two requests of one watch, however many events it sends: some servers end each stream at once.
MIN_DELAY = 0.2
# Watching is not possible: it is forbidden or unknown, or a proxy does not let the method through.
UNWATCHABLE = (403, 404, 405)


class Listed(NamedTuple):
    """All items at a version. versions_reset: versions started over, so known objects may have greater ones."""

    items: list[Obj]
    version: str = ""
    versions_reset: bool = False


class Changed(NamedTuple):
    """One item was ADDED, MODIFIED or DELETED."""

    type: str
    obj: Obj


class Unwatched(NamedTuple):
    """Watching is forbidden; the caller gets periodic lists instead. Yielded once."""

    message: str


Event: TypeAlias = "Listed | Changed | Unwatched"


@dataclass
class Collection:
    """What to follow.

    path, query: of the list; page_size: of its pages; pause: seconds between lists where watching is not possible, and
    the longest delay between watches; keep: trims each item.
    """

    path: str
    query: dict[str, Any] = field(default_factory=dict)
    page_size: int = 500
    pause: float = 5.0
    keep: Callable[[Obj], Obj] = lambda item: item


class Subscription:
    """A collection that is followed beside the main thread, and listed again after errors that may be transient."""

    def __init__(self, workers: Workers, tag: Tag, rest: Rest, what: Collection) -> None:
        self._workers = workers
        self._tag = tag
        self._rest = rest
        self._what = what
        self._retries = Retries()

    def start(self, delay: float = 0.0) -> None:
        """Post events as messages with the tag, after a delay. An error is the last message."""
        before = [Pause(delay)] if delay else []
        self._workers.follow(self._tag, chain(before, self._events()))

    def retry(self, error: MaintenanceError) -> bool:
        """Start again, after a delay; return False for a permanent error and for the last of too many in a row."""
        delay = self._retries.delay_after(error)
        if delay is not None:
            self.start(delay)
        return delay is not None

    def _events(self) -> Iterator[Event | Pause | None]:
        for event in list_and_watch(self._rest, self._what):
            if isinstance(event, Listed):
                self._retries.reset()
            yield event


class _WatchEnd(NamedTuple):
    """Why a new list is due. useful: there were events; delay: seconds before the list; version: the newest one."""

    useful: bool
    delay: float
    version: str


def list_and_watch(rest: Rest, what: Collection) -> Iterator[Event | Pause | None]:
    """Yield the items of a collection and then every change, without end. Raise errors that stay.

    None means that there is nothing just now, Pause when the next request is due.
    """
    watching, version = True, ""
    useless_watches = 0
    while True:
        listing = rest.list(what.path, what.query, what.page_size, what.keep)
        # A list is never older than events before it, except in a cluster that was restored from a backup.
        yield Listed(*listing, versions_reset=0 < age_of(listing.version) < age_of(version))
        version, delay = listing.version, what.pause
        if watching:
            try:
                end = yield from _watch(rest, what, listing)
                # A watch that broke is replaced by a list at once, but not again and again where all of them break.
                useless_watches = 0 if end.useful else useless_watches + 1
                repeated = backoff(useless_watches - 1, FIRST_DELAY, what.pause) if useless_watches > 1 else 0.0
                version, delay = end.version, max(end.delay, repeated)
            except ApiError as exc:
                if exc.status not in UNWATCHABLE:
                    raise
                watching = False
                yield Unwatched(exc.message)
        if delay:
            yield Pause(delay)


def _watch(rest: Rest, what: Collection, listing: Listing) -> Generator[Changed | Pause | None, None, _WatchEnd]:
    """Yield changes since the listing; return when a new list is due."""
    version = listing.version
    empty_streams, useful = 0, False
    while True:
        changed = False
        try:
            for event in rest.stream(what.path, _query(what, version), MAX_SILENCE):
                if event is None:
                    yield None
                    continue
                obj = mapping_at(event, "object")
                before, version = version, version_of(obj) or version
                if event.get("type") in ("ADDED", "MODIFIED", "DELETED"):
                    # A server that repeats an event on each stream has none to send.
                    changed = changed or version != before
                    yield Changed(event["type"], what.keep(obj))
        except ResponseTimeout:
            # The timeout was the delay; re-list at once.
            return _WatchEnd(True, 0.0, version)
        except Expired:
            return _WatchEnd(useful or changed, MIN_DELAY, version)
        except (ApiError, Unreachable) as exc:
            # 400: the list was good a moment ago, so it is the version that the server cannot read.
            if not rest.is_retryable(exc) and getattr(exc, "status", 0) != 400:
                raise
            delay = (exc.retry_after if isinstance(exc, ApiError) else None) or 1.0
            return _WatchEnd(useful or changed, delay, version)
        # The server ended the stream, as it does after a while: resume where it stopped.
        empty_streams, useful = 0 if changed else empty_streams + 1, useful or changed
        if empty_streams >= MAX_EMPTY_STREAMS:
            return _WatchEnd(useful, MIN_DELAY, version)
        yield Pause(backoff(empty_streams, FIRST_DELAY, what.pause) if empty_streams else MIN_DELAY)


def _query(what: Collection, version: str) -> dict[str, Any]:
    query = dict(what.query, watch="true", allowWatchBookmarks="true", timeoutSeconds=STREAM_SECONDS)
    if version:
        # Without one a server would start with every item again; "" must not become "None" or "0".
        query["resourceVersion"] = version
    return query
