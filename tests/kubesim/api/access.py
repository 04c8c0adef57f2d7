# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who sends a request, and what that user may do."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import errors
from .messages import Request

Rule = Mapping[str, Any]
MASTERS = "system:masters"
ADMIN_TOKEN = "admintoken"
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY = ("/api", "/apis", "/openapi", "/.well-known")
_SELF_REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")


@dataclass(frozen=True)
class User:
    """A name with its groups."""

    name: str
    groups: tuple[str, ...] = ()


ADMIN = User("kubernetes-admin", (MASTERS, "system:authenticated"))
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))


@dataclass(frozen=True)
class Attributes:
    """What a request wants, in the terms of authorization; `path` only for requests that concern no resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Access:
    """Credentials and rules. Rules of a user: "*" (everything) or RBAC-like ones, each with an optional `namespace`."""

    def __init__(self, tokens: Mapping[str, Any] | None = None) -> None:
        self._tokens: dict[str, User] = {}
        self._basic: dict[str, User] = {}
        self._certificates: dict[str, User] = {}
        self._rules: dict[str, Any] = {}
        self.anonymous = ANONYMOUS  # who sends requests without credentials
        self.grant({"tokens": tokens or {ADMIN_TOKEN: {"user": ADMIN.name, "groups": [MASTERS], "rules": "*"}}})

    def grant(self, entries: Mapping[str, Any]) -> None:
        """Add users, or replace them.

        {"tokens": {token: {user, groups, rules}}, "basic": {"name:password": {...}}, "certificates": {cn: {...}}}
        """
        for section, users in (("tokens", self._tokens), ("basic", self._basic), ("certificates", self._certificates)):
            for secret, entry in (entries.get(section) or {}).items():
                name = entry.get("user") or (secret if section == "certificates" else secret.split(":")[0])
                users[secret] = User(name, tuple(entry.get("groups") or ()) + ("system:authenticated",))
                self._rules[name] = entry.get("rules") or []

    def revoke(self, token: str) -> None:
        """Make a token unknown."""
        self._tokens.pop(token, None)

    def authenticate(self, request: Request) -> User:
        """Return who sends the request; ApiStatus 401 for credentials that are not known."""
        scheme, _space, secret = request.headers.get("authorization", "").partition(" ")
        user: User | None = self.anonymous
        if scheme.lower() == "bearer":
            user = self._tokens.get(secret.strip())
        elif scheme.lower() == "basic":
            user = self._basic.get(_decoded(secret))
        elif scheme:
            user = None
        elif request.client_cert_cn:
            user = self._certificates.get(request.client_cert_cn) or User(
                request.client_cert_cn, ("system:authenticated",)
            )
        if user is None:
            raise errors.ApiStatus(401, "Unauthorized", "Unauthorized")
        return self._impersonated(user, request)

    def check(self, user: User, wanted: Attributes) -> None:
        """Raise ApiStatus 403 when the user may not do it."""
        if self.allows(user, wanted):
            return
        if wanted.path:
            raise errors.ApiStatus(
                403, "Forbidden", f'forbidden: User "{user.name}" cannot {wanted.verb} path "{wanted.path}"', {}
            )
        resource = wanted.resource + (f"/{wanted.subresource}" if wanted.subresource else "")
        where = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
        why = f'User "{user.name}" cannot {wanted.verb} resource "{resource}" in API group "{wanted.group}" {where}'
        raise errors.forbidden(wanted.resource, wanted.name, why, wanted.group)

    def allows(self, user: User, wanted: Attributes) -> bool:
        """Return whether the user may do it."""
        rules = self._rules.get(user.name)
        if MASTERS in user.groups or rules == "*":
            return True
        if wanted.path and wanted.verb == "get":
            known = user is not ANONYMOUS
            if wanted.path in _PUBLIC or (known and any(_is_under(wanted.path, top) for top in _DISCOVERY)):
                return True
        if wanted.verb == "create" and wanted.resource in _SELF_REVIEWS and user is not ANONYMOUS:
            return True
        return any(_covers(rule, wanted) for rule in rules or ())

    def rules_in(self, user: User, namespace: str) -> list[Rule]:
        """Return the rules that hold in a namespace, for SelfSubjectRulesReview."""
        rules = self._rules.get(user.name) or ()
        if rules == "*" or MASTERS in user.groups:
            return [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
        return [rule for rule in rules if rule.get("resources") and _in_namespace(rule, namespace)]

    def _impersonated(self, user: User, request: Request) -> User:
        name = request.headers.get("impersonate-user")
        groups = [g.strip() for g in request.headers.get("impersonate-group", "").split(",") if g.strip()]
        if not name:
            if groups:
                raise errors.bad_request(f"requested [{{Group  {groups[0]}}}] without impersonating a user")
            return user
        self.check(user, _impersonation(name))
        for group in groups:
            self.check(user, Attributes("impersonate", resource="groups", name=group))
        return User(name, (*groups, "system:authenticated"))


def _impersonation(name: str) -> Attributes:
    parts = name.split(":")
    if len(parts) == 4 and name.startswith("system:serviceaccount:"):
        return Attributes("impersonate", resource="serviceaccounts", namespace=parts[2], name=parts[3])
    return Attributes("impersonate", resource="users", name=name)


def _decoded(secret: str) -> str:
    try:
        return base64.b64decode(secret).decode()
    except ValueError:
        return ""


def _is_under(path: str, top: str) -> bool:
    return path == top or path.startswith(top + "/")


def _has(values: Any, value: str) -> bool:
    return "*" in values or value in values


def _in_namespace(rule: Rule, namespace: str) -> bool:
    where = rule.get("namespace")
    return not where or namespace == where or (isinstance(where, list) and namespace in where)


def _covers(rule: Rule, wanted: Attributes) -> bool:
    if not _has(rule.get("verbs") or (), wanted.verb):
        return False
    if wanted.path:
        urls = rule.get("nonResourceURLs") or ()
        return any(wanted.path == url or (url.endswith("*") and wanted.path.startswith(url[:-1])) for url in urls)
    resources = rule.get("resources") or ()
    full = wanted.resource + (f"/{wanted.subresource}" if wanted.subresource else "")
    if not (_has(resources, full) or (wanted.subresource and f"*/{wanted.subresource}" in resources)):
        return False
    names = rule.get("resourceNames")
    return (
        _has(rule.get("apiGroups", [""]), wanted.group)
        and (not names or wanted.name in names)
        and _in_namespace(rule, wanted.namespace)
    )
