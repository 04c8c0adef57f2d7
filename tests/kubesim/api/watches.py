# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of past events, and streams of watch events made from it."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..agenda import Agenda, Handle
from ..errors import ApiStatus, expired
from ..objects import Object, encoded
from ..store import Store

BOOKMARK_SECONDS = 60.0
BEFORE_TIMEOUT = 2.0  # a last bookmark is sent this long before the stream ends, when it lives longer than that
SHORTEST_STREAM = 1800.0  # without timeoutSeconds the API server ends a watch after 1800 s to 3600 s

Filter = Callable[[Object], bool]
Encode = Callable[[Object], bytes]


class Event(NamedTuple):
    """One change of the store."""

    version: int
    type: str
    new: Object
    old: Object | None


class History:
    """Remember the last `window` events, so that watches can begin in the past and pages show one state."""

    def __init__(self, store: Store, window: int) -> None:
        self.floor = store.resource_version  # the oldest version from which nothing is missing
        self._store = store
        self._events: deque[Event] = deque()
        self._window = window
        self._streams: list[WatchStream] = []
        store.subscribe(self._record)

    def since(self, version: int) -> list[Event]:
        """Return the events after `version`; ApiStatus 410 when some of them are forgotten."""
        if version < self.floor:
            raise expired(f"too old resource version: {version} ({self.floor})")
        newer: list[Event] = []
        for event in reversed(self._events):
            if event.version <= version:
                break
            newer.append(event)
        newer.reverse()
        return newer

    def state_at(self, kind: str, namespace: str | None, version: int) -> list[Object]:
        """Return the objects of a kind as they were at `version`, sorted; ApiStatus 410 when that is too long ago."""
        state = {_key(obj): obj for obj in self._store.list(kind, namespace)}
        for event in reversed(self.since(version)):
            if event.new["kind"] != kind or (
                namespace is not None and event.new["metadata"].get("namespace") != namespace
            ):
                continue
            if event.old is None:
                state.pop(_key(event.new), None)
            else:
                state[_key(event.old)] = event.old
        return [state[key] for key in sorted(state, key="/".join)]

    def shrink(self, window: int) -> None:
        """Keep only the last `window` events from now on."""
        self._window = window
        self._forget()

    def restart(self) -> None:
        """Forget all events, begin with the version of now. Open streams stay at the version that they were at."""
        self._events.clear()
        self.floor = self._store.resource_version
        for stream in self.open_streams():
            stream.after_version = max(stream.after_version, stream.last_version)

    def attach(self, stream: WatchStream) -> None:
        """Feed `stream` with every event until it is closed."""
        self._streams.append(stream)

    def close_streams(self) -> None:
        """End every open stream."""
        for stream in self.open_streams():
            stream.end()

    def open_streams(self) -> list[WatchStream]:
        """Return the watches that have not ended."""
        return [stream for stream in self._streams if not stream.closed]

    def _record(self, type_: str, new: Object, old: Object | None) -> None:
        event = Event(int(new["metadata"]["resourceVersion"]), type_, new, old)
        self._events.append(event)
        self._forget()
        if any(stream.closed for stream in self._streams):
            self._streams = [stream for stream in self._streams if not stream.closed]
        for stream in self._streams:
            stream.offer(event)

    def _forget(self) -> None:
        while len(self._events) > self._window:
            self.floor = self._events.popleft().version


