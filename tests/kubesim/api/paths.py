# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a path of the API names."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from ..resources import KINDS, Resource, by_path
from .access import Attributes
from .messages import Request

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}

# Resources that only answer a POST and store nothing: (group, plural) -> kind.
REVIEWS = {
    ("authorization.k8s.io", "selfsubjectaccessreviews"): "SelfSubjectAccessReview",
    ("authorization.k8s.io", "selfsubjectrulesreviews"): "SelfSubjectRulesReview",
    ("authorization.k8s.io", "subjectaccessreviews"): "SubjectAccessReview",
    ("authentication.k8s.io", "selfsubjectreviews"): "SelfSubjectReview",
}


@dataclass(frozen=True)
class Target:
    """A path below /api/v1 or /apis/<group>/<version>. `resource` is None for reviews and for what is not served."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    resource: Resource | None = None

    @property
    def api_version(self) -> str:
        """Group and version as objects carry them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def review(self) -> str | None:
        """The kind of review, None when it is none."""
        return REVIEWS.get((self.group, self.plural)) if not self.name else None

    def verb(self, request: Request) -> str:
        """Name the request as authorization does."""
        if request.method in ("GET", "HEAD"):
            if request.is_watch:
                return "watch"
            return "get" if self.name else "list"
        if request.method == "DELETE":
            return "delete" if self.name else "deletecollection"
        return _VERBS.get(request.method, request.method.lower())

    def attributes(self, request: Request) -> Attributes:
        """Return what authorization is asked for this request."""
        verb, name = self.verb(request), self.name
        if verb in ("list", "watch", "deletecollection") and not name:
            name = _selected_name(request.query.get("fieldSelector", ""))
        # the API server puts the namespace's own name there, so that rules of a namespace can cover the namespace
        # object
        namespace = self.name if self.plural == "namespaces" and not self.group else self.namespace
        return Attributes(verb, self.group, self.plural, self.subresource, namespace, name)


def target_of(path: str) -> Target | None:
    """Return what a path names, None when it names no resource (discovery, health, unknown)."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in KINDS["Namespace"].subresources:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = rest[0], rest[1] if len(rest) > 1 else "", "/".join(rest[2:])
    resource = by_path(group, version, plural)
    if resource is not None and resource.namespaced != bool(namespace) and (namespace or name):
        resource = None
    return Target(group, version, plural, namespace, name, subresource, resource)


def _selected_name(selector: str) -> str:
    for part in selector.split(","):
        field, _operator, value = part.partition("=")
        if field == "metadata.name":
            return value.lstrip("=")
    return ""
