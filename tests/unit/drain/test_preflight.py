# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of budgets, rights and nodes before the first change."""

from __future__ import annotations

from typing import Any

import pytest

from drain.situations import app, reasons
from kubesim import builders
from stage import Scene, drained

EVERYTHING_NEEDED = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["get"]},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["list", "watch"]},
]


def with_rights(scene: Scene, rules: list[dict[str, Any]]) -> Scene:
    scene.cluster.access.grant({"tokens": {"limited": {"user": "limited-user", "rules": rules}}})
    scene.connection.token = "limited"
    return scene


def without(resource: str, verb: str) -> list[dict[str, Any]]:
    return [
        {**rule, "verbs": [v for v in rule["verbs"] if (rule["resources"][0], v) != (resource, verb)]}
        for rule in EVERYTHING_NEEDED
    ]


def held(name: str = "db", replicas: int = 1, node: str = "w1", **budget: Any) -> list[dict[str, Any]]:
    owner = builders.replica_set(name, replicas)
    pods = builders.pods_of(owner, [node] * replicas)
    return [owner, *pods, builders.budget(name + "-pdb", selector={"app": name}, **budget)]


def test_a_drain_needs_no_more_rights_than_are_documented() -> None:
    scene = with_rights(Scene(*app("web"), *held(max_unavailable=1)), EVERYTHING_NEEDED)
    result = scene.run()
    assert (result["failed"], result["warnings"]) == (False, [])


@pytest.mark.parametrize(
    "resource, verb, words",
    [
        ("nodes", "patch", "the account may not patch nodes 'w1'"),
        ("pods/eviction", "create", "the account may not create pods/eviction in namespace default"),
    ],
)
def test_a_missing_right_fails_the_preflight(resource: str, verb: str, words: str) -> None:
    scene = with_rights(Scene(*app("web")), without(resource, verb))
    result = scene.run()
    assert (result["failed"], result["changed"], scene.cordoned()) == (True, False, False)
    assert words in result["msg"]
    assert scene.requests("PATCH") == scene.requests("POST", "/eviction") == []


def test_a_missing_right_to_evict_is_the_reason_of_each_pod() -> None:
    scene = with_rights(Scene(*app("a"), *app("b")), without("pods/eviction", "create"))
    assert reasons(scene.run()) == {"a-0": "forbidden", "b-0": "forbidden"}


def test_rights_in_the_namespaces_of_the_pods_are_enough() -> None:
    rules = [
        *without("pods/eviction", "create"),
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"], "namespace": "default"},
    ]
    assert with_rights(Scene(*app("web")), rules).run()["failed"] is False


def test_the_right_to_patch_is_not_reviewed_for_a_cordoned_node() -> None:
    scene = Scene(*app("web"))
    scene.store.mutate("Node", None, "w1", lambda node: node["spec"].update(unschedulable=True))
    assert with_rights(scene, without("nodes", "patch")).run()["failed"] is False


def test_disable_eviction_reviews_the_right_to_delete() -> None:
    scene = with_rights(Scene(*app("web")), EVERYTHING_NEEDED)
    assert "delete pods in namespace default" in scene.run(delete_options={"disable_eviction": True})["msg"]


def test_rights_that_cannot_be_reviewed_are_a_warning() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": "accessreviews", "status": 403, "times": 0})
    result = scene.run()
    assert (result["failed"], result["warnings"]) == (
        False,
        ["the account's rights cannot be reviewed, so a missing one will show only during the drain"],
    )


def test_budgets_that_may_not_be_read_are_a_warning() -> None:
    scene = with_rights(Scene(*held(max_unavailable=1)), without("poddisruptionbudgets", "list"))
    result = scene.run()
    assert (result["failed"], len(result["warnings"])) == (False, 1)
    assert result["warnings"][0].startswith("PDBs of default may not be read")


def test_a_pod_with_two_budgets_fails_the_preflight() -> None:
    scene = Scene(
        *held(min_available=0), builders.budget("other", selector={"app": "db"}, min_available=0), *app("web")
    )
    result = scene.run()
    assert (reasons(result), scene.cordoned()) == ({"db-0": "pdb_multiple"}, False)
    assert "default/db-pdb and default/other" in result["msg"]


@pytest.mark.parametrize("preflight, touched", [("standard", True), ("strict", False)])
def test_a_budget_that_looks_deadlocked_is_a_warning_or_fails_the_preflight(preflight: str, touched: bool) -> None:
    scene = Scene(*held(min_available=1))
    result = scene.run(preflight=preflight, delete_options={"wait_timeout": 10})
    assert (reasons(result), scene.cordoned()) == ({"db-0": "pdb_deadlock"}, touched)
    assert any("looks deadlocked" in text for text in result["warnings"]) is touched
    assert result["pending_pods"][0]["pdb"]["desired_healthy"] == 1


def short_on_two_nodes() -> Scene:
    objects = [*held("web", 4, max_unavailable=2)]
    owner = objects[0]
    owner["spec"]["replicas"] = 5
    more = builders.pods_of(owner, ["w2"], uid="fifth")
    more[0]["metadata"]["name"] = "web-9"
    return Scene(*objects, *more, nodes=("w1", "w2", "w3"))


