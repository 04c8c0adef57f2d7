# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speak the Kubernetes API: raw JSON in and out, passing faults tried again within the task's deadline.

What is tried again: 408, 409, 429, 5xx, answers that are not the API server's, resets, time-outs. What is not: a
host name that does not exist, TLS that cannot be agreed on, 401 after the credentials were renewed once, 403, and
every other answer, because the same request would get it again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..errors import (
    ApiError,
    Conflict,
    Expired,
    MaintenanceError,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)
from ..objects import Obj, mapping_at, mappings_at, version_of
from ..runtime.clock import Clock, Deadline, clock_lead
from .http import ResponseTimeout, Transport, body_of, events_in, exchange, page_query, streamed, target_of
from .responses import foreign_answer, listed, value_of
from .retry import backoff

MERGE_PATCH, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
# Until the server has given its first good answer it may be the wrong one, so give up sooner.
FIRST_ANSWER = 30.0
# One answer may take that long: API servers give up after 60 s, load balancers sooner. The first gets less time, for
# a second try.
LONGEST_ANSWER = 30.0
LONGEST_FIRST_ANSWER = 10.0


class Listing(NamedTuple):
    """A list as it stood at one version."""

    items: list[Obj]
    version: str


class Rest:
    """One task's dialogue with one API server. Safe to use from several threads."""

    def __init__(self, connection: Transport, clock: Clock, deadline: Deadline) -> None:
        self._connection = connection
        self._clock = clock
        self._deadline = deadline
        self._patience = clock.monotonic() + FIRST_ANSWER
        self._renewing = threading.Lock()
        self._renewals = 0
        self.answered = False
        self.ahead = 0.0  # seconds by which the server's clock is ahead
        self._listed = False
        self.namespace, self.account = connection.namespace, connection.describe

    def get(self, path: str, query: dict[str, Any] | None = None) -> Obj:
        """Return the object at a path."""
        return self.request("GET", path, query)

    def text(self, path: str, query: dict[str, Any]) -> str:
        """Return a body that is not JSON, such as a container's log. Asked for once."""
        wait = max(0.05, min(LONGEST_FIRST_ANSWER, self._deadline.remaining()))
        target, now = target_of(path, query), self._clock.monotonic
        answer = exchange(self._connection, "GET", target, self._headers(), None, wait, now)
        if answer.status == 200:
            return answer.data.decode("utf-8", "replace")
        value_of(answer.status, answer.headers, answer.data)
        raise foreign_answer(answer.status, answer.headers, b"")

    def patch(
        self, path: str, body: Obj | list[Obj], query: dict[str, Any] | None = None, versioned: bool = False
    ) -> Obj:
        """Change an object by a merge patch (RFC 7386) or, given a list of operations, by a JSON patch (RFC 6902).

        versioned: the body names a resourceVersion, or has tests, so Conflict is an answer and not a passing fault.
        """
        kind = MERGE_PATCH if isinstance(body, dict) else JSON_PATCH
        try:
            return self.request("PATCH", path, query, body, kind, (Conflict,) if versioned else ())
        except ApiError as exc:
            # A test that failed; of an object that would be invalid, the API server says what is wrong with it.
            if kind == MERGE_PATCH or exc.status != 422 or exc.causes:
                raise
            raise Conflict(exc.message, exc.status, exc.reason, **exc.details) from exc

    def list(
        self, path: str, query: dict[str, Any], page_size: int, keep: Callable[[Obj], Obj] = lambda item: item
    ) -> Listing:
        """Return all items of a collection, page by page; C(keep) trims each item as it comes.

        A continue token that the server has forgotten (410) starts the list anew, so no item is missing or twice.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._pages(path, query, page_size, keep)
            except (Expired, ServerFault) as exc:
                # Other faults were tried again before, and what never gave a list is the wrong server.
                if isinstance(exc, ServerFault) and not (self._listed and exc.status == 200):
                    raise
                self._pause_after(exc, attempt)

    def _pages(self, path: str, query: dict[str, Any], page_size: int, keep: Callable[[Obj], Obj]) -> Listing:
        items: list[Obj] = []
        token, before = "", {""}
        while True:
            page = listed(self.request("GET", path, page_query(query, page_size, token), leave=(Expired,)))
            self._listed = True
            items += [keep(item) for item in mappings_at(page, "items")]
            token = str(mapping_at(page, "metadata").get("continue") or "")
            if not token:
                return Listing(items, version_of(page))
            if token in before:
                raise ServerFault("the API server gives the same page of a list again and again", 200, foreign=True)
            before.add(token)
            if self._deadline.expired():
                raise ResponseTimeout("the API server at %s did not finish a list in time" % self._connection.base_url)

    def stream(self, path: str, query: dict[str, Any], silence: float) -> Iterator[Obj | None]:
        """Yield the events of a watch until the server ends it. None means that nothing is there just now.

        Raise Silent when nothing at all came for that many seconds, or the error that the server gave.
        """
        renewed = False
        while True:
            generation = self._renewals
            wait = max(0.05, min(silence, self._deadline.remaining()))
            with streamed(self._connection, target_of(path, query), self._headers(), wait) as got:
                if got.status == 200:
                    yield from events_in(got, silence, self._clock.monotonic, self._connection.base_url)
                    return
                own = generation == self._renewals
                if got.status != 401 or renewed or not self._renew(generation):
                    value_of(got.status, got.headers, body_of(self._connection, got, wait, self._clock.monotonic))
                    raise foreign_answer(got.status, got.headers, b"")
                renewed = own

    def request(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        leave: tuple[type[MaintenanceError], ...] = (),
    ) -> Obj:
        """Send a request and return the answer's object.

        C(leave) names the errors that the caller deals with at once, because it knows better when to try again.
        """
        data = None if body is None else json.dumps(body).encode()
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._attempt(method, target_of(path, query or {}), data, content_type)
            except (Unreachable, ApiError) as exc:
                if isinstance(exc, leave) or not self.is_retryable(exc):
                    raise self._placed(exc) from exc
                self._pause_after(exc, attempt)

    def _pause_after(self, exc: MaintenanceError, attempt: int) -> None:
        """Wait before the next try; raise the fault where there is no patience for one."""
        if self._out_of_patience():
            raise self._placed(exc) from exc
        asked = exc.retry_after if isinstance(exc, ApiError) else None
        pause = asked or backoff(attempt, 0.25, 5.0) * self._clock.jitter()
        left = self._deadline.remaining()
        if not self.answered:
            # A server that asks for a long wait may be the wrong one, too.
            left = min(left, max(0.0, self._patience - self._clock.monotonic()))
        self._clock.sleep(min(pause, left))
        if self._deadline.expired():
            raise self._placed(exc) from exc

    def _attempt(self, method: str, target: str, data: bytes | None, content_type: str) -> Obj:
        renewed = False
        while True:
            generation = self._renewals
            headers = self._headers()
            if data is not None:
                headers["Content-Type"] = content_type
            longest = LONGEST_ANSWER if self.answered else LONGEST_FIRST_ANSWER
            wait = max(0.05, min(longest, self._deadline.remaining()))
            answer = exchange(self._connection, method, target, headers, data, wait, self._clock.monotonic)
            self.ahead = clock_lead(answer.headers.get("Date"), self._clock.wall(), self.ahead)
            try:
                value = value_of(answer.status, answer.headers, answer.data)
            except Unauthorized:
                # What another thread has renewed meanwhile may be out of date again by now.
                own = generation == self._renewals
                if renewed or not self._renew(generation):
                    raise
                renewed = own
                continue
            self.answered = True
            return value

    def _headers(self) -> Any:
        headers = self._connection.headers()
        headers["Accept"] = "application/json"
        return headers

    def _renew(self, generation: int) -> bool:
        # Twenty threads may learn at once that a token has expired; the first renews it for all.
        with self._renewing:
            if generation == self._renewals:
                if not self._connection.refresh():
                    return False
                self._renewals += 1
            return True

    def _out_of_patience(self) -> bool:
        return self._deadline.expired() or (not self.answered and self._clock.monotonic() >= self._patience)

    def is_retryable(self, exc: MaintenanceError) -> bool:
        """Tell whether the same request may get another answer soon."""
        if isinstance(exc, Unreachable):
            # Names that resolved before may fail for a moment with the node that runs the resolver.
            return not exc.final or (self.answered and exc.details.get("kind") == "name")
        if isinstance(exc, ServerFault) and exc.details.get("foreign") and exc.status < 500:
            # A log-in page or a web server: from the start it is the wrong address, later a load balancer's mood.
            return self.answered
        return isinstance(exc, (ServerFault, TooManyRequests, Conflict, Expired))

    def _placed(self, exc: MaintenanceError) -> MaintenanceError:
        """Add the address and the account to an error while those are its likely cause."""
        if isinstance(exc, Unauthorized):
            exc.message = (
                "the API server does not accept the credentials (401 %s) at %s: renew the token or certificate"
                % (exc.message, self._connection.describe())
            )
        elif not self.answered and isinstance(exc, ServerFault) and exc.details.get("foreign"):
            asked = self._connection.describe()
            exc.message += "; the request went to %s: check the %s" % (asked, self._connection.server_from)
        elif not self.answered and isinstance(exc, ResponseTimeout):
            exc.message += ": check the %s, and whether a firewall is in between" % self._connection.server_from
        elif isinstance(exc, ResponseTimeout) and exc.message.endswith(" in time"):
            exc.message += ": check whether it is overloaded or down"
        return exc
