# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nouns and verbs of workloads and what belongs to them, each one request or a paged list."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from ..api.list_watch import Collection
from ..api.responses import is_absent
from ..api.rest import Rest
from ..errors import MaintenanceError, NotFound, UnexpectedResponse
from ..objects import (
    Obj,
    controller_of,
    fields_at,
    int_field,
    labels_of,
    mapping_at,
    mappings_at,
    name_of,
    namespace_of,
    uid_of,
)
from ..selectors import selector_text
from ..text import abbreviate

# Lines and bytes of a log that help a reader of a failed task; the rest is for the log itself.
LOG_LINES = 10
LOG_BYTES = 8192
# Of what is looked for in other namespaces, so many are enough for a hint.
MOST_HITS = 20

# A workload is some kilobytes of JSON, and most of it is its template.
_METADATA = ("name", "namespace", "uid", "resourceVersion", "generation", "annotations")
_SPEC = ("replicas", "paused", "updateStrategy", "minReadySeconds", "selector")


class Workloads:
    """The workloads of a cluster, spoken to in its own terms. page_size, pause: of lists, see list_watch.Collection."""

    def __init__(self, rest: Rest, page_size: int = 500, pause: float = 5.0) -> None:
        self._rest = rest
        self._page_size = page_size
        self._pause = pause

    def get(self, api_version: str, plural: str, namespace: str, name: str) -> Obj | None:
        """Return a workload as it is now, trimmed; None if there is none of that name."""
        try:
            found = self._rest.get(_path(api_version, namespace, plural, name))
        except NotFound as exc:
            if is_absent(exc):
                return None
            raise
        if name_of(found) != name:
            text = f"the response for {name} is not that workload, so it is not from a Kubernetes API server"
            raise UnexpectedResponse(text, status=200)
        return trimmed_workload(found)

    def collection(
        self, api_version: str, plural: str, namespace: str, names: tuple[str, ...], selectors: tuple[str, ...]
    ) -> Collection:
        """Return what to follow to know the workloads of these names, or those that match the label selectors."""
        query: dict[str, Any] = {}
        if selectors:
            query["labelSelector"] = ",".join(selectors)
        elif len(names) == 1:
            query["fieldSelector"] = "metadata.name=" + names[0]
        wanted = set(names)

        def keep(obj: Obj) -> Obj:
            # Of the others not even the names: there may be thousands.
            return trimmed_workload(obj) if not wanted or name_of(obj) in wanted else {}

        return Collection(_path(api_version, namespace, plural), query, self._page_size, self._pause, keep)

    def listed(self, what: Collection) -> list[Obj]:
        """Return the items of a collection as they are now."""
        return self._rest.list(what.path, what.query, what.page_size, what.keep).items

    def likely(self, api_version: str, plural: str, namespace: str, name: str) -> str:
        """Return a hint at why there is no such workload: where one is, or names most like it; "" if none."""
        hint = self.elsewhere(api_version, plural, namespace, "there is one", fieldSelector="metadata.name=" + name)
        if hint:
            return hint
        try:
            page = self._once(_path(api_version, namespace, plural), limit=self._page_size)
        except MaintenanceError:
            return ""
        known = [name_of(obj) for obj in mappings_at(page, "items")]
        near = difflib.get_close_matches(name, known, n=3)
        more = "at least " if mapping_at(page, "metadata").get("continue") else ""
        return "; did you mean %s?" % ", ".join(near) if near else " (it has %s%d %s)" % (more, len(known), plural)

    def elsewhere(self, api_version: str, plural: str, namespace: str, found: str, **query: str) -> str:
        """Return that there is no such namespace, and in which others is what the query finds; "" for neither.

        found: what to say of those.
        """
        hint = ""
        try:
            self._once("/api/v1/namespaces/" + quote(namespace, safe=""))
        except NotFound:
            hint = "; there is no namespace %r either" % namespace
        except MaintenanceError:
            pass
        try:
            # Over all namespaces, which few accounts may; a few hits say enough.
            page = self._once("/apis/%s/%s" % (api_version, plural), limit=MOST_HITS, **query)
        except MaintenanceError:
            return hint
        places = sorted({namespace_of(obj) for obj in mappings_at(page, "items")} - {namespace, ""})
        if places:
            noun = "namespace" if len(places) == 1 else "the namespaces"
            hint += "; %s in %s %s" % (found, noun, abbreviate(places))
        return hint

    def _once(self, path: str, **query: Any) -> Obj:
        """Ask without another try: the answer only makes an error's text better, and nobody should wait for that."""
        return self._rest.request("GET", path, query, leave=(MaintenanceError,))

    def pods_collection(self, namespace: str, selector: str, keep: Callable[[Obj], Obj]) -> Collection:
        """Return what to follow to know the pods of a namespace that match a label selector."""
        query = {"labelSelector": selector} if selector else {}
        return Collection(_path("v1", namespace, "pods"), query, self._page_size, self._pause, keep)

    def replica_set_revision(self, namespace: str, name: str, annotation: str) -> str:
        """Return what the annotation of a ReplicaSet says, "" if it has none or is gone."""
        try:
            found = self._rest.get(_path("apps/v1", namespace, "replicasets", name))
        except NotFound:
            return ""
        return str(mapping_at(found, "metadata", "annotations").get(annotation) or "")

    def newest_hash(self, workload: Obj) -> str:
        """Return what pods of a DaemonSet's newest revision carry as controller-revision-hash, "" if there is none.

        A DaemonSet's status does not tell, so its ControllerRevisions are asked.
        """
        path = _path("apps/v1", namespace_of(workload), "controllerrevisions")
        query = {"labelSelector": selector_text(mapping_at(workload, "spec").get("selector"))}
        kept = [
            (int_field(found.get("revision")), str(labels_of(found).get("controller-revision-hash") or ""))
            for found in self._rest.list(path, query, self._page_size, _without_data).items
            if (controller_of(found) or {}).get("uid") == uid_of(workload)
        ]
        return max(kept, default=(0, ""))[1]

    def events_about(self, namespace: str, uid: str) -> list[Obj]:
        """Return the events about an object, oldest first."""
        query = {"fieldSelector": "involvedObject.uid=" + uid}
        items = self._rest.list(_path("v1", namespace, "events"), query, self._page_size, _short_event).items
        return sorted(items, key=lambda event: str(event["at"]))

    def last_log(self, pod: Obj, container: str, previous: bool) -> str:
        """Return the last lines of a container's log; previous: of its run before this one."""
        query: dict[str, Any] = {"container": container, "tailLines": LOG_LINES, "limitBytes": LOG_BYTES}
        if previous:
            query["previous"] = "true"
        path = _path("v1", namespace_of(pod), "pods", name_of(pod)) + "/log"
        return self._rest.text(path, query).rstrip()


