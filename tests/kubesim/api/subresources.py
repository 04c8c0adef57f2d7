# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subresources other than status and eviction: scale, binding, log."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..agenda import timestamp
from ..objects import Object, set_condition
from ..resources import Resource
from ..store import Store
from . import bodies, logs, patches
from .messages import Request, Response, json_response
from .paths import Target


class Subresources:
    """Answer requests for scale, binding and log."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def answer(self, request: Request, target: Target, resource: Resource) -> Response | None:
        """Answer, or return None when the subresource is none of these."""
        obj = self._store.get(resource.kind, target.namespace, target.name)
        if obj is None:
            raise errors.not_found(resource.plural, target.name, resource.group)
        key = (target.subresource, request.method)
        if key == ("log", "GET"):
            return logs.answer(self._store, request, obj)
        if key == ("binding", "POST"):
            return self._bind(request, obj)
        if target.subresource == "scale" and request.method in ("GET", "PUT", "PATCH"):
            return self._scale(request, obj)
        return None

    def _bind(self, request: Request, pod: Object) -> Response:
        body = bodies.object_of(request, "Binding", "v1")
        node = (body.get("target") or {}).get("name", "")
        meta = pod["metadata"]
        if pod["spec"].get("nodeName"):
            why = f'pod {meta["name"]} is already assigned to node "{pod["spec"]["nodeName"]}"'
            raise errors.conflict("pods/binding", meta["name"], why)

        def bind(obj: Object) -> None:
            obj["spec"]["nodeName"] = node
            now = timestamp(self._store.agenda.now)
            set_condition(
                obj["status"],
                {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now},
            )

        if not bodies.is_dry_run(request):
            self._store.mutate("Pod", meta["namespace"], meta["name"], bind)
        return json_response(
            201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        )

    def _scale(self, request: Request, obj: Object) -> Response:
        scale = _scale_of(obj)
        if request.method == "GET":
            return json_response(200, scale)
        if request.method == "PUT":
            wanted: Any = bodies.object_of(request, "Scale", "autoscaling/v1")
        else:
            content = bodies.decoded(request)
            is_list = isinstance(content, list)
            wanted = patches.json_patch(scale, content) if is_list else patches.merge_patch(scale, content)
        seen = wanted["metadata"].get("resourceVersion")
        meta = obj["metadata"]
        if seen and seen != meta["resourceVersion"]:
            raise errors.modified(_plural(obj), meta["name"], "apps")
        replicas = (wanted.get("spec") or {}).get("replicas", 0)
        changed = {**obj, "spec": {**obj["spec"], "replicas": replicas}}
        dry_run = bodies.is_dry_run(request, options="UpdateOptions")
        return json_response(200, _scale_of(changed if dry_run else self._store.update(changed)))


def _plural(obj: Object) -> str:
    return str(obj["kind"]).lower() + "s"


def _scale_of(obj: Object) -> Object:
    meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    labels = (spec.get("selector") or {}).get("matchLabels") or {}
    kept = {
        key: meta[key] for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp") if key in meta
    }
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": kept,
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": {
            "replicas": status.get("replicas", 0),
            "selector": ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        },
    }
