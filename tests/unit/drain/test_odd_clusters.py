# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that answer oddly, and pods and nodes that change under the drain in ways nobody expects."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.cordon_owners import ANNOTATION
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions, ServerFault
from drain.situations import EVICTION, app, no_budget, reasons, status
from kubesim import builders
from stage import Scene, drained

GONE_POD = {"method": "DELETE", "path": "/api/v1/namespaces/default/pods/web-0", "body": {}}


def label(scene: Scene, **labels: str | None) -> None:
    """Set labels of pod web-0, or take them away (None)."""

    def change(pod: dict[str, Any]) -> None:
        kept = {**pod["metadata"]["labels"], **labels}
        pod["metadata"]["labels"] = {key: value for key, value in kept.items() if value is not None}

    scene.store.mutate("Pod", "default", "web-0", change)


def test_a_pod_that_loses_its_label_and_gets_it_back_is_not_forgotten() -> None:
    scene = Scene(*app("web"), *app("db", term=9), builders.budget("web", selector={"app": "web"}, min_available=1))
    for name in ("web-0", "db-0"):
        scene.store.mutate("Pod", "default", name, lambda pod: pod["metadata"]["labels"].update(tier="a"))
    scene.agenda.after(2, lambda: label(scene, tier=None))
    scene.agenda.after(4, lambda: label(scene, tier="a"))
    result = scene.run(pod_selectors=["tier=a"], delete_options={"wait_timeout": 30})
    assert (result["failed"], reasons(result), drained(result)) == (True, {"web-0": "pdb_deadlock"}, ["db-0"])


def test_an_evicted_pod_that_its_controller_lets_go_is_waited_for() -> None:
    scene = Scene(*app("web", term=5))
    scene.agenda.after(2, lambda: label(scene, app=None))
    result = scene.run()
    assert (result["failed"], drained(result), scene.pods()) == (False, ["web-0"], [])


@pytest.mark.parametrize("body", ["", '{"kind":"Sta', "<html>"])
def test_an_eviction_whose_good_answer_cannot_be_read_counts_as_a_change(body: str) -> None:
    scene = Scene(builders.node("w1", unschedulable=True), *app("web"))
    scene.faults.add({**EVICTION, "status": 201, "body_text": body, "mutate": [GONE_POD]})
    result = scene.run()
    assert (result["failed"], result["changed"], drained(result)) == (False, True, ["web-0"])


@pytest.mark.parametrize("state", ["drain", "cordon", "uncordon"])
@pytest.mark.parametrize("body", [{"status": "ok"}, {"kind": "NodeList", "items": []}, {"metadata": {"name": "w2"}}])
def test_what_is_not_the_node_that_was_asked_for_is_no_node(body: dict[str, Any], state: str) -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"method": "GET", "path": "/nodes/w1", "json": body})
    with pytest.raises(ServerFault, match="the response for node w1 is not that node"):
        scene.run(state=state)


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_leads_to_another_place_of_the_api_is_an_unknown_node(name: str) -> None:
    with pytest.raises(InvalidOptions, match="there is no node '"):
        Scene().run(name=[name], state="uncordon")


def test_a_node_without_a_name_is_passed_over() -> None:
    scene = Scene(builders.pod("waits", node_name=None, owner="ReplicaSet/web"))
    nameless = {"items": [{"spec": {"unschedulable": True}}, {"metadata": None}]}
    scene.faults.add({"method": "GET", "path": "/nodes\\?", "json": nameless})
    result = scene.run(node_selectors=["pool=a"], allow_empty=True)
    assert (result["nodes"], result["changed"]) == ([], False)


@pytest.mark.parametrize("path", ["poddisruptionbudgets", "volumeattachments"])
def test_objects_without_metadata_stop_nothing(path: str) -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": path, "json": {"items": [{"metadata": None}, {"spec": None}]}, "times": 0})
    result = scene.run(wait_volume_detach=True)
    assert (result["failed"], drained(result)) == (False, ["web-0"])


def test_a_book_of_owners_without_end_counts_as_broken() -> None:
    scene = Scene(builders.node("w1", annotations={ANNOTATION: "[" * 100_000}))
    result = scene.run(state="cordon", cordon_owner="job")
    assert (result["failed"], scene.cordoned()) == (False, True)
    assert "is not JSON" in result["warnings"][0]


