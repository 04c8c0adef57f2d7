# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A minimal OpenAPI v3: enough for kubectl to leave validation to the server."""

from __future__ import annotations

from typing import Any

from ..resources import KINDS
from .messages import Response, json_response

_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")


def answer(path: str, group_versions: list[str]) -> Response | None:
    """Answer for /openapi/v3 and the documents below it; None when there is no such document."""
    below = path[len("/openapi/v3") :].strip("/")
    known = {("api/" if "/" not in name else "apis/") + name: name for name in group_versions}
    if not below:
        return json_response(
            200, {"paths": {key: {"serverRelativeURL": f"/openapi/v3/{key}?hash=kubesim"} for key in known}}
        )
    if below not in known:
        return None
    version = known[below]
    paths = {}
    for resource in KINDS.values():
        if version in [f"{resource.group}/{v}" if resource.group else v for v in resource.versions]:
            middle = "namespaces/{namespace}/" if resource.namespaced else ""
            paths[f"/{below}/{middle}{resource.plural}/{{name}}"] = {
                "patch": _patch(resource.group, version, resource.kind)
            }
    info = {"title": "Kubernetes", "version": "v1.36.2"}
    return json_response(200, {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": {}}})


def _patch(group: str, version: str, kind: str) -> dict[str, Any]:
    return {
        "operationId": f"patch{kind}",
        "parameters": [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _PARAMETERS],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": group, "version": version.rpartition("/")[2], "kind": kind},
    }
