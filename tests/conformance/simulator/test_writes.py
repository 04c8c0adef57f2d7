# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creating, changing and deleting objects through the API."""

from __future__ import annotations

from typing import Any

import pytest
from simulated_api import JSON_PATCH, MERGE, STRATEGIC, Api

from kubesim import builders

PODS = "/api/v1/namespaces/default/pods"
NODE = "/api/v1/nodes/n"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
NEW_POD = {"metadata": {"name": "new"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec},
    }


def test_a_new_pod_gets_the_defaults_of_the_api() -> None:
    made = Api().send("POST", PODS, NEW_POD).json()
    shown = (made["status"]["phase"], made["spec"]["terminationGracePeriodSeconds"], made["spec"]["restartPolicy"])
    assert shown == ("Pending", 30, "Always")


def test_a_new_deployment_has_one_replica_and_rolls() -> None:
    spec = Api().send("POST", DEPLOYMENTS, deployment()).json()["spec"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "RollingUpdate")


def test_a_new_statefulset_without_a_type_rolls_from_partition_zero() -> None:
    made = Api().send("POST", "/apis/apps/v1/namespaces/default/statefulsets", deployment()).json()
    assert made["spec"]["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}


def test_a_new_statefulset_with_a_type_has_no_partition() -> None:
    body = deployment(updateStrategy={"type": "RollingUpdate"})
    made = Api().send("POST", "/apis/apps/v1/namespaces/default/statefulsets", body).json()
    assert made["spec"]["updateStrategy"] == {"type": "RollingUpdate"}


def test_a_generated_name_has_five_more_characters() -> None:
    made = Api().send("POST", PODS, {**NEW_POD, "metadata": {"generateName": "x-"}}).json()
    assert len(made["metadata"]["name"]) == len("x-") + 5


@pytest.mark.parametrize(
    ("path", "body", "refusal"),
    [
        (
            PODS,
            {"spec": NEW_POD["spec"]},
            (422, 'Pod "" is invalid: metadata.name: Required value: name or generateName is required'),
        ),
        (PODS, {"metadata": {"name": "x"}}, (422, 'Pod "x" is invalid: spec.containers: Required value')),
        (
            PODS,
            {**NEW_POD, "metadata": {"name": "x", "namespace": "y"}},
            (400, "the namespace of the provided object does not match the namespace sent on the request"),
        ),
        ("/api/v1/namespaces/none/pods", NEW_POD, (404, 'namespaces "none" not found')),
        ("/api/v1/pods", NEW_POD, (405, "the server does not allow this method on the requested resource")),
        ("/api/v1/nodes", {"metadata": {"name": "n"}}, (409, 'nodes "n" already exists')),
    ],
    ids=["no name", "no containers", "other namespace", "no namespace", "no namespace in the path", "taken"],
)
def test_a_create_is_refused_for(path: str, body: Any, refusal: tuple[int, str]) -> None:
    assert Api(builders.node("n")).refused("POST", path, body) == refusal


def test_a_terminating_namespace_takes_nothing_new() -> None:
    server = Api(builders.namespace("gone", terminating=True))
    code, message = server.refused("POST", "/api/v1/namespaces/gone/pods", NEW_POD)
    assert (code, message) == (
        403,
        'pods "new" is forbidden: unable to create new content in namespace gone because it is being terminated',
    )


def test_a_body_that_is_not_json_is_a_bad_request() -> None:
    assert Api().refused("POST", PODS, b"{")[0] == 400


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        (MERGE, {"spec": {"unschedulable": True}}),
        (STRATEGIC, {"spec": {"unschedulable": True}}),
        (JSON_PATCH, [{"op": "add", "path": "/spec/unschedulable", "value": True}]),
    ],
    ids=["merge", "strategic", "json"],
)
def test_a_node_is_cordoned_by_any_patch(content_type: str, patch: Any) -> None:
    server = Api(builders.node("n"))
    server.patch(NODE, patch, content_type)
    assert server.get(NODE)["spec"]["unschedulable"] is True


