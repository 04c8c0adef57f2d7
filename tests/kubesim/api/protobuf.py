# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the protobuf bodies that kubectl's own commands send (auth can-i, create namespace|deployment|...).

Field numbers: the generated.proto files of k8s.io/api and k8s.io/apimachinery. Only the fields that these commands
set are known; others are skipped, as protobuf readers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import errors

_MAGIC = b"k8s\x00"

# field number -> (JSON name, type); a type is str, int, bool, a message name, map, intstr; a trailing * makes it a
# list.
_MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "ObjectMeta": {
        1: ("name", "str"),
        2: ("generateName", "str"),
        3: ("namespace", "str"),
        5: ("uid", "str"),
        6: ("resourceVersion", "str"),
        11: ("labels", "map"),
        12: ("annotations", "map"),
        14: ("finalizers", "str*"),
    },
    "LabelSelector": {1: ("matchLabels", "map"), 2: ("matchExpressions", "LabelSelectorRequirement*")},
    "LabelSelectorRequirement": {1: ("key", "str"), 2: ("operator", "str"), 3: ("values", "str*")},
    "Preconditions": {1: ("uid", "str"), 2: ("resourceVersion", "str")},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        3: ("orphanDependents", "bool"),
        4: ("propagationPolicy", "str"),
        5: ("dryRun", "str*"),
    },
    "Eviction": {1: ("metadata", "ObjectMeta"), 2: ("deleteOptions", "DeleteOptions")},
    "Namespace": {1: ("metadata", "ObjectMeta")},
    "ServiceAccount": {1: ("metadata", "ObjectMeta")},
    "ConfigMap": {1: ("metadata", "ObjectMeta"), 2: ("data", "map")},
    "SelfSubjectReview": {1: ("metadata", "ObjectMeta")},
    "SelfSubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "SelfSubjectAccessReviewSpec")},
    "SelfSubjectAccessReviewSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "NonResource"),
    },
    "ResourceAttributes": {
        1: ("namespace", "str"),
        2: ("verb", "str"),
        3: ("group", "str"),
        4: ("version", "str"),
        5: ("resource", "str"),
        6: ("subresource", "str"),
        7: ("name", "str"),
    },
    "NonResource": {1: ("path", "str"), 2: ("verb", "str")},
    "SelfSubjectRulesReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "SelfSubjectRulesReviewSpec")},
    "SelfSubjectRulesReviewSpec": {1: ("namespace", "str")},
    "PodDisruptionBudget": {1: ("metadata", "ObjectMeta"), 2: ("spec", "PodDisruptionBudgetSpec")},
    "PodDisruptionBudgetSpec": {
        1: ("minAvailable", "intstr"),
        2: ("selector", "LabelSelector"),
        3: ("maxUnavailable", "intstr"),
        4: ("unhealthyPodEvictionPolicy", "str"),
    },
    "Deployment": {1: ("metadata", "ObjectMeta"), 2: ("spec", "DeploymentSpec")},
    "DeploymentSpec": {1: ("replicas", "int"), 2: ("selector", "LabelSelector"), 3: ("template", "PodTemplateSpec")},
    "Job": {1: ("metadata", "ObjectMeta"), 2: ("spec", "JobSpec")},
    "JobSpec": {1: ("parallelism", "int"), 2: ("completions", "int"), 6: ("template", "PodTemplateSpec")},
    "PodTemplateSpec": {1: ("metadata", "ObjectMeta"), 2: ("spec", "PodSpec")},
    "PodSpec": {
        2: ("containers", "Container*"),
        3: ("restartPolicy", "str"),
        4: ("terminationGracePeriodSeconds", "int"),
        7: ("nodeSelector", "map"),
        10: ("nodeName", "str"),
    },
    "Container": {
        1: ("name", "str"),
        2: ("image", "str"),
        3: ("command", "str*"),
        4: ("args", "str*"),
        6: ("ports", "ContainerPort*"),
    },
    "ContainerPort": {1: ("name", "str"), 3: ("containerPort", "int"), 4: ("protocol", "str")},
}


def decoded(body: bytes) -> dict[str, Any]:
    """Return the object in a protobuf body as JSON data.

    ApiStatus 415 for kinds that are not known here, 400 for broken bodies.
    """
    try:
        if not body.startswith(_MAGIC):
            raise ValueError("provided data does not appear to be a protobuf message")
        envelope = dict(_fields(body[len(_MAGIC) :]))
        head = {number: value.decode() for number, value in _fields(envelope.get(1, b""))}
        kind = head.get(2, "")
        if kind not in _MESSAGES:
            message = f"the body of the request was in an unknown format: protobuf of {kind}; send application/json"
            raise errors.ApiStatus(415, "UnsupportedMediaType", message, {})
        return {"kind": kind, "apiVersion": head.get(1, ""), **_message(kind, envelope.get(2, b""))}
    except (ValueError, IndexError, AttributeError) as problem:
        raise errors.bad_request(f"error decoding the body of the request: {problem}") from None


def _message(name: str, data: bytes) -> dict[str, Any]:
    known = _MESSAGES[name]
    result: dict[str, Any] = {}
    for number, value in _fields(data):
        if number not in known:
            continue
        key, type_ = known[number]
        if type_ == "map":
            pair = {n: v.decode() for n, v in _fields(value)}
            result.setdefault(key, {})[pair.get(1, "")] = pair.get(2, "")
        elif type_.endswith("*"):
            result.setdefault(key, []).append(_value(type_[:-1], value))
        elif value not in (b"", 0) or type_ == "int":
            read = _value(type_, value)
            if read != {} or type_ == "LabelSelector":
                result[key] = read
    return result


def _value(type_: str, value: Any) -> Any:
    if type_ == "str":
        return value.decode()
    if type_ == "int":
        return value - (1 << 64) if value >= 1 << 63 else value
    if type_ == "bool":
        return bool(value)
    if type_ == "intstr":
        parts = dict(_fields(value))
        return parts[3].decode() if parts.get(1) else parts.get(2, 0)
    return _message(type_, value)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        value: Any
        if wire == 0:
            value, at = _varint(data, at)
        elif wire == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        yield tag >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
