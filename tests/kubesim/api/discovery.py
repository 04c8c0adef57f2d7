# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Discovery documents, version and health: what clients ask before they ask for objects."""

from __future__ import annotations

from typing import Any

from ..objects import Object
from ..resources import ALIASES, KINDS, Resource
from . import openapi
from .messages import Request, Response, json_response, text_response
from .paths import REVIEWS

VERSION: Object = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "kubesim",
    "gitTreeState": "clean",
    "buildDate": "2026-08-01T00:00:00Z",
    "goVersion": "go1.26.6",
    "compiler": "gc",
    "platform": "linux/amd64",
}

# The order in which the API server lists its groups.
_GROUPS = (
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
)
_PROXY = ("create", "delete", "get", "patch", "update")
_STREAM = ("create", "get")
# Subresources whose kind or verbs differ from the object's own: resource/subresource -> (kind, group, version, verbs).
_SPECIAL: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "scale": ("Scale", "autoscaling", "v1", ("get", "patch", "update")),
    "pods/attach": ("PodAttachOptions", "", "", _STREAM),
    "pods/binding": ("Binding", "", "", ("create",)),
    "pods/eviction": ("Eviction", "policy", "v1", ("create",)),
    "pods/exec": ("PodExecOptions", "", "", _STREAM),
    "pods/log": ("Pod", "", "", ("get",)),
    "pods/portforward": ("PodPortForwardOptions", "", "", _STREAM),
    "pods/proxy": ("PodProxyOptions", "", "", _PROXY),
    "namespaces/finalize": ("Namespace", "", "", ("update",)),
    "nodes/proxy": ("NodeProxyOptions", "", "", _PROXY),
    "serviceaccounts/token": ("TokenRequest", "authentication.k8s.io", "v1", ("create",)),
    "services/proxy": ("ServiceProxyOptions", "", "", _PROXY),
}
# Named in discovery, not served: clients look for them by name only.
_ONLY_NAMED = {
    "pods": ("attach", "exec", "portforward", "proxy"),
    "services": ("proxy",),
    "serviceaccounts": ("token",),
}
_HEALTH = ("/healthz", "/livez", "/readyz")


def answer(request: Request) -> Response | None:
    """Answer for discovery, version, health and OpenAPI; None for every other path."""
    path = request.path.rstrip("/")
    if path == "/version":
        return json_response(200, VERSION)
    if path in _HEALTH:
        return text_response(200, "ok")
    if path == "/api":
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]
        return json_response(200, {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses})
    if path == "/apis":
        groups = [_group(name) for name in _GROUPS]
        return json_response(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    if path == "/openapi/v3" or path.startswith("/openapi/v3/"):
        return openapi.answer(path, group_versions())
    return _lists(path)


def group_versions() -> list[str]:
    """Return every group/version that is served."""
    return ["v1", *(f"{name}/{version}" for name in _GROUPS for version in _versions(name))]


def _lists(path: str) -> Response | None:
    parts = path.strip("/").split("/")
    if parts == ["api", "v1"]:
        return json_response(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": _resources("", "v1")})
    if parts[0] != "apis" or len(parts) not in (2, 3) or parts[1] not in _GROUPS:
        return None
    group = parts[1]
    if len(parts) == 2:
        return json_response(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(group)})
    if parts[2] not in _versions(group):
        return None
    listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{parts[2]}"}
    return json_response(200, {**listed, "resources": _resources(group, parts[2])})


def _versions(group: str) -> tuple[str, ...]:
    return next((row.versions for row in KINDS.values() if row.group == group), ("v1",))


def _group(group: str) -> Object:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in _versions(group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str) -> list[Object]:
    rows: list[Object] = []
    if not group:
        rows.append(
            {"name": "bindings", "singularName": "binding", "namespaced": True, "kind": "Binding", "verbs": ["create"]}
        )
        verbs = ["get", "list"]
        status = {
            "name": "componentstatuses",
            "singularName": "componentstatus",
            "namespaced": False,
            "kind": "ComponentStatus",
        }
        rows.append({**status, "verbs": verbs, "shortNames": ["cs"]})
    served = [row for row in KINDS.values() if row.group == group and version in row.versions]
    served += [KINDS[kind] for (alias, _plural), kind in ALIASES.items() if alias == group]
    for resource in sorted(served, key=lambda row: row.plural):
        rows.append(_main(resource))
        subresources = sorted({*resource.subresources, *(_ONLY_NAMED.get(resource.plural, ()) if not group else ())})
        rows += [_subresource(resource, name) for name in subresources]
    for (review_group, plural), kind in sorted(REVIEWS.items()):
        if review_group == group:
            rows.append(
                {"name": plural, "singularName": kind.lower(), "namespaced": False, "kind": kind, "verbs": ["create"]}
            )
    return rows


def _main(resource: Resource) -> Object:
    row: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular or resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short:
        row["shortNames"] = list(resource.short)
    if resource.categories:
        row["categories"] = list(resource.categories)
    return row


def _subresource(resource: Resource, name: str) -> Object:
    full = f"{resource.plural}/{name}"
    fallback = (resource.kind, "", "", ("get", "patch", "update"))
    kind, group, version, verbs = _SPECIAL.get(full) or _SPECIAL.get(name) or fallback
    row: Object = {"name": full, "singularName": "", "namespaced": resource.namespaced}
    if group:
        row.update(group=group, version=version)
    return {**row, "kind": kind, "verbs": list(verbs)}
