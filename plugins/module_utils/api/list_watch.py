# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow a collection of the API: one list, then one watch, resumed and mistrusted as the API demands.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..errors import ApiError, Expired, Unreachable
from ..objects import Obj, age_of, mapping_at, version_of
from ..runtime.workers import Pause
from .http import ResponseTimeout
from .rest import Listing, Rest
from .retry import backoff

# A stream that says nothing may be one that a proxy holds back. Servers send bookmarks about once a minute, so
# waiting for one would trust a dead stream too long; a list each half minute costs little.
SILENCE = 30.0
# How long the server is asked to keep a stream open.
STREAM = 300
# A watch that ends at once again and again is not worth more than a list each C(pause).
SHORT_STREAMS = 3
# Seconds between any two requests of one watch, however much it tells: some servers end each stream at once.
MIN_DELAY = 0.2
# Statuses that mean that nothing can be watched: forbidden, unknown, or a method that a proxy does not let through.
UNWATCHABLE = (403, 404, 405)


class Listed(NamedTuple):
    """All items, as they stood at a version. anew: versions have begun anew, so that older news have greater ones."""

    items: list[Obj]
    version: str = ""
    anew: bool = False


class Changed(NamedTuple):
    """One item was ADDED, MODIFIED or DELETED."""

    type: str
    obj: Obj


class Unwatched(NamedTuple):
    """The account may not watch; lists come instead. Said once."""

    message: str


@dataclass
class Collection:
    """What to follow.

    path, query: of the list; page_size: of its pages; pause: seconds between lists where no watch may be used;
    keep: trims each item.
    """

    path: str
    query: dict[str, Any] = field(default_factory=dict)
    page_size: int = 500
    pause: float = 5.0
    keep: Callable[[Obj], Obj] = lambda item: item


def list_and_watch(rest: Rest, what: Collection) -> Iterator[Listed | Changed | Unwatched | Pause | None]:
    """Yield the items of a collection and then every change, for ever. Raise what no further try heals."""
    watching, version = True, ""
    vain = 0
    while True:
        listing = rest.list(what.path, what.query, what.page_size, what.keep)
        # A list is never older than what was heard before it was asked for, except in a cluster restored from a backup.
        yield Listed(*listing, anew=0 < age_of(listing.version) < age_of(version))
        version = listing.version
        pause = what.pause
        if watching:
            try:
                useful, asked, version = yield from _watch(rest, what, listing)
                # One list in place of a watch that broke is due at once; a server whose watches all break is not to be
                # asked without end.
                vain = 0 if useful else vain + 1
                pause = max(asked, backoff(vain - 1, 0.5, what.pause) if vain > 1 else 0.0)
            except ApiError as exc:
                if exc.status not in UNWATCHABLE:
                    raise
                watching = False
                yield Unwatched(exc.message)
        if pause:
            yield Pause(pause)


def _watch(
    rest: Rest, what: Collection, listing: Listing
) -> Generator[Changed | Pause | None, None, tuple[bool, float, str]]:
    """Yield changes since the listing. Return when a new list is due.

    Returned are whether the watch was of use, for how many seconds not to ask again, and the version it came to.
    """
    version = listing.version
    empty, useful = 0, False
    while True:
        heard = False
        try:
            for event in rest.stream(what.path, _query(what, version), SILENCE):
                if event is None:
                    yield None
                    continue
                obj = mapping_at(event, "object")
                before, version = version, version_of(obj) or version
                if event.get("type") in ("ADDED", "MODIFIED", "DELETED"):
                    # What comes again and again is no news.
                    heard = heard or version != before
                    yield Changed(event["type"], what.keep(obj))
        except ResponseTimeout:
            # That was pause enough.
            return True, 0.0, version
        except Expired:
            return useful or heard, MIN_DELAY, version
        except (ApiError, Unreachable) as exc:
            # 400: the list has just been answered, so it is the version that the server cannot read.
            if not rest.is_retryable(exc) and getattr(exc, "status", 0) != 400:
                raise
            return useful or heard, (exc.retry_after if isinstance(exc, ApiError) else None) or 1.0, version
        # The server ended the stream, as it does after a while: go on where it stopped.
        empty, useful = 0 if heard else empty + 1, useful or heard
        if empty >= SHORT_STREAMS:
            return useful, MIN_DELAY, version
        yield Pause(backoff(empty, 0.5, what.pause) if empty else MIN_DELAY)


def _query(what: Collection, version: str) -> dict[str, Any]:
    query = dict(what.query, watch="true", allowWatchBookmarks="true", timeoutSeconds=STREAM)
    if version:
        # Without one a server would start with every item again; "" must not become "None" or "0".
        query["resourceVersion"] = version
    return query
