# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster: answers requests from the store, and knows no HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from . import errors
from .agenda import TEST_EPOCH, Agenda
from .api import discovery, reviews
from .api.access import ADMIN, Access, Attributes, User
from .api.eviction import Eviction
from .api.messages import Logged, Request, Response, refusal, text_response
from .api.paths import Target, target_of
from .api.reads import Reads
from .api.subresources import Subresources
from .api.views import Encoder, View, view_for
from .api.watches import History
from .api.writes import Writes
from .faults import Fault, Faults
from .resources import Resource
from .store import Store

DEFAULT_WINDOW = 10_000
_FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_PATCHABLE = ("status", "finalize", "ephemeralcontainers", "resize")


class Cluster:
    """A cluster with its API.

    `streaming_lists`: serve watches with sendInitialEvents (the recorded server does not).
    """

    def __init__(
        self,
        agenda: Agenda | None = None,
        *,
        controllers: bool = True,
        seed: int = 1,
        access: Access | None = None,
        watch_window: int = DEFAULT_WINDOW,
        streaming_lists: bool = False,
    ) -> None:
        self.agenda = agenda or Agenda(TEST_EPOCH)
        self.store = Store(self.agenda, seed)
        self.faults = Faults(self.agenda)
        self.access = access or Access()
        self.requests: list[Logged] = []
        self.controllers: Any = None
        self.lock = threading.RLock()  # a client under test may send from several threads
        self.outage_until = 0.0  # agenda seconds
        self._with_controllers = controllers
        self._window = watch_window
        self._streaming_lists = streaming_lists
        self._begin()

    def _begin(self) -> None:
        self.history = History(self.store, self._window)
        self._encoder = Encoder()
        self._reads = Reads(self.store, self.history, self.agenda, self._streaming_lists)
        self._writes = Writes(self.store)
        self._eviction = Eviction(self.store, self._writes)
        self._subresources = Subresources(self.store)
        for name in _FIRST_NAMESPACES:
            self.store.create({"kind": "Namespace", "metadata": {"name": name}})
        if self._with_controllers:
            from .controllers.wiring import Controllers  # imported here: it builds on this package

            self.controllers = Controllers(self.store, self.agenda)

    def reset(self) -> None:
        """Start again: no objects, nothing planned, no faults, an empty log, fresh controllers. Users stay."""
        self.history.close_streams()
        if self.controllers is not None:
            self.controllers.stop()
        self.agenda.clear()
        self.agenda.started = self.agenda.now
        self.store.clear()
        self.faults.clear()
        self.requests.clear()
        self.outage_until = 0.0
        self._begin()

    def load(self, objects: list[Any]) -> None:
        """Take objects over as recorded."""
        self.store.load(objects)

    def outage(self, seconds: float) -> None:
        """Cut every connection, and every new one for `seconds`."""
        self.outage_until = self.agenda.now + seconds
        self.history.close_streams()

    def restore(self, lost: int) -> None:
        """Let etcd come back from a backup: what it holds stays, and its versions are as many less.

        Open watches get no event until versions are as great again as they were.
        """
        for kind in self.store.kinds():
            for obj in self.store.list(kind):
                obj["metadata"]["resourceVersion"] = str(max(1, int(obj["metadata"]["resourceVersion"]) - lost))
        self.store.resource_version -= lost
        self.history.restart()
        self._encoder = Encoder()

    def answer(self, request: Request) -> Response:
        """Answer a request: faults first, then authentication, authorization and the API. Never blocks."""
        with self.lock:
            return self._answered(request)

    def advance(self, seconds: float) -> None:
        """Let simulated time pass, as agenda.advance does, but not in the middle of a request of another thread."""
        with self.lock:
            self.agenda.advance(seconds)

    def _answered(self, request: Request) -> Response:
        logged = self._log(request)
        if self.agenda.now < self.outage_until:
            return Response(0, reset="before")
        fault = self.faults.strike(request)
        if fault is not None:
            for other in fault.spec.get("mutate") or ():
                self.perform(other)
        response = self._struck(request, fault, logged) if fault is not None else self._served(request, logged)
        logged.status = 0 if response.reset else response.status
        return response

    def perform(self, spec: Mapping[str, Any]) -> Response:
        """Carry out {method, path, body, content_type} as administrator, unlogged and without faults."""
        headers = {"content_type": spec["content_type"]} if spec.get("content_type") else {}
        request = Request.of(spec.get("method", "GET"), spec["path"], spec.get("body"), **headers)
        try:
            return self._dispatch(request, ADMIN, "")
        except errors.ApiStatus as problem:
            return refusal(problem)

    def _log(self, request: Request) -> Logged:
        body = request.body.decode("utf-8", "replace")
        agent = request.headers.get("user-agent", "")
        logged = Logged(self.agenda.now, request.method, request.path, dict(request.query), "", 0, body, agent)
        self.requests.append(logged)
        return logged

    def _struck(self, request: Request, fault: Fault, logged: Logged) -> Response:
        reset = fault.spec.get("reset", "")
        response = Response(0) if reset == "before" else fault.answer()
        if response is None:
            response = self._served(request, logged, str(fault.spec.get("watch") or ""))
        response.delay = float(fault.spec.get("delay", 0))
        response.reset = reset
        return response

    def _served(self, request: Request, logged: Logged, misbehaviour: str = "") -> Response:
        try:
            user = self.access.authenticate(request)
            logged.user = user.name
            return self._dispatch(request, user, misbehaviour)
        except errors.ApiStatus as problem:
            return refusal(problem)

    def _dispatch(self, request: Request, user: User, misbehaviour: str) -> Response:
        target = target_of(request.path)
        if target is None:
            self.access.check(user, Attributes(request.method.lower(), path=request.path))
            found = discovery.answer(request) if request.method in ("GET", "HEAD") else None
            return found or text_response(404, "404 page not found\n")
        self.access.check(user, target.attributes(request))
        if target.review and request.method == "POST":
            return reviews.answer(target.review, target.api_version, request, user, self.access)
        if target.resource is None:
            if target.api_version not in discovery.group_versions():
                return text_response(404, "404 page not found\n")
            raise errors.no_such_path()
        view = self._view(request, target, target.resource)
        if target.subresource:
            return self._subresource(request, target, target.resource, view)
        return self._resource(request, target, target.resource, view, misbehaviour)

    def _view(self, request: Request, target: Target, resource: Resource) -> View:
        accept, include = request.headers.get("accept", ""), request.query.get("includeObject", "Metadata")
        return view_for(accept, include, self._encoder, resource, target.api_version, self.agenda.now)

    def _resource(
        self, request: Request, target: Target, resource: Resource, view: View, misbehaviour: str
    ) -> Response:
        verb = target.verb(request)
        if verb not in resource.verbs or (
            verb == "create" and (target.name or resource.namespaced != bool(target.namespace))
        ):
            raise _not_allowed()
        if verb == "watch":
            return self._reads.watch(request, target, resource, view, misbehaviour)
        if verb == "get":
            return self._reads.one(target, resource, view)
        if verb == "list":
            return self._reads.page(request, target, resource, view)
        if verb == "create":
            return self._writes.create(request, target, resource, view)
        if verb == "deletecollection":
            return self._writes.delete_all(request, self._reads.selected(request, target, resource), view)
        return {"update": self._writes.update, "patch": self._writes.patch, "delete": self._writes.delete}[verb](
            request, target, resource, view
        )

    def _subresource(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        if target.subresource not in resource.subresources:
            raise errors.no_such_path()
        if target.subresource == "eviction" and request.method == "POST":
            return self._eviction.create(request, target)
        if target.subresource in _PATCHABLE:
            if request.method == "GET":
                return self._reads.one(target, resource, view)
            if request.method in ("PUT", "PATCH"):
                write = self._writes.update if request.method == "PUT" else self._writes.patch
                return write(request, target, resource, view)
        found = self._subresources.answer(request, target, resource)
        if found is None:
            raise _not_allowed()
        return found


def _not_allowed() -> errors.ApiStatus:
    message = "the server does not allow this method on the requested resource"
    return errors.ApiStatus(405, "MethodNotAllowed", message, {})
