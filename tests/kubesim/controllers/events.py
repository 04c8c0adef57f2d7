# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Event objects, as controllers and kubelets record them."""

from __future__ import annotations

from ..agenda import Agenda, timestamp
from ..errors import ApiStatus
from ..objects import Object
from ..store import Store

# The API server keeps events for an hour; what is recorded again within that time is counted on the same event.
KEPT_SECONDS = 3600.0
_EventKey = tuple[str, str, str, str, str]


class Recorder:
    """Write Event objects; the same words about the same object are one event with a count."""

    def __init__(self, store: Store, agenda: Agenda) -> None:
        self._store = store
        self._agenda = agenda
        self._recorded: dict[_EventKey, tuple[str, str, float]] = {}  # -> namespace, name, last time
        self._number = 0

    def record(self, about: Object, kind: str, reason: str, message: str, component: str, field: str = "") -> None:
        """Record that `component` says this about an object; `kind` is Normal or Warning, `field` a part of it."""
        meta, now = about["metadata"], self._agenda.now
        self._forget_old(now)
        key = (meta["uid"], component, reason, message, field)
        before = self._recorded.pop(key, None)  # put in again below: the oldest come first
        if before is not None and self._store.mutate("Event", before[0], before[1], self._again) is not None:
            self._recorded[key] = (before[0], before[1], now)
            return
        self._number += 1
        name = f"{meta['name']}.{int(now * 1e6) * 1000 + self._number % 1000:x}"
        namespace = meta.get("namespace") or "default"
        try:
            self._store.create(self._event(about, kind, reason, message, component, field, name, namespace))
        except ApiStatus:
            return  # its namespace is being deleted
        self._recorded[key] = (namespace, name, now)

    def _forget_old(self, now: float) -> None:
        while self._recorded:
            key, (namespace, name, last) = next(iter(self._recorded.items()))
            if last + KEPT_SECONDS > now:
                return
            del self._recorded[key]
            self._store.remove("Event", namespace, name)

    def _again(self, event: Object) -> None:
        event["count"] += 1
        event["lastTimestamp"] = timestamp(self._agenda.now)

    def _event(
        self, about: Object, kind: str, reason: str, message: str, component: str, field: str, name: str, namespace: str
    ) -> Object:
        meta, stamp = about["metadata"], timestamp(self._agenda.now)
        involved: Object = {"kind": about["kind"], "name": meta["name"], "uid": meta["uid"]}
        involved["apiVersion"] = about.get("apiVersion", "v1")
        involved["resourceVersion"] = meta.get("resourceVersion", "")
        if meta.get("namespace"):
            involved["namespace"] = meta["namespace"]
        if field:
            involved["fieldPath"] = field
        source: Object = {"component": component}
        node = (about.get("spec") or {}).get("nodeName")
        if component == "kubelet" and node:
            source["host"] = node
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": source.get("host", ""),
        }
