# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may do what, and in which words the others are refused."""

from __future__ import annotations

from typing import Any

import pytest
from simulated_api import Api, access_of

from kubesim import builders
from kubesim.api.access import ADMIN, Access
from kubesim.api.messages import Request

READ_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}


def api(*rules: dict[str, Any], **others: Any) -> Api:
    return Api(builders.pod("a"), builders.node("n"), token="bob", access=access_of(bob=list(rules), **others))


def test_an_unknown_token_is_unauthorized() -> None:
    assert Api(token="stale").refused("GET", "/api/v1/nodes") == (401, "Unauthorized")


def test_without_a_token_one_is_anonymous() -> None:
    message = Api().refused("GET", "/api/v1/nodes", authorization="")[1]
    assert (
        message == 'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" '
        "at the cluster scope"
    )


def test_a_rule_grants_what_it_names_and_nothing_else() -> None:
    server = api(READ_PODS)
    assert [server.send(method, "/api/v1/namespaces/default/pods/a").status for method in ("GET", "DELETE")] == [
        200,
        403,
    ]


def test_a_subresource_needs_its_own_rule() -> None:
    server = api({"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]})
    assert server.evict("a").status == 403


@pytest.mark.parametrize("resources", [["pods/eviction"], ["*/eviction"], ["*"]], ids=str)
def test_a_subresource_can_be_granted_by(resources: list[str]) -> None:
    assert api({"apiGroups": [""], "resources": resources, "verbs": ["create"]}).evict("a").status == 201


def test_a_refusal_names_resource_group_and_namespace() -> None:
    message = api().refused("GET", "/apis/apps/v1/namespaces/x/deployments/web")[1]
    assert message == (
        'deployments.apps "web" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" '
        'in the namespace "x"'
    )


def test_a_rule_can_hold_in_one_namespace_only() -> None:
    server = api({**READ_PODS, "namespace": "default"})
    statuses = [server.send("GET", path).status for path in ("/api/v1/namespaces/default/pods", "/api/v1/pods")]
    assert statuses == [200, 403]


def test_a_rule_can_hold_for_named_objects_only() -> None:
    server = api({"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"], "resourceNames": ["n"]})
    assert [server.send("GET", f"/api/v1/nodes/{name}").status for name in ("n", "other")] == [200, 403]


def test_a_named_object_may_be_listed_by_its_name() -> None:
    server = api({"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"], "resourceNames": ["n"]})
    assert server.send("GET", "/api/v1/nodes?fieldSelector=metadata.name=n").status == 200


def test_watching_needs_its_own_verb() -> None:
    assert api(READ_PODS).send("GET", "/api/v1/pods?watch=1").status == 403


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/policy/v1", "/version", "/openapi/v3"])
def test_everybody_known_may_read_discovery(path: str) -> None:
    assert api().send("GET", path).status == 200


def may(server: Api, **attributes: str) -> bool:
    body = {"spec": {"resourceAttributes": attributes}}
    answer = server.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
    allowed: bool = answer.json()["status"]["allowed"]
    return allowed


def test_everybody_known_may_ask_what_is_allowed() -> None:
    server = api(READ_PODS)
    assert (may(server, verb="list", resource="pods"), may(server, verb="delete", resource="pods")) == (True, False)


def test_rules_are_reviewed_by_namespace() -> None:
    server = api({**READ_PODS, "namespace": "default"})
    answer = server.send(
        "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    )
    assert {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]} in answer.json()["status"][
        "resourceRules"
    ]


def test_impersonation_needs_the_verb() -> None:
    message = api().refused("GET", "/api/v1/nodes", impersonate_user="eve")[1]
    assert (
        message == 'users "eve" is forbidden: User "bob" cannot impersonate resource "users" in API group "" '
        "at the cluster scope"
    )


def test_an_impersonated_user_has_that_users_rights() -> None:
    allowed = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}
    server = api(allowed, eve=[READ_PODS])
    statuses = [server.send("GET", path, impersonate_user="eve").status for path in ("/api/v1/pods", "/api/v1/nodes")]
    assert statuses == [200, 403]


def test_the_log_names_the_impersonated_user() -> None:
    server = Api()
    server.send("GET", "/api/v1/nodes", impersonate_user="eve")
    assert server.cluster.requests[-1].user == "eve"


def test_a_client_certificate_names_its_user() -> None:
    server = Api()
    server.cluster.access.grant({"certificates": {"carol": {"rules": [READ_PODS]}}})
    asked = Request("GET", "/api/v1/pods", client_cert_cn="carol")
    assert server.cluster.answer(asked).status == 200


def test_a_password_names_its_user() -> None:
    server = Api()
    server.cluster.access.grant({"basic": {"carol:secret": {"rules": "*"}}})
    assert server.send("GET", "/api/v1/nodes", authorization="Basic Y2Fyb2w6c2VjcmV0").status == 200


def open_access() -> Access:
    access = Access()
    access.anonymous = ADMIN
    return access


def test_where_anybody_is_the_administrator_no_token_is_needed() -> None:
    server = Api(builders.node("n"), access=open_access())
    assert server.send("GET", "/api/v1/nodes/n", authorization="").status == 200


def test_where_anybody_is_the_administrator_a_token_must_still_be_known() -> None:
    assert Api(token="stale", access=open_access()).send("GET", "/api/v1/nodes").status == 401