class WatchStream:
    """Events of one watch as JSON lines."""

    def __init__(self, agenda: Agenda, kind: str, is_selected: Filter, encode: Encode) -> None:
        self.closed = False
        self.on_ready: Callable[[], None] | None = None
        self.limit: tuple[str, int] | None = (
            None  # a fault and the number of events before it ("silent" | "end" | "expire", n)
        )
        self.swallow = 0  # a fault: the number of events still to be lost
        self.after_version = 0
        self.last_version = 0  # the version of the last event
        self._agenda = agenda
        self._kind = kind
        self._is_selected = is_selected
        self._encode = encode
        self._lines: list[bytes] = []
        self._timers: list[Handle] = []
        self._silent = False

    def poll(self) -> list[bytes]:
        """Return the lines that are ready now, each with its newline."""
        lines, self._lines = self._lines, []
        return lines

    def close(self) -> None:
        """End it from the client's side."""
        self.end()

    def end(self) -> None:
        """End it; lines not yet polled can still be."""
        if self.closed:
            return
        self.closed = True
        for timer in self._timers:
            timer.cancel()
        self._ready()

    def end_after(self, seconds: float | None) -> None:
        """End it by itself, as timeoutSeconds asks."""
        life = seconds if seconds else SHORTEST_STREAM * (1 + random.Random(self._kind).random())
        self._timers.append(self._agenda.after(life, self._timed_out))

    def _timed_out(self) -> None:
        if not self._silent:
            self.end()

    def bookmarks(self, version: Callable[[], int], seconds: float | None, make: Callable[[int], bytes]) -> None:
        """Send bookmarks each minute and shortly before the end."""
        deadline = None if not seconds else self._agenda.now + seconds - BEFORE_TIMEOUT

        def plan() -> None:
            due = self._agenda.now + BOOKMARK_SECONDS
            if deadline is not None and deadline > self._agenda.now:
                due = min(due, deadline)
            self._timers.append(self._agenda.at(due, send))

        def send() -> None:
            if not self.closed:
                self.send_bookmark(make(max(version(), self.after_version)))
                plan()

        plan()

    def offer(self, event: Event) -> None:
        """Send the event if it concerns this watch.

        Objects that begin or cease to match are added or deleted for it.
        """
        if self.closed or event.new["kind"] != self._kind or event.version <= self.after_version:
            return
        self.last_version = event.version
        was = event.old is not None and self._is_selected(event.old)
        is_now = event.type != "DELETED" and self._is_selected(event.new)
        if is_now:
            self.send("MODIFIED" if was else "ADDED", event.new)
        elif was and event.old is not None:
            # The API sends the last state that matched, under the version of the change.
            meta = {**event.old["metadata"], "resourceVersion": str(event.version)}
            self.send("DELETED", {**event.old, "metadata": meta})

    def send(self, type_: str, obj: Object) -> None:
        """Send one event."""
        if self.swallow > 0:
            self.swallow -= 1
            return
        self._push(b'{"type":"' + type_.encode() + b'","object":' + self._encode(obj) + b"}\n")
        if self.limit is not None:
            action, left = self.limit
            self.limit = (action, left - 1)
            if left <= 1:
                self._misbehave(action)

    def send_bookmark(self, obj: bytes) -> None:
        """Send a bookmark, its object already written."""
        self._push(b'{"type":"BOOKMARK","object":' + obj + b"}\n")

    def send_error(self, refusal: ApiStatus) -> None:
        """Send an ERROR event and end the stream."""
        self._push(b'{"type":"ERROR","object":' + encoded(refusal.body()) + b"}\n")
        self.end()

    def misbehave(self, how: str) -> None:
        """Play a fault: silent, end, expire (each at once, or `:n` events later) or drop:n."""
        action, _colon, count = how.partition(":")
        if action == "drop":
            self.swallow = int(count or 1)
        elif count:
            self.limit = (action, int(count))
        else:
            self._misbehave(action)

    def _misbehave(self, action: str) -> None:
        self.limit = None
        if action == "silent":
            self._silent = True
        elif action == "expire":
            self.send_error(expired("The resourceVersion for the provided watch is too old."))
        else:
            self.end()

    def _push(self, line: bytes) -> None:
        if self._silent or self.closed:
            return
        self._lines.append(line)
        self._ready()

    def _ready(self) -> None:
        if self.on_ready is not None:
            self.on_ready()


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace") or "", obj["metadata"]["name"]