def test_a_patch_with_an_old_version_is_a_conflict() -> None:
    patch = {"metadata": {"resourceVersion": "1"}, "spec": {"unschedulable": True}}
    status = Api(builders.node("n")).patch(NODE, patch).json()
    assert (status["code"], status["reason"], status["details"]) == (409, "Conflict", {"name": "n", "kind": "nodes"})


def test_a_patch_that_changes_nothing_makes_no_version() -> None:
    server = Api(builders.node("n"))
    before = server.cluster.store.resource_version
    server.patch(NODE, {"metadata": {"labels": {"kubernetes.io/hostname": "n"}}})
    assert server.cluster.store.resource_version == before


def test_a_patch_of_the_object_leaves_its_status_alone() -> None:
    server = Api(builders.pod("a"))
    server.patch(f"{PODS}/a", {"status": {"phase": "Failed"}})
    assert server.get(f"{PODS}/a")["status"]["phase"] == "Running"


def test_a_patch_of_the_status_leaves_the_rest_alone() -> None:
    server = Api(builders.node("n"))
    server.patch(f"{NODE}/status", {"spec": {"unschedulable": True}, "status": {"phase": "x"}})
    node = server.get(NODE)
    assert (node["spec"].get("unschedulable"), node["status"]["phase"]) == (None, "x")


def test_a_dry_run_answers_and_stores_nothing() -> None:
    server = Api(builders.node("n"))
    answer = server.patch(f"{NODE}?dryRun=All", {"spec": {"unschedulable": True}}).json()
    assert (answer["spec"]["unschedulable"], server.get(NODE)["spec"].get("unschedulable")) == (True, None)


def test_a_dry_run_of_something_else_is_refused() -> None:
    assert Api(builders.node("n")).patch(f"{NODE}?dryRun=Some", {}).status == 422


def test_a_running_pod_cannot_be_moved() -> None:
    code, message = Api(builders.pod("a")).refused(
        "PATCH", f"{PODS}/a", {"spec": {"nodeName": "x"}}, content_type=MERGE
    )
    assert (code, message.split(":")[2].strip()) == (422, "Forbidden")


