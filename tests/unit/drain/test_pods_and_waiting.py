# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pod is which, when it is gone, and how long that is waited for."""

from __future__ import annotations

import json

import pytest

from drain.situations import EVICTION, app, no_budget, reasons, skips
from kubesim import builders
from kubesim.agenda import TEST_EPOCH, timestamp
from stage import Scene, drained


def test_a_pod_that_comes_back_under_its_name_elsewhere_counts_as_gone() -> None:
    owner = builders.stateful_set("db", 1)
    scene = Scene(owner, *builders.pods_of(owner, ["w1"]))
    result = scene.run(delete_options={"wait_timeout": 30})
    assert (result["failed"], drained(result), scene.pods("w2")) == (False, ["db-0"], ["db-0"])


def test_a_pod_replaced_while_its_eviction_is_refused_is_never_evicted_elsewhere() -> None:
    owner = builders.stateful_set("db", 1)
    scene = Scene(owner, *builders.pods_of(owner, ["w1"]))
    uid = scene.store.get("Pod", "default", "db-0")["metadata"]["uid"]
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 2})
    scene.agenda.after(0.5, lambda: scene.store.delete("Pod", "default", "db-0", grace=0))
    result = scene.run(delete_options={"wait_timeout": 30})
    sent = {json.loads(r.body)["deleteOptions"]["preconditions"]["uid"] for r in scene.requests("POST", "/eviction")}
    assert (result["failed"], drained(result), sent) == (False, [], {uid})


@pytest.mark.parametrize("count", [0, 1, 2])
def test_the_task_returns_only_when_every_pod_is_gone(count: int) -> None:
    scene = Scene(*[obj for n in range(count) for obj in app("web%d" % n, term=3)])
    result = scene.run()
    assert (result["failed"], scene.pods(), len(drained(result))) == (False, [], count)
    assert scene.seconds >= (3 if count else 0)


def test_pods_are_waited_for_though_only_a_grace_period_is_given() -> None:
    scene = Scene(*app("web", term=8))
    assert scene.run(delete_options={"terminate_grace_period": 300})["failed"] is False
    assert 8 <= scene.seconds < 9


def test_a_pod_that_lands_between_list_and_cordon_goes_too() -> None:
    scene = Scene(*app("web"))
    late = builders.pod("late", node_name="w1", owner="ReplicaSet/web")
    scene.faults.add(
        {
            "method": "PATCH",
            "path": "/nodes/w1",
            "pass": True,
            "mutate": [{"method": "POST", "path": "/api/v1/namespaces/default/pods", "body": late}],
        }
    )
    assert sorted(drained(scene.run())) == ["late", "web-0"]


@pytest.mark.parametrize("grace, sent", [(None, None), (-1, None), (0, 0), (30, 30)])
def test_the_grace_period_is_sent_only_if_one_was_asked_for(grace: int | None, sent: int | None) -> None:
    scene = Scene(*app("web"))
    scene.run(delete_options={"terminate_grace_period": grace})
    options = json.loads(scene.requests("POST", "/eviction")[0].body)["deleteOptions"]
    assert options.get("gracePeriodSeconds") == sent
    assert ("gracePeriodSeconds" in options) == (sent is not None)


def test_one_limit_holds_for_all_pods_together() -> None:
    scene = Scene(*[obj for n in range(5) for obj in app("web%d" % n, term=8 + n)])
    result = scene.run(delete_options={"wait_timeout": 10})
    assert (result["failed"], 10 <= scene.seconds <= 11) == (True, True)


def test_a_limit_shorter_than_the_longest_grace_period_is_warned_of() -> None:
    scene = Scene(*app("web", grace=120))
    warnings = scene.run(delete_options={"wait_timeout": 40})["warnings"]
    assert warnings == ["wait_timeout (40 s) is shorter than the 120 s that pods on w1 may take to shut down"]


def test_the_limit_is_kept_though_the_server_answers_slowly() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": ".*", "delay": 5, "times": 0, "pass": True})
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0})
    scene.run(delete_options={"wait_timeout": 42, "wait_sleep": 1})
    assert scene.seconds <= 43


def test_a_pod_that_never_ends_fails_the_task_by_default_and_is_named_with_its_node() -> None:
    scene = Scene(*app("web"))
    scene.cluster.controllers.fail("w1")
    scene.agenda.advance(60)
    result = scene.run()
    pod = result["pending_pods"][0]
    assert (result["failed"], pod["reason"]) == (True, "terminating_overdue")
    assert "its node is not Ready" in pod["message"]
    assert pod["deletion_timestamp"] and pod["overdue_seconds"] > 800


