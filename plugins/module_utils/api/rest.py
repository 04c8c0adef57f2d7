# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speak the Kubernetes API: raw JSON in and out, with retries within the task's deadline.

Retried are 408, 409, 429, 5xx, responses that are not from the API server, resets and timeouts. Not retried are a host
name that does not exist, TLS errors, 401 after the credentials were renewed once, 403, and every other response,
because the same request would get it again.
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
    UnexpectedResponse,
    Unreachable,
)
from ..objects import Obj, mapping_at, mappings_at, version_of
from ..runtime.clock import Clock, Deadline, clock_lead
from .responses import listed, unexpected_response, value_of
from .retry import backoff
from .transport import ResponseTimeout, Transport, events_in, exchange, read_body, streamed, target_of, with_place

MERGE_PATCH, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"

# Until the server has given its first good response it may be the wrong one, so give up sooner.
MAX_FIRST_WAIT = 30.0
# Seconds for one response: API servers give up after 60 s, load balancers sooner. The first response gets less, so that
# there is time for a second try.
MAX_RESPONSE = 30.0
MAX_FIRST_RESPONSE = 10.0
MIN_RESPONSE = 0.05
# Seconds before the first retry, and the most before a later one.
FIRST_DELAY = 0.25
MAX_DELAY = 5.0


class Listing(NamedTuple):
    """All items of a collection at one version."""

    items: list[Obj]
    version: str