def test_an_unconditional_update_of_a_budget_is_refused() -> None:
    server = Api(builders.budget("b", min_available=1))
    body = {"metadata": {"name": "b"}, "spec": {"minAvailable": 2}}
    assert server.send("PUT", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b", body).status == 422


def test_an_update_replaces_the_object() -> None:
    server = Api(builders.node("n", labels={"old": "1"}))
    body = server.get(NODE)
    body["metadata"]["labels"] = {"new": "1"}
    server.send("PUT", NODE, body)
    assert server.get(NODE)["metadata"]["labels"] == {"new": "1"}


def test_another_name_in_the_body_is_refused() -> None:
    refusal = Api(builders.node("n")).refused("PUT", NODE, {"metadata": {"name": "m"}})
    assert refusal == (400, "the name of the object (m) does not match the name on the URL (n)")


def test_server_side_apply_creates_and_changes() -> None:
    server, kind = Api(), "application/apply-patch+yaml"
    made = server.patch("/api/v1/namespaces/default/configmaps/c", {"data": {"a": "1"}}, kind).status
    server.patch("/api/v1/namespaces/default/configmaps/c", {"data": {"b": "2"}}, kind)
    assert (made, server.get("/api/v1/namespaces/default/configmaps/c")["data"]) == (201, {"a": "1", "b": "2"})


def test_a_deleted_pod_is_answered_as_it_terminates() -> None:
    answer = Api(builders.pod("a")).send("DELETE", f"{PODS}/a").json()
    assert (answer["kind"], answer["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 30)


def test_another_object_is_gone_at_once_and_answered_with_a_status() -> None:
    server = Api(builders.deployment("web"))
    answer = server.send("DELETE", f"{DEPLOYMENTS}/web").json()
    assert (answer["status"], answer["details"]["group"], answer["details"]["kind"]) == (
        "Success",
        "apps",
        "deployments",
    )


@pytest.mark.parametrize(
    ("target", "body"), [("?gracePeriodSeconds=7", None), ("", {"gracePeriodSeconds": 7})], ids=["query", "body"]
)
def test_a_grace_is_taken_from(target: str, body: Any) -> None:
    answer = Api(builders.pod("a")).send("DELETE", f"{PODS}/a{target}", body).json()
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 7


def test_a_deletion_of_another_uid_is_a_conflict() -> None:
    server = Api(builders.pod("a"))
    status = server.send("DELETE", f"{PODS}/a", {"preconditions": {"uid": "other"}}).json()
    assert (status["code"], status["details"], server.exists("Pod", "a")) == (409, {"name": "a", "kind": "Pod"}, True)


def test_a_dry_run_deletes_nothing() -> None:
    server = Api(builders.pod("a"))
    answer = server.send("DELETE", f"{PODS}/a?dryRun=All").json()
    assert ("deletionTimestamp" in answer["metadata"], "deletionTimestamp" in server.get(f"{PODS}/a")["metadata"]) == (
        True,
        False,
    )


def test_orphans_keep_living_without_their_owner() -> None:
    owner = builders.deployment("web")
    server = Api(owner, builders.pod("a", owner=owner))
    server.send("DELETE", f"{DEPLOYMENTS}/web", {"propagationPolicy": "Orphan"})
    assert "ownerReferences" not in server.get(f"{PODS}/a")["metadata"]


def test_a_foreground_deletion_waits_for_dependents() -> None:
    server = Api(builders.deployment("web"))
    server.send("DELETE", f"{DEPLOYMENTS}/web", {"propagationPolicy": "Foreground"})
    assert server.get(f"{DEPLOYMENTS}/web")["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_a_collection_is_deleted_by_selector() -> None:
    server = Api(builders.pod("a", labels={"x": "1"}), builders.pod("b", labels={"x": "2"}))
    server.send("DELETE", f"{PODS}?labelSelector=x=1", {"gracePeriodSeconds": 0})
    assert server.names(PODS) == ["b"]


def test_no_finalizer_is_added_to_what_is_being_deleted() -> None:
    server = Api(builders.pod("a"))
    server.send("DELETE", f"{PODS}/a")
    assert server.patch(f"{PODS}/a", {"metadata": {"finalizers": ["example.com/late"]}}).status == 422


def test_a_namespace_ends_when_it_is_finalized() -> None:
    server = Api(builders.namespace("x"))
    server.send("DELETE", "/api/v1/namespaces/x")
    server.send("PUT", "/api/v1/namespaces/x/finalize", {"metadata": {"name": "x"}, "spec": {"finalizers": []}})
    assert server.send("GET", "/api/v1/namespaces/x").status == 404


def test_the_first_namespaces_stay() -> None:
    assert Api().refused("DELETE", "/api/v1/namespaces/kube-system")[0] == 403


def test_a_deployment_is_scaled() -> None:
    server = Api(builders.deployment("web", replicas=2))
    server.patch(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 5}})
    assert (server.get(f"{DEPLOYMENTS}/web")["spec"]["replicas"], server.get(f"{DEPLOYMENTS}/web/scale")["spec"]) == (
        5,
        {"replicas": 5},
    )


def test_a_pod_is_bound_once() -> None:
    server = Api(builders.pod("a", node_name=None, phase="Pending"))
    body = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    statuses = [server.send("POST", f"{PODS}/a/binding", body).status for _time in range(2)]
    assert (statuses, server.get(f"{PODS}/a")["spec"]["nodeName"]) == ([201, 409], "n")


def test_the_log_of_a_pod_is_its_annotation() -> None:
    server = Api(builders.pod("a", annotations={"fake/log": "one\ntwo\n"}))
    assert server.send("GET", f"{PODS}/a/log?tailLines=1").body == b"two\n"


@pytest.mark.parametrize("path", ["/foo", "/apis/none.example/v1/things", "/api/v2/pods"])
def test_an_unknown_path_is_plain_text(path: str) -> None:
    answer = Api().send("GET", path)
    assert (answer.status, answer.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize("path", ["/apis/apps/v1/nothing", f"{PODS}/a/nothing"])
def test_an_unknown_resource_is_a_status(path: str) -> None:
    assert Api(builders.pod("a")).refused("GET", path) == (404, "the server could not find the requested resource")


def test_an_accept_header_that_cannot_be_met_is_refused() -> None:
    assert Api().refused("GET", PODS, accept="application/xml")[0] == 406
