# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reviews: may I do this, what may I do, who am I."""

from __future__ import annotations

from ..objects import Object
from . import bodies
from .access import Access, Attributes, Rule, User
from .messages import Request, Response, json_response

_OWN = [
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
]
_HEALTH = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_URLS = [
    {
        "verbs": ["get"],
        "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", *_HEALTH[:2], "/openapi", "/openapi/*", *_HEALTH[2:]],
    },
    {"verbs": ["get"], "nonResourceURLs": _HEALTH},
    {"verbs": ["get"], "nonResourceURLs": ["/.well-known", "/.well-known/*"]},
]


def answer(kind: str, api_version: str, request: Request, user: User, access: Access) -> Response:
    """Answer a review that was posted: 201."""
    body = bodies.object_of(request, kind, api_version)
    spec = body.get("spec") or {}
    head: Object = {"kind": kind, "apiVersion": api_version, "metadata": {}}
    if kind == "SelfSubjectReview":
        info = {"username": user.name, "groups": list(user.groups)}
        return json_response(201, {**head, "status": {"userInfo": info}})
    if kind == "SelfSubjectRulesReview":
        rules = [*_OWN, *(_rule(rule) for rule in access.rules_in(user, spec.get("namespace", "")))]
        status = {"resourceRules": rules, "nonResourceRules": _URLS, "incomplete": False}
        return json_response(201, {**head, "spec": {}, "status": status})
    if kind == "SubjectAccessReview":
        user = User(spec.get("user", ""), tuple(spec.get("groups") or ()))
    return json_response(201, {**head, "spec": spec, "status": {"allowed": access.allows(user, _attributes(spec))}})


def _rule(rule: Rule) -> Object:
    kept = {
        "verbs": list(rule.get("verbs") or ()),
        "apiGroups": list(rule.get("apiGroups", [""])),
        "resources": list(rule["resources"]),
    }
    if rule.get("resourceNames"):
        kept["resourceNames"] = list(rule["resourceNames"])
    return kept


def _attributes(spec: Object) -> Attributes:
    other = spec.get("nonResourceAttributes")
    if other:
        return Attributes(other.get("verb", ""), path=other.get("path", ""))
    wanted = spec.get("resourceAttributes") or {}
    return Attributes(
        wanted.get("verb", ""),
        wanted.get("group", ""),
        wanted.get("resource", ""),
        wanted.get("subresource", ""),
        wanted.get("namespace", ""),
        wanted.get("name", ""),
    )