def test_a_budget_that_allows_too_few_for_all_nodes_is_a_warning_if_the_drain_fails() -> None:
    result = short_on_two_nodes().run(name=["w1", "w2"], delete_options={"wait_timeout": 1})
    assert result["warnings"][0] == (
        "PDB default/web-pdb allows 2 of 5 evictions at a time: the others wait until those pods run elsewhere"
    )


def test_a_budget_that_allows_no_disruption_is_a_warning_if_the_drain_fails() -> None:
    owner = builders.replica_set("web", 2)
    sick = builders.pods_of(owner, ["w2"], never_ready=True, uid="sick")
    sick[0]["metadata"]["name"] = "web-9"
    budget = builders.budget("web-pdb", selector={"app": "web"}, max_unavailable=1)
    scene = Scene(owner, *builders.pods_of(owner, ["w1"]), *sick, budget, nodes=("w1", "w2"))
    assert scene.run(delete_options={"wait_timeout": 5})["warnings"][0] == (
        "PDB default/web-pdb allowed no disruption for 1 pod when the drain started"
    )


def test_a_budget_that_allows_too_few_is_not_a_warning_if_the_drain_succeeds() -> None:
    result = short_on_two_nodes().run(name=["w1", "w2"])
    assert (result["failed"], result["warnings"]) == (False, [])


def test_unready_pods_that_their_budget_blocks_are_a_warning() -> None:
    owner = builders.replica_set("db", 2)
    scene = Scene(
        owner,
        *builders.pods_of(owner, ["w1", "w1"], never_ready=True),
        builders.budget("db-pdb", selector={"app": "db"}, max_unavailable=1),
    )
    result = scene.run(delete_options={"wait_timeout": 5})
    assert result["warnings"][0].startswith(
        "PDB default/db-pdb blocks 2 pods that are not Ready, until its other pods are healthy"
    )


def test_a_failed_preflight_does_not_warn_of_what_only_the_drain_would_meet() -> None:
    scene = Scene(*held(min_available=1), builders.pod("bare", node_name="w1"), *app("cache", emptydir=True))
    scene.cluster.controllers.fail("w1")
    scene.agenda.advance(60)
    result = scene.run(delete_options={"wait_timeout": 5, "delete_emptydir_data": True})
    assert result["msg"].startswith("Nothing was changed, because 1 pod on w1 cannot be evicted")
    assert (result["warnings"], result["nodes"][0]["warnings"]) == ([], [])


def test_a_failed_preflight_still_reports_what_may_not_be_read() -> None:
    scene = with_rights(
        Scene(builders.pod("bare", node_name="w1"), *app("web")), without("poddisruptionbudgets", "list")
    )
    (warning,) = scene.run()["warnings"]
    assert warning.startswith("PDBs of default may not be read")


def test_a_missing_right_is_reported_with_server_and_user() -> None:
    scene = with_rights(Scene(*app("web")), without("nodes", "patch"))
    assert scene.run()["msg"] == (
        "Nothing was changed, because the account may not patch nodes 'w1', so it cannot cordon that node: grant it"
        f" that right. The rights were checked at {scene.connection.describe()}; the guide on access rights lists what"
        " a task needs."
    )


def test_all_failures_of_the_preflight_are_in_one_message() -> None:
    scene = with_rights(Scene(builders.pod("bare", node_name="w1"), *app("web")), without("nodes", "patch"))
    msg = scene.run()["msg"]
    assert "may not patch nodes 'w1'" in msg and "default/bare: no controller would recreate it" in msg


def test_a_node_that_is_not_ready_is_a_warning() -> None:
    scene = Scene(*app("web"))
    scene.cluster.controllers.fail("w1")
    scene.agenda.advance(60)
    result = scene.run(delete_options={"wait_timeout": 40})
    assert result["nodes"][0]["warnings"] == [
        "node w1 is not Ready (NodeStatusUnknown): evicted pods terminate there only when its kubelet is back"
    ]


def test_the_preflight_of_a_full_node_takes_at_most_six_requests() -> None:
    budgets = [builders.budget(f"pdb{n}", selector={"app": f"web{n}"}, max_unavailable=1) for n in range(200)]
    pods = [obj for n in range(200) for obj in app(f"web{n}")]
    scene = Scene(*pods, *budgets, builders.pod("bare", node_name="w1"))
    result = scene.run()
    assert (result["failed"], len(scene.cluster.requests) <= 6) == (True, True)


def test_only_as_many_evictions_are_sent_as_the_budget_allows() -> None:
    scene = Scene(builders.deployment("web", 12), nodes=("w1",))
    scene.store.load([builders.budget("web-pdb", selector={"app": "web"}, max_unavailable=2), builders.node("w2")])
    scene.agenda.advance(3)
    result = scene.run()
    assert (result["failed"], len(drained(result))) == (False, 12)
    assert [r.status for r in scene.requests("POST", "/eviction")].count(429) <= 3


@pytest.mark.parametrize(
    "budget, remedy",
    [
        ({"min_available": 1}, "add a replica or lower its minAvailable"),
        ({"max_unavailable": 0}, "raise its maxUnavailable"),
    ],
)
def test_the_remedy_for_a_deadlock_is_one_that_helps(budget: dict[str, Any], remedy: str) -> None:
    message = Scene(*held(**budget)).run(delete_options={"wait_timeout": 5})["pending_pods"][0]["message"]
    assert message.endswith(
        f"which never allows a disruption: {remedy}, or set delete_options.disable_eviction to bypass it"
    )
