# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of objects that are written through the API: those that clients run into."""

from __future__ import annotations

import re
from typing import Any

from .. import errors
from ..objects import Object, encoded
from ..resources import Resource

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
    "must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_ANY_NAME = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")  # path segment names only

# Fields whose JSON type is checked, as the decoder of the API server would: path -> (struct name, type name, Python
# types).
_STRING_MAPS = ("labels", "annotations")
_TYPES: dict[str, tuple[tuple[str, str, str, tuple[type, ...]], ...]] = {
    "Node": (
        ("spec.unschedulable", "NodeSpec", "bool", (bool,)),
        ("spec.taints", "NodeSpec", "[]v1.Taint", (list,)),
        ("spec.podCIDR", "NodeSpec", "string", (str,)),
    ),
    "Pod": (("spec.nodeName", "PodSpec", "string", (str,)), ("spec.containers", "PodSpec", "[]v1.Container", (list,))),
    "Deployment": (
        ("spec.replicas", "DeploymentSpec", "int32", (int,)),
        ("spec.paused", "DeploymentSpec", "bool", (bool,)),
    ),
    "StatefulSet": (("spec.replicas", "StatefulSetSpec", "int32", (int,)),),
    "ReplicaSet": (("spec.replicas", "ReplicaSetSpec", "int32", (int,)),),
}
_WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_POD_MUTABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
    "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)"
)


def type_problem(obj: Object) -> str | None:
    """Return the decoder's complaint about a value of the wrong type, None when there is none."""
    for field, struct, wanted, types in _TYPES.get(obj["kind"], ()):
        value: Any = obj
        for key in field.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None and not (isinstance(value, types) and not (isinstance(value, bool) and bool not in types)):
            return f"json: cannot unmarshal {_go_type(value)} into Go struct field {struct}.{field} of type {wanted}"
    for field in _STRING_MAPS:
        values = obj["metadata"].get(field)
        if values is not None and not isinstance(values, dict):
            where = f"Go struct field ObjectMeta.metadata.{field} of type map[string]string"
            return f"json: cannot unmarshal {_go_type(values)} into {where}"
        for value in (values or {}).values():
            if not isinstance(value, str):
                where = f"Go struct field ObjectMeta.metadata.{field} of type string"
                return f"json: cannot unmarshal {_go_type(value)} into {where}"
    return None


def check_patched(obj: Object, before: Object) -> None:
    """Raise ApiStatus 422 when a patch left a value of the wrong type."""
    problem = type_problem(obj)
    if problem is not None:
        shown = encoded(obj).decode()
        quoted = encoded(shown).decode()
        text = f"Invalid value: {quoted}: {problem}"
        details = {"causes": [{"reason": "FieldValueInvalid", "message": text, "field": "patch"}]}
        raise errors.ApiStatus(422, "Invalid", f' "" is invalid: patch: {text}', details)


def check_sent(obj: Object) -> None:
    """Raise ApiStatus 400 when a whole object that was sent cannot be decoded."""
    problem = type_problem(obj)
    if problem is not None:
        version = obj["apiVersion"].rpartition("/")[2]
        message = f'{obj["kind"]} in version "{version}" cannot be handled as a {obj["kind"]}: {problem}'
        raise errors.bad_request(message)


def check_new(obj: Object, resource: Resource) -> None:
    """Raise ApiStatus 422 when a new object misses what it needs."""
    meta, problems = obj["metadata"], []
    name = meta.get("name")
    if not name and not meta.get("generateName"):
        problems.append(("metadata.name", "FieldValueRequired", "Required value: name or generateName is required"))
    elif name and resource.kind not in _ANY_NAME and not _SUBDOMAIN.fullmatch(name):
        problems.append(("metadata.name", "FieldValueInvalid", f'Invalid value: "{name}": {_SUBDOMAIN_RULE}'))
    spec = obj.get("spec") or {}
    if resource.kind == "Pod" and not spec.get("containers"):
        problems.append(("spec.containers", "FieldValueRequired", "Required value"))
    if resource.kind in _WORKLOADS:
        problems += _selector_problems(spec)
    if problems:
        raise errors.invalid(resource.kind, name or "", problems, resource.group)


def check_update(obj: Object, old: Object, resource: Resource) -> None:
    """Raise ApiStatus 422 when an update changes what may not change."""
    new, before = obj.get("spec") or {}, old.get("spec") or {}
    if resource.kind == "Pod" and _fixed(new) != _fixed(before):
        text = f"Forbidden: pod updates may not change fields other than {_POD_MUTABLE}"
        raise errors.invalid("Pod", obj["metadata"]["name"], [("spec", "FieldValueForbidden", text)])
    if resource.kind in _WORKLOADS and new.get("selector") != before.get("selector"):
        shown = encoded(new.get("selector")).decode()
        problem = ("spec.selector", "FieldValueInvalid", f"Invalid value: {shown}: field is immutable")
        raise errors.invalid(resource.kind, obj["metadata"]["name"], [problem], resource.group)


def _selector_problems(spec: Object) -> list[tuple[str, str, str]]:
    selector = spec.get("selector")
    if not selector:
        return [("spec.selector", "FieldValueRequired", "Required value")]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        text = f"Invalid value: {encoded(labels).decode()}: `selector` does not match template `labels`"
        return [("spec.template.metadata.labels", "FieldValueInvalid", text)]
    return []


def _fixed(spec: Object) -> Object:
    kept = {
        k: v
        for k, v in spec.items()
        if k not in ("tolerations", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
    }
    for field in ("containers", "initContainers"):
        kept[field] = [{k: v for k, v in c.items() if k != "image"} for c in spec.get(field) or ()]
    return kept


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else "number"