def trimmed_workload(obj: Obj) -> Obj:
    """Return a workload of the same shape that holds only what following reads."""
    meta = fields_at(obj, "metadata", keys=_METADATA)
    # What kubectl apply keeps there is the whole manifest once more.
    meta["annotations"] = {
        key: value
        for key, value in mapping_at(obj, "metadata", "annotations").items()
        if key.startswith("deployment.kubernetes.io/")
    }
    spec = {key: mapping_at(obj, "spec")[key] for key in _SPEC if mapping_at(obj, "spec").get(key) is not None}
    return {"metadata": meta, "spec": spec, "status": mapping_at(obj, "status")}


def _without_data(revision: Obj) -> Obj:
    return {"metadata": mapping_at(revision, "metadata"), "revision": revision.get("revision")}


def _short_event(event: Obj) -> Obj:
    """Return type, reason and message of an event, and when it was last seen.

    Events of client-go count in lastTimestamp, those of the newer API in eventTime and series.
    """
    times = [event.get("lastTimestamp"), mapping_at(event, "series").get("lastObservedTime"), event.get("eventTime")]
    at = max((str(time) for time in times if time), default=mapping_at(event, "metadata").get("creationTimestamp"))
    reason = str(event.get("reason") or "")
    return {"type": event.get("type"), "reason": reason, "message": event.get("message"), "at": at or ""}


def _path(api_version: str, namespace: str, plural: str, name: str = "") -> str:
    root = "/apis/" if "/" in api_version else "/api/"
    path = "%s%s/namespaces/%s/%s" % (root, api_version, quote(namespace, safe=""), plural)
    return "%s/%s" % (path, quote(name, safe="")) if name else path
