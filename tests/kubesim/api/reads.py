# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GET: one object, pages of lists, and watches."""

from __future__ import annotations

from dataclasses import dataclass

from .. import errors, field_selectors, label_selectors
from ..agenda import Agenda
from ..objects import Object
from ..resources import Resource
from ..store import Store
from . import paging
from .messages import NO_CACHE, Request, Response, json_response
from .paths import Target
from .views import View
from .watches import History, WatchStream

_NO_STREAMING = (
    "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled"
)


@dataclass
class _Selection:
    labels: list[label_selectors.Requirement]
    fields: list[field_selectors.FieldTerm]
    namespace: str | None

    @property
    def is_everything(self) -> bool:
        return not self.labels and not self.fields

    def covers(self, obj: Object) -> bool:
        meta = obj["metadata"]
        if self.namespace is not None and meta.get("namespace") != self.namespace:
            return False
        return label_selectors.matches(self.labels, meta.get("labels")) and field_selectors.matches(self.fields, obj)


class Reads:
    """Answer reading requests from the store and its history."""

    def __init__(self, store: Store, history: History, agenda: Agenda, streaming_lists: bool) -> None:
        self._store = store
        self._history = history
        self._agenda = agenda
        self._streaming_lists = streaming_lists

    def one(self, target: Target, resource: Resource, view: View) -> Response:
        """Return one object; ApiStatus 404."""
        obj = self._store.get(resource.kind, target.namespace, target.name)
        if obj is None:
            raise errors.not_found(resource.plural, target.name, resource.group)
        return json_response(200, view.one(obj))

    def selected(self, request: Request, target: Target, resource: Resource) -> list[Object]:
        """Return all objects that the selectors of the request choose."""
        selection = _selection(request, target, resource)
        return [obj for obj in self._store.list(resource.kind, selection.namespace) if selection.covers(obj)]

    def page(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        """Return a list or one page of it."""
        selection = _selection(request, target, resource)
        limit = _number(request, "limit")
        token, asked = request.query.get("continue", ""), request.query.get("resourceVersion", "")
        start = ""
        version = self._store.resource_version
        if token:
            if asked and asked != "0":
                raise errors.bad_request("specifying resource version is not allowed when using continue")
            version, start = paging.read_token(token)
        elif request.query.get("resourceVersionMatch") == "Exact":
            version = _version(asked)
        elif asked:
            self._fresh_enough(_version(asked))
            limit = 0 if asked == "0" else limit  # served by the watch cache, which knows no pages for "any version"
        objects = self._state(resource, selection, version, start)
        version = self._store.resource_version if version < 0 else version
        objects = [obj for obj in objects if _position(obj, selection) >= start and selection.covers(obj)]
        meta: Object = {"resourceVersion": str(version)}
        if limit and len(objects) > limit:
            left = len(objects) - limit
            objects = objects[:limit]
            meta["continue"] = paging.token(version, _position(objects[-1], selection))
            if selection.is_everything:  # the API server does not count what selectors would leave
                meta["remainingItemCount"] = left
        return json_response(200, view.many(objects, meta))

    def watch(
        self, request: Request, target: Target, resource: Resource, view: View, misbehaviour: str = ""
    ) -> Response:
        """Open a stream of events; `misbehaviour` is the fault that it plays."""
        selection = _selection(request, target, resource)
        stream = WatchStream(self._agenda, resource.kind, selection.covers, view.one)
        response = Response(200, {**NO_CACHE, "Content-Type": "application/json"}, stream=stream)
        if misbehaviour:
            stream.misbehave(misbehaviour)
        asked = request.query.get("resourceVersion", "")
        initial = request.query.get("sendInitialEvents") == "true"
        if initial and not self._streaming_lists:
            stream.send_error(errors.ApiStatus(500, "InternalError", _NO_STREAMING))
            return response
        timeout = _number(request, "timeoutSeconds")
        version = _version(asked) if asked else 0
        try:
            backlog = [] if initial or version == 0 else self._history.since(version)
        except errors.ApiStatus as too_old:
            stream.send_error(too_old)
            return response
        if initial or version == 0:
            if request.query.get("sendInitialEvents") != "false":
                for obj in self._store.list(resource.kind, selection.namespace):
                    if selection.covers(obj):
                        stream.send("ADDED", obj)
            version = max(version, self._store.resource_version)
        if initial and request.query.get("allowWatchBookmarks") == "true":
            stream.send_bookmark(view.bookmark(version, {"k8s.io/initial-events-end": "true"}))
        stream.after_version = version
        for event in backlog:
            stream.offer(event)
        self._history.attach(stream)
        stream.end_after(timeout)
        if request.query.get("allowWatchBookmarks") == "true":
            stream.bookmarks(lambda: self._store.resource_version, timeout, view.bookmark)
        return response

    def _state(self, resource: Resource, selection: _Selection, version: int, start: str) -> list[Object]:
        if version in (-1, self._store.resource_version):
            return self._store.list(resource.kind, selection.namespace)
        self._fresh_enough(version)
        try:
            return self._history.state_at(resource.kind, selection.namespace, version)
        except errors.ApiStatus:
            if start:
                raise paging.too_old(start.rstrip("\u0000")) from None
            raise errors.expired("The resourceVersion for the provided list is too old.") from None

    def _fresh_enough(self, version: int) -> None:
        current = self._store.resource_version
        if version <= current:
            return
        text = "Too large resource version"
        cause = {"reason": "ResourceVersionTooLarge", "message": text}
        message = f"Timeout: {text}: {version}, current: {current}"
        raise errors.ApiStatus(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def _selection(request: Request, target: Target, resource: Resource) -> _Selection:
    labels = label_selectors.parse(request.query.get("labelSelector", ""))
    terms = field_selectors.parse(request.query.get("fieldSelector", ""), resource)
    if target.name:
        terms = [*terms, field_selectors.FieldTerm("metadata.name", target.name, True)]
    return _Selection(labels, terms, target.namespace or None)


def _position(obj: Object, selection: _Selection) -> str:
    meta = obj["metadata"]
    name = str(meta["name"])
    if selection.namespace is not None or not meta.get("namespace"):
        return name
    return f"{meta['namespace']}/{name}"


def _number(request: Request, parameter: str) -> int:
    text = request.query.get(parameter, "")
    try:
        return int(text) if text else 0
    except ValueError:
        raise errors.bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def _version(text: str) -> int:
    if text.isdecimal():
        return int(text)
    raise errors.bad_request(f'invalid resource version "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
