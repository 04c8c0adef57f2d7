# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of the API as Status objects."""

from __future__ import annotations

from typing import Any

UNEXPECTED = "the server rejected our request due to an error in our request"


class ApiStatus(Exception):
    """A refusal: its HTTP code and the Status object that is sent."""

    def __init__(
        self,
        code: int,
        reason: str | None,
        message: str,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = headers or {}
        self.metadata: dict[str, Any] = {}

    def body(self) -> dict[str, Any]:
        """Return the Status object, keys in the order in which the API server writes them."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(resource: str, name: str = "", group: str = "", **more: Any) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if resource:
        details["kind"] = resource
    details.update(more)
    return details


def qualified(resource: str, group: str = "") -> str:
    """Name a resource as messages do: `deployments.apps`, `nodes`."""
    return f"{resource}.{group}" if group else resource


def not_found(resource: str, name: str, group: str = "") -> ApiStatus:
    """404 for a named object."""
    return ApiStatus(
        404, "NotFound", f'{qualified(resource, group)} "{name}" not found', _details(resource, name, group)
    )


def no_such_path() -> ApiStatus:
    """404 for a path or an API group that the server does not serve."""
    return ApiStatus(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: str, name: str, group: str = "") -> ApiStatus:
    """409 for a create of a taken name."""
    message = f'{qualified(resource, group)} "{name}" already exists'
    return ApiStatus(409, "AlreadyExists", message, _details(resource, name, group))


def conflict(resource: str, name: str, why: str, group: str = "") -> ApiStatus:
    """409 for a failed precondition."""
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return ApiStatus(409, "Conflict", message, _details(resource, name, group))


def modified(resource: str, name: str, group: str = "") -> ApiStatus:
    """409 of the optimistic lock."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, why, group)


def forbidden(
    resource: str, name: str, why: str, group: str = "", causes: list[dict[str, str]] | None = None
) -> ApiStatus:
    """403 with the reason of the part that refused."""
    subject = f'{qualified(resource, group)} "{name}"' if name else qualified(resource, group)
    details = _details(resource, name, group)
    if causes:
        details["causes"] = causes
    return ApiStatus(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def terminating_namespace(resource: str, name: str, namespace: str, group: str = "") -> ApiStatus:
    """403 of the NamespaceLifecycle admission for a create in a namespace that is going away."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return forbidden(resource, name, why, group, [cause])


def bad_request(message: str) -> ApiStatus:
    """400."""
    return ApiStatus(400, "BadRequest", message)


def expired(message: str) -> ApiStatus:
    """410 for a resourceVersion or a continue token that is older than what the server remembers."""
    return ApiStatus(410, "Expired", message)


def unprocessable() -> ApiStatus:
    """422 as the API server words a JSON patch that cannot be applied."""
    return ApiStatus(422, "Invalid", UNEXPECTED, {})


def invalid(kind: str, name: str, problems: list[tuple[str, str, str]], group: str = "") -> ApiStatus:
    """422 for an object that fails validation; problems: (field, cause reason, text)."""
    texts = [f"{field}: {text}" for field, _reason, text in problems]
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    causes = [{"reason": reason, "message": text, "field": field} for field, reason, text in problems]
    details = _details(kind, name, group, causes=causes)
    return ApiStatus(422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {listed}', details)