def test_a_running_grace_period_is_shortened_when_a_shorter_one_is_asked_for() -> None:
    scene = Scene(*app("web", grace=604800, term=604800))
    scene.store.delete("Pod", "default", "web-0")
    scene.run(delete_options={"terminate_grace_period": 30, "wait_timeout": 60})
    running = scene.store.get("Pod", "default", "web-0")["metadata"]["deletionGracePeriodSeconds"]
    assert (running, len(scene.requests("POST", "/eviction"))) == (30, 1)


def test_a_pod_that_is_terminating_already_is_waited_for_and_not_evicted_again() -> None:
    scene = Scene(*app("web", term=5))
    scene.store.delete("Pod", "default", "web-0")
    result = scene.run()
    assert (result["failed"], drained(result), scene.requests("POST")) == (False, [], [])


def test_pods_of_a_dead_kubelet_are_not_waited_for_past_the_limit_that_is_given_for_them() -> None:
    scene = Scene(*app("web", deleted=timestamp(TEST_EPOCH - 1200), finalizers=["example.com/kubelet-is-dead"]))
    result = scene.run(delete_options={"skip_wait_for_delete_timeout": 60})
    assert (result["failed"], skips(result), scene.seconds < 2) == (False, {"web-0": "skip_deleted"}, True)


def test_a_pod_becomes_too_old_to_wait_for_while_it_is_waited_for() -> None:
    scene = Scene(*app("web", grace=5))
    scene.cluster.controllers.fail("w1")
    result = scene.run(delete_options={"skip_wait_for_delete_timeout": 20, "disable_eviction": True})
    assert (result["failed"], skips(result)) == (False, {"web-0": "skip_deleted"})
    assert 25 <= scene.seconds <= 27


def test_a_finalizer_that_holds_an_ended_pod_is_named() -> None:
    scene = Scene(*app("web", finalizers=["example.com/hold"]))
    result = scene.run(delete_options={"wait_timeout": 10})
    pod = result["pending_pods"][0]
    assert (pod["reason"], pod["finalizers"]) == ("finalizer", ["example.com/hold"])


def test_a_pod_evicted_without_a_good_answer_counts_as_evicted() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**EVICTION, "reset": "after"})
    result = scene.run()
    assert (result["failed"], result["changed"], drained(result)) == (False, True, ["web-0"])


def test_no_request_is_sent_while_pods_shut_down() -> None:
    scene = Scene(*app("web", term=25))
    scene.run()
    times = [r.at - scene.started for r in scene.cluster.requests]
    assert [t for t in times if 1 < t < 24] == []


def test_a_drain_of_many_pods_takes_no_more_than_twelve_requests_besides_the_evictions() -> None:
    scene = Scene(*[obj for n in range(60) for obj in app("web%d" % n, term=2)])
    result = scene.run()
    assert (len(drained(result)), len(scene.cluster.requests) <= 72) == (60, True)


def test_evictions_under_way_are_bounded() -> None:
    scene = Scene(*[obj for n in range(9) for obj in app("web%d" % n)])
    scene.run(eviction_concurrency=4)
    assert scene.workers.most_at_once == 4


def test_a_second_run_on_a_drained_node_changes_nothing_and_asks_twice() -> None:
    scene = Scene(*app("web"))
    scene.run()
    scene.cluster.requests.clear()
    result = scene.run()
    assert (result["changed"], result["failed"], len(scene.cluster.requests)) == (False, False, 2)


def test_workloads_of_evicted_pods_are_named_by_their_deployment_without_asking_for_it() -> None:
    scene = Scene(builders.deployment("web", 2), builders.job("batch"), nodes=("w1",))
    result = scene.run()
    found = [(w["kind"], w["name"]) for w in result["nodes"][0]["affected_workloads"]]
    assert found == [("Deployment", "web"), ("Job", "batch")]
    assert scene.requests("GET", "/apis/apps") + scene.requests("GET", "/apis/batch") == []


def test_pods_that_did_not_get_their_turn_are_listed_as_not_tried() -> None:
    scene = Scene(*app("a"), *app("b"))
    scene.faults.add({"method": "POST", "path": "a-0/eviction", "delay": 20, "pass": True})
    result = scene.run(eviction_concurrency=1, delete_options={"wait_timeout": 10})
    assert reasons(result)["b-0"] == "not_tried"
