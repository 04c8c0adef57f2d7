# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission of new pods: quotas, and namespaces that let none in.

A namespace with the annotation fake/deny-pods refuses every new pod with that text, for example
`admission webhook "policy.example.com" denied the request: image is not signed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Protocol

from . import errors, quantities
from .objects import Object

DENIED = "fake/deny-pods"
_COUNTS = ("pods", "count/pods")
_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory"}
_COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


class Objects(Protocol):
    """Where admission looks for namespaces, quotas and pods."""

    def get(self, kind: str, namespace: str | None, name: str) -> Object | None:
        """Return one object."""

    def list(self, kind: str, namespace: str | None = None) -> list[Object]:
        """Return all objects of a kind."""


def check_pod(objects: Objects, pod: Object) -> None:
    """Raise the ApiStatus 403 that the API server answers with when the pod may not be created."""
    meta = pod["metadata"]
    home = objects.get("Namespace", None, meta.get("namespace", "")) or {"metadata": {}}
    denied = (home["metadata"].get("annotations") or {}).get(DENIED)
    if denied and denied.startswith("admission webhook"):
        raise errors.ApiStatus(403, "Forbidden", denied)
    if denied:
        raise errors.forbidden("pods", meta["name"], denied)
    quotas = objects.list("ResourceQuota", meta.get("namespace", ""))
    if not quotas:
        return
    pods = objects.list("Pod", meta["namespace"])
    for quota in quotas:
        _check(quota, pod, pods)


def used(quota: Object, pods: Iterable[Object]) -> dict[str, Fraction]:
    """Return what the namespace's pods use of each resource that the quota limits; finished pods count nothing."""
    total = dict.fromkeys(_tracked(quota), Fraction(0))
    for pod in pods:
        if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
            for resource in total:
                total[resource] += _usage(pod, resource)
    return total


def _tracked(quota: Object) -> list[str]:
    hard = (quota.get("spec") or {}).get("hard") or {}
    return sorted(resource for resource in hard if resource in _COUNTS or _SHORT.get(resource, resource) in _COMPUTE)


def _usage(pod: Object, resource: str) -> Fraction:
    if resource in _COUNTS:
        return Fraction(1)
    part, _dot, name = _SHORT.get(resource, resource).partition(".")
    return quantities.of_pod(pod, part, name)


def _check(quota: Object, pod: Object, pods: Iterable[Object]) -> None:
    name, before, hard = quota["metadata"]["name"], used(quota, pods), quota["spec"]["hard"]
    lacking = [
        f"{resource} for: {','.join(silent)}"
        for resource in before
        if resource not in _COUNTS and (silent := _silent(pod, resource))
    ]
    if lacking:
        why = f"failed quota: {name}: must specify {'; '.join(lacking)}"
        raise errors.forbidden("pods", pod["metadata"]["name"], why)
    asked = {resource: _usage(pod, resource) for resource in before}
    over = [r for r in before if asked[r] and before[r] + asked[r] > quantities.amount(hard[r])]
    if over:
        limited = {resource: quantities.amount(hard[resource]) for resource in over}
        why = (
            f"exceeded quota: {name}, requested: {_listed(asked, over)}, used: {_listed(before, over)}, "
            f"limited: {_listed(limited, over)}"
        )
        raise errors.forbidden("pods", pod["metadata"]["name"], why)


def _silent(pod: Object, resource: str) -> list[str]:
    """Return the containers that do not say how much of the resource they want."""
    part, _dot, name = _SHORT.get(resource, resource).partition(".")
    parts = ("requests", "limits") if part == "requests" else ("limits",)
    return [
        container["name"]
        for container in pod["spec"].get("containers") or ()
        if not any(name in ((container.get("resources") or {}).get(p) or {}) for p in parts)
    ]


def _listed(amounts: Mapping[str, Fraction], resources: list[str]) -> str:
    return ",".join(f"{resource}={quantities.written(amounts[resource], resource)}" for resource in resources)