def test_a_task_without_an_owner_goes_on_for_no_owner() -> None:
    book = {ANNOTATION: '{"": {"prior_unschedulable": false}}'}
    scene = Scene(builders.node("w1", unschedulable=True, annotations=book), *app("web", term=20))
    result = scene.run(on_failure="uncordon", delete_options={"wait_timeout": 5})
    assert (result["failed"], result["nodes"][0]["resumed"], scene.cordoned()) == (True, False, True)


def test_the_cordon_of_a_node_that_came_under_the_same_name_is_not_lifted() -> None:
    def replace() -> None:
        scene.store.remove("Node", None, "w1")
        scene.store.create(builders.node("w1", uid="another", unschedulable=True))

    scene = Scene(*app("web", term=20))
    scene.agenda.after(2, replace)
    result = scene.run(on_failure="uncordon", delete_options={"wait_timeout": 5})
    assert (result["failed"], result["nodes"][0]["rolled_back"], scene.cordoned()) == (True, False, True)


@pytest.mark.parametrize("code", [400, 405, 422])
def test_rights_that_cannot_be_reviewed_are_warned_of_whatever_refuses(code: int) -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": "selfsubjectaccessreviews", "status": code, "times": 0})
    result = scene.run()
    assert (result["failed"], drained(result)) == (False, ["web-0"])
    assert "the account's rights cannot be reviewed" in result["warnings"][0]


@pytest.mark.parametrize("term", [0, 3])
def test_pods_that_come_back_to_the_cordoned_node_are_evicted_more_and_more_seldom(term: int) -> None:
    scene = Scene(builders.deployment("tol", 1, tolerations=[{"operator": "Exists"}], term=term), nodes=("w1",))
    result = scene.run(delete_options={"wait_timeout": 60})
    assert (result["failed"], len(drained(result))) == (True, 8)
    assert "come back to w1 although it is cordoned" in result["warnings"][-1]
    assert "such pods come back" in result["pending_pods"][0]["message"]


def test_a_pod_that_the_server_denies_and_lists_is_not_called_untried() -> None:
    scene = Scene(*app("web"))
    lie = status(404, 'pods "web-0" not found', "NotFound", name="web-0", kind="pods")
    scene.faults.add({**EVICTION, "status": 404, "json": lie, "times": 0})
    (pod,) = scene.run(delete_options={"wait_timeout": 5})["pending_pods"]
    assert (pod["reason"], pod["last_status"]) == ("api_error", 404)
    assert pod["message"] == (
        "run the task again once the API server is well: the API server knows no such pod, but still lists it"
    )


def test_a_budget_has_the_same_keys_whether_it_may_be_read_or_not() -> None:
    pods = []
    for fault in ({"status": 403, "times": 0}, {"pass": True}):
        scene = Scene(*app("db"), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
        scene.faults.add({"path": "poddisruptionbudgets", **fault})
        scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0})
        pods += scene.run(delete_options={"wait_timeout": 5})["pending_pods"]
    unread, read = (pod["pdb"] for pod in pods)
    assert (list(unread), unread["name"], unread["deadlock"]) == (list(read), "db-pdb", None)


@pytest.mark.parametrize("words", ["Ask the platform team.", "no!", "why?"])
def test_words_of_others_end_a_sentence_with_one_mark(words: str) -> None:
    for request in ({"method": "PATCH"}, EVICTION, {"method": "GET", "path": "fieldSelector", "after": 1}):
        scene = Scene(*app("web"))
        scene.faults.add({**request, "status": 403, "json": status(403, words), "times": 0})
        assert scene.run()["msg"].removesuffix(" It stays cordoned.").endswith(" " + words)


def test_pods_without_a_uid_are_told_apart_by_their_names() -> None:
    scene = Scene(*app("web"), *app("db", term=9))
    nameless = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"nodeName": "w1"}, "status": {"phase": "Running"}}
        for name in ("a-0", "b-0")
    ]
    answer = {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": nameless}
    scene.faults.add({"method": "GET", "path": "/api/v1/pods", "json": answer, "times": 0})
    assert reasons(scene.run()) == {"a-0": "unmanaged", "b-0": "unmanaged"}
