# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Field selectors: their syntax and which fields of which kind may be selected."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import errors
from .objects import Object
from .resources import Resource

_OPERATORS = re.compile(r"(?<!\\)(!=|==|=)")


@dataclass(frozen=True)
class FieldTerm:
    """One condition: the field's value, as text, equals `value` or does not."""

    field: str
    value: str
    equal: bool


def _path(*keys: str) -> Callable[[Object], str]:
    def read(obj: Object) -> str:
        value: Any = obj
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    return read


def _paths(*names: str) -> dict[str, Callable[[Object], str]]:
    return {name: _path(*name.split(".")) for name in names}


def _flag(*keys: str) -> Callable[[Object], str]:
    read = _path(*keys)
    return lambda obj: read(obj) or "false"  # an absent boolean is its zero value


def _event_source(obj: Object) -> str:
    return (obj.get("source") or {}).get("component") or obj.get("reportingComponent") or ""


# Source: AddFieldLabelConversions* of k8s.io/kubernetes/pkg/apis/*/v1.
_SELECTABLE: dict[str, dict[str, Callable[[Object], str]]] = {
    "Pod": {
        **_paths(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ),
        "spec.hostNetwork": _flag("spec", "hostNetwork"),
    },
    "Node": {"spec.unschedulable": _flag("spec", "unschedulable")},
    "Namespace": _paths("status.phase"),
    "Secret": _paths("type"),
    "Service": _paths("spec.clusterIP", "spec.type"),
    "ReplicaSet": _paths("status.replicas"),
    "ReplicationController": _paths("status.replicas"),
    "Job": {"status.successful": _path("status", "succeeded")},
    "Event": {
        **_paths(
            *(
                f"involvedObject.{f}"
                for f in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
            )
        ),
        **_paths("reason", "reportingComponent", "type"),
        "source": _event_source,
    },
}
_PLAIN_COMPLAINT = ("Pod", "Node", "Namespace", "Secret", "Service", "Event", "ReplicationController")
_METADATA = _paths("metadata.name", "metadata.namespace")


def parse(text: str, resource: Resource) -> list[FieldTerm]:
    """Read a field selector for a kind; ApiStatus 400 for bad syntax and for fields that cannot be selected."""
    terms: list[FieldTerm] = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        found = _OPERATORS.search(part)
        if found is None:
            raise errors.bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        field, value = part[: found.start()], part[found.end() :]
        _check(field, resource)
        terms.append(FieldTerm(field, re.sub(r"\\([,=\\])", r"\1", value), found.group() != "!="))
    return terms


def matches(terms: list[FieldTerm], obj: Object) -> bool:
    """Return whether the object meets every term."""
    return all((_reader(term.field, obj["kind"])(obj) == term.value) == term.equal for term in terms)


def _reader(field: str, kind: str) -> Callable[[Object], str]:
    return _METADATA.get(field) or _SELECTABLE[kind][field]


def _check(field: str, resource: Resource) -> None:
    if field == "metadata.namespace" and not resource.namespaced and resource.kind == "Node":
        raise errors.bad_request(f"field label not supported: {field}")
    if field in _METADATA or field in _SELECTABLE.get(resource.kind, {}):
        return
    if resource.kind in _PLAIN_COMPLAINT:
        raise errors.bad_request(f"field label not supported: {field}")
    if resource.kind in _SELECTABLE:
        raise errors.bad_request(f'field label "{field}" not supported for {resource.kind}')
    raise errors.bad_request(f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')
