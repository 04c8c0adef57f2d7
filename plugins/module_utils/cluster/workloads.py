# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests about workloads, their pods, events and logs. Each method is one request or a paged list."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

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
from .paths import item_path, namespaced_path

# Limits of the log excerpt in a failed task's message.
LOG_LINES = 10
LOG_BYTES = 8192
# Objects to read from other namespaces for a hint.
MAX_HITS = 20

# A workload is some kilobytes of JSON, and most of it is its template.
_METADATA = ("name", "namespace", "uid", "resourceVersion", "generation", "annotations")
_SPEC = ("replicas", "paused", "updateStrategy", "minReadySeconds", "selector")


class Workloads:
    """The workloads of a cluster. page_size, pause: of lists, see list_watch.Collection."""

    def __init__(self, rest: Rest, page_size: int = 500, pause: float = 5.0) -> None:
        self._rest = rest
        self._page_size = page_size
        self._pause = pause

    def get(self, api_version: str, plural: str, namespace: str, name: str) -> Obj | None:
        """Return a workload, trimmed; None if it does not exist."""
        try:
            found = self._rest.get(namespaced_path(api_version, namespace, plural, name))
        except NotFound as exc:
            if is_absent(exc):
                return None
            raise
        if name_of(found) != name:
            text = f"the response for {name} is another object, so it is not from a Kubernetes API server"
            raise UnexpectedResponse(text, status=200)
        return trimmed_workload(found)

    def collection(
        self, api_version: str, plural: str, namespace: str, names: tuple[str, ...], selectors: tuple[str, ...]
    ) -> Collection:
        """Return the collection of the workloads with these names, or that match the label selectors, to watch."""
        query: dict[str, Any] = {}
        if selectors:
            query["labelSelector"] = ",".join(selectors)
        elif len(names) == 1:
            query["fieldSelector"] = "metadata.name=" + names[0]
        wanted = set(names)

        def keep(obj: Obj) -> Obj:
            # Keep nothing of the others: there may be thousands.
            return trimmed_workload(obj) if not wanted or name_of(obj) in wanted else {}

        return Collection(namespaced_path(api_version, namespace, plural), query, self._page_size, self._pause, keep)

    def listed(self, what: Collection) -> list[Obj]:
        """List a collection once."""
        return self._rest.list(what.path, what.query, what.page_size, what.keep).items

    def likely(self, api_version: str, plural: str, namespace: str, name: str) -> str:
        """Return a hint why a workload does not exist: namespaces that have it, or similar names; "" if none."""
        hint = self.elsewhere(api_version, plural, namespace, "there is one", fieldSelector="metadata.name=" + name)
        if hint:
            return hint
        try:
            page = self._once(namespaced_path(api_version, namespace, plural), limit=self._page_size)
        except MaintenanceError:
            return ""
        known = [name_of(obj) for obj in mappings_at(page, "items")]
        near = difflib.get_close_matches(name, known, n=3)
        more = "at least " if mapping_at(page, "metadata").get("continue") else ""
        if near:
            return f"; did you mean {', '.join(near)}?"
        return f" (it has {more}{len(known)} {plural})"

    def elsewhere(self, api_version: str, plural: str, namespace: str, found: str, **query: str) -> str:
        """Return a hint if the namespace does not exist, or if others have what the query selects; "" for neither.

        found: introduces those other namespaces.
        """
        hint = ""
        try:
            self._once(item_path("/api/v1/namespaces", namespace))
        except NotFound:
            hint = f"; there is no namespace {namespace!r} either"
        except MaintenanceError:
            pass
        try:
            # Few accounts may list all namespaces; without that right there is no hint.
            page = self._once(f"/apis/{api_version}/{plural}", limit=MAX_HITS, **query)
        except MaintenanceError:
            return hint
        places = sorted({namespace_of(obj) for obj in mappings_at(page, "items")} - {namespace, ""})
        if places:
            noun = "namespace" if len(places) == 1 else "the namespaces"
            hint += f"; {found} in {noun} {abbreviate(places)}"
        return hint

    def _once(self, path: str, **query: Any) -> Obj:
        """Send a GET without retries: the response only improves an error's text."""
        return self._rest.request("GET", path, query, leave=(MaintenanceError,))

    def pods_collection(self, namespace: str, selector: str, keep: Callable[[Obj], Obj]) -> Collection:
        """Return the collection of the pods of a namespace that match a label selector, to watch."""
        query = {"labelSelector": selector} if selector else {}
        return Collection(namespaced_path("v1", namespace, "pods"), query, self._page_size, self._pause, keep)

    def replica_set_revision(self, namespace: str, name: str, annotation: str) -> str:
        """Return the value of a ReplicaSet's annotation, "" if it has none or does not exist."""
        try:
            found = self._rest.get(namespaced_path("apps/v1", namespace, "replicasets", name))
        except NotFound:
            return ""
        return str(mapping_at(found, "metadata", "annotations").get(annotation) or "")

    def newest_hash(self, workload: Obj) -> str:
        """Return the controller-revision-hash of a DaemonSet's newest revision, "" if it has none.

        A DaemonSet's status does not contain it, so read its ControllerRevisions.
        """
        path = namespaced_path("apps/v1", namespace_of(workload), "controllerrevisions")
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
        items = self._rest.list(namespaced_path("v1", namespace, "events"), query, self._page_size, _short_event).items
        return sorted(items, key=lambda event: str(event["at"]))

    def last_log(self, pod: Obj, container: str, previous: bool) -> str:
        """Return the last lines of a container's log; previous: of its previous instance."""
        query: dict[str, Any] = {"container": container, "tailLines": LOG_LINES, "limitBytes": LOG_BYTES}
        if previous:
            query["previous"] = "true"
        path = namespaced_path("v1", namespace_of(pod), "pods", name_of(pod)) + "/log"
        return self._rest.text(path, query).rstrip()


def trimmed_workload(obj: Obj) -> Obj:
    """Return the workload with only the fields that k8s_rollout_status reads."""
    meta = fields_at(obj, "metadata", keys=_METADATA)
    # The last-applied annotation of kubectl apply would double the size.
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

    core/v1 events have lastTimestamp, those of events.k8s.io eventTime and series.
    """
    times = [event.get("lastTimestamp"), mapping_at(event, "series").get("lastObservedTime"), event.get("eventTime")]
    at = max((str(time) for time in times if time), default=mapping_at(event, "metadata").get("creationTimestamp"))
    reason = str(event.get("reason") or "")
    return {"type": event.get("type"), "reason": reason, "message": event.get("message"), "at": at or ""}