class Rest:
    """One task's requests to one API server. Safe to use from several threads.

    ahead: seconds by which the server's clock is ahead.
    """

    def __init__(self, connection: Transport, clock: Clock, deadline: Deadline) -> None:
        self._connection = connection
        self._clock = clock
        self._deadline = deadline
        self._give_up_at = clock.monotonic() + MAX_FIRST_WAIT
        self._renewing = threading.Lock()
        self._renewals = 0
        self._responded = False  # a good response has come
        self._listed = False  # so has a good list
        self.ahead = 0.0
        self.namespace, self.account = connection.namespace, connection.describe

    def get(self, path: str, query: dict[str, Any] | None = None) -> Obj:
        """Return the object at a path."""
        return self.request("GET", path, query)

    def text(self, path: str, query: dict[str, Any]) -> str:
        """Return a body that is not JSON, such as a container's log. No retries."""
        seconds, now = self._seconds_for(MAX_FIRST_RESPONSE), self._clock.monotonic
        response = exchange(self._connection, "GET", target_of(path, query), self._headers(), None, seconds, now)
        if response.status == 200:
            return response.data.decode("utf-8", "replace")
        value_of(response.status, response.headers, response.data)
        raise unexpected_response(response.status, response.headers, b"")

    def patch(
        self, path: str, body: Obj | list[Obj], query: dict[str, Any] | None = None, versioned: bool = False
    ) -> Obj:
        """Change an object by a merge patch (RFC 7386) or, given a list of operations, by a JSON patch (RFC 6902).

        versioned: the body names a resourceVersion or has tests, so a retry would get the same conflict.
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

        A continue token that has expired (410) restarts the list, so that no item is missing or duplicate.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._pages(path, query, page_size, keep)
            except (Expired, ServerFault) as exc:
                # request() has retried all others, and what has never sent a list is the wrong server.
                if isinstance(exc, ServerFault) and not (self._listed and exc.status == 200):
                    raise
                self._wait_after(exc, attempt)

    def _pages(self, path: str, query: dict[str, Any], page_size: int, keep: Callable[[Obj], Obj]) -> Listing:
        items: list[Obj] = []
        token, before = "", {""}
        query = {**query, "limit": page_size} if page_size > 0 else query
        while True:
            page_query = {**query, "continue": token} if token else query
            page = listed(self.request("GET", path, page_query, leave=(Expired,)))
            self._listed = True
            items += [keep(item) for item in mappings_at(page, "items")]
            token = str(mapping_at(page, "metadata").get("continue") or "")
            if not token:
                return Listing(items, version_of(page))
            if token in before:
                raise UnexpectedResponse("the API server sends the same page of a list again and again", 200)
            before.add(token)
            if self._deadline.expired():
                raise ResponseTimeout(self._connection.base_url, "finish a list")

    def stream(self, path: str, query: dict[str, Any], silence: float) -> Iterator[Obj | None]:
        """Yield the events of a watch until the server ends it. None means that there is nothing just now.

        Raise ResponseTimeout after N seconds of silence, or the error that the server sends.
        """
        renewed = False
        while True:
            generation = self._renewals
            seconds, now = self._seconds_for(silence), self._clock.monotonic
            with streamed(self._connection, target_of(path, query), self._headers(), seconds) as response:
                if response.status == 200:
                    yield from events_in(response, silence, now, self._connection.base_url)
                    return
                own = generation == self._renewals
                if response.status != 401 or renewed or not self._renew(generation):
                    body = read_body(self._connection, response, seconds, now)
                    value_of(response.status, response.headers, body)
                    raise unexpected_response(response.status, response.headers, b"")
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
        """Send a request and return the object in the response.

        leave: errors that are not retried, because the caller knows better what to do.
        """
        data = None if body is None else json.dumps(body).encode()
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._attempt(method, target_of(path, query or {}), data, content_type)
            except (Unreachable, ApiError) as exc:
                if isinstance(exc, leave) or not self.is_retryable(exc):
                    raise with_place(exc, self._connection, self._responded) from exc
                self._wait_after(exc, attempt)

    def _wait_after(self, exc: MaintenanceError, attempt: int) -> None:
        """Wait before the next try; raise the error if there is no time for one."""
        left = self._deadline.remaining()
        if not self._responded:
            # A server that asks for a long wait may be the wrong one, too.
            left = min(left, self._give_up_at - self._clock.monotonic())
        if left <= 0:
            raise with_place(exc, self._connection, self._responded) from exc
        retry_after = exc.retry_after if isinstance(exc, ApiError) else None
        delay = retry_after or backoff(attempt, FIRST_DELAY, MAX_DELAY) * self._clock.jitter()
        self._clock.sleep(min(delay, left))
        if self._deadline.expired():
            raise with_place(exc, self._connection, self._responded) from exc

    def _seconds_for(self, longest: float) -> float:
        """Return how many seconds a response may take."""
        return max(MIN_RESPONSE, min(longest, self._deadline.remaining()))

    def _attempt(self, method: str, target: str, data: bytes | None, content_type: str) -> Obj:
        renewed = False
        while True:
            generation = self._renewals
            headers = self._headers()
            if data is not None:
                headers["Content-Type"] = content_type
            seconds = self._seconds_for(MAX_RESPONSE if self._responded else MAX_FIRST_RESPONSE)
            response = exchange(self._connection, method, target, headers, data, seconds, self._clock.monotonic)
            self.ahead = clock_lead(response.headers.get("Date"), self._clock.wall(), self.ahead)
            try:
                value = value_of(response.status, response.headers, response.data)
            except Unauthorized:
                # Credentials that another thread has renewed meanwhile may have expired again.
                own = generation == self._renewals
                if renewed or not self._renew(generation):
                    raise
                renewed = own
                continue
            self._responded = True
            return value

    def _headers(self) -> Any:
        headers = self._connection.headers()
        headers["Accept"] = "application/json"
        return headers

    def _renew(self, generation: int) -> bool:
        # Twenty threads may get a 401 at once; the first renews the token for all.
        with self._renewing:
            if generation == self._renewals:
                if not self._connection.refresh():
                    return False
                self._renewals += 1
            return True

    def is_retryable(self, exc: MaintenanceError) -> bool:
        """Return whether the same request may get another response soon."""
        if isinstance(exc, Unreachable):
            # Names that resolved before may fail for a moment with the node that runs the resolver.
            return not exc.final or (self._responded and exc.details.get("kind") == "name")
        if isinstance(exc, UnexpectedResponse) and exc.status < 500:
            # A log-in page or a web server: at first it means a wrong address, later trouble of a load balancer.
            return self._responded
        return isinstance(exc, (ServerFault, TooManyRequests, Conflict, Expired))
