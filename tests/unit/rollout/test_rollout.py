# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait for rollouts: when it ends, what it reports, and how many requests it sends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Forbidden, InvalidOptions, ServerFault
from kubesim import builders
from rollout.situations import COMPLETE, REVISION, deployment, granted, later, paths, progressing, rule, status, still
from stage import Scene

WAIT = 'Waiting for deployment "web" rollout to finish: '
DONE = 'deployment "web" successfully rolled out'
LIST_WATCH = ["GET deployments", "GET deployments watch"]


def test_a_rollout_is_followed_to_its_end_with_each_line_once() -> None:
    scene = still(deployment(updatedReplicas=1, replicas=2))
    later(scene, 3, status(observedGeneration=1, readyReplicas=1))
    later(
        scene,
        6,
        status(
            **COMPLETE,
        ),
    )
    result = scene.follow(name=["web"], fail_early="off")
    assert (result["failed"], result["done"], round(scene.seconds)) == (False, True, 6)
    assert result["messages"] == [WAIT + "1 out of 2 new replicas have been updated...", DONE]


def test_a_finished_rollout_takes_one_list_and_one_watch() -> None:
    scene = still(deployment(**COMPLETE))
    result = scene.follow(name=["web"])
    assert (result["msg"], scene.seconds) == ("Rolled out: Deployment default/web.", 0.0)
    assert paths(scene) == LIST_WATCH


def test_the_result_has_the_counts_of_each_workload() -> None:
    scene = still(deployment(**COMPLETE))
    assert scene.follow(name=["web"])["workloads"] == [
        {
            "api_version": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web", "done": True,
            "message": DONE, "revision": "1", "failure": "", "desired": 2, "updated": 2, "ready": 2, "available": 2,
            "generation": 1, "observed_generation": 1,
        }
    ]  # fmt: skip


def test_an_end_is_noticed_within_half_a_second() -> None:
    scene = still(deployment())
    later(scene, 5.25, status(**COMPLETE))
    scene.follow(name=["web"])
    assert scene.seconds <= 5.75


def test_counts_of_the_generation_before_do_not_count() -> None:
    scene = still(deployment(generation=8, **{**COMPLETE, "observedGeneration": 7}))
    later(scene, 1, status(observedGeneration=8, updatedReplicas=None))
    later(scene, 2, status(**COMPLETE))
    result = scene.follow(name=["web"])
    assert result["messages"] == [
        "Waiting for deployment spec update to be observed...",
        WAIT + "0 out of 2 new replicas have been updated...",
        DONE,
    ]


def test_a_scale_to_zero_is_waited_for_until_no_pod_is_counted() -> None:
    scene = still(deployment(wanted=0, **COMPLETE))
    later(scene, 10, status(replicas=None, updatedReplicas=None, readyReplicas=None, availableReplicas=None))
    assert (scene.follow(name=["web"])["done"], round(scene.seconds)) == (True, 10)


def test_without_watch_the_state_is_returned_and_unfinished_rollouts_do_not_fail() -> None:
    scene = still(deployment(updatedReplicas=1))
    result = scene.follow(name=["web"], watch=False)
    assert (result["failed"], result["done"]) == (False, False)
    assert result["messages"] == [WAIT + "1 out of 2 new replicas have been updated..."]
    assert result["pending_workloads"] == [
        {"api_version": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"}
    ]
    assert paths(scene) == ["GET deployments"]


def test_time_that_runs_out_is_a_failure_with_the_last_line() -> None:
    scene = still(deployment(updatedReplicas=1))
    result = scene.follow(name=["web"], wait_timeout=20)
    assert (result["failed"], 19.9 <= scene.seconds <= 21) == (True, True)
    assert result["msg"].startswith(
        "Not rolled out within 20 s: Deployment default/web "
        '(Waiting for deployment "web" rollout to finish: 1 out of 2 new replicas have been updated).'
    )


def test_the_time_limit_holds_though_every_response_is_slow() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"delay": 5, "times": 0})
    assert scene.follow(name=["web"], wait_timeout=12)["failed"]
    assert scene.seconds <= 12 + 10


def test_a_progress_deadline_that_passes_while_it_is_watched_fails_at_once() -> None:
    scene = still(deployment(updatedReplicas=1))
    later(scene, 3, status(conditions=progressing("ProgressDeadlineExceeded", "False")))
    result = scene.follow(name=["web"], fail_early="off")
    assert result["workloads"][0]["failure"] == 'deployment "web" exceeded its progress deadline'
    assert scene.seconds < 3.5
    assert result["messages"] == [WAIT + "1 out of 2 new replicas have been updated..."]


@pytest.mark.parametrize("watch", [True, False])
def test_a_progress_deadline_in_the_first_status_is_confirmed_by_a_second_read(watch: bool) -> None:
    scene = still(deployment(generation=5, conditions=progressing("ProgressDeadlineExceeded", "False")))
    result = scene.follow(name=["web"], fail_early="off", watch=watch)
    assert (result["failed"], round(scene.seconds)) == (True, 2)
    assert "GET deployments/web" in paths(scene)


def test_a_progress_deadline_left_over_from_the_generation_before_is_not_a_failure() -> None:
    scene = still(deployment(generation=5, conditions=progressing("ProgressDeadlineExceeded", "False")))
    later(scene, 0.5, status(updatedReplicas=1, conditions=progressing("ReplicaSetUpdated")))
    later(scene, 4, status(**COMPLETE))
    result = scene.follow(name=["web"])
    assert (result["failed"], result["done"]) == (False, True)


def test_a_progress_deadline_seen_right_after_a_new_generation_is_confirmed_too() -> None:
    scene = still(deployment(generation=4, **COMPLETE))
    late = progressing("ProgressDeadlineExceeded", "False")
    scene.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(minReadySeconds=1))
    later(scene, 1, status(observedGeneration=5, updatedReplicas=0, conditions=late))
    later(scene, 2, status(updatedReplicas=1, conditions=progressing("ReplicaSetUpdated")))
    later(scene, 5, status(**COMPLETE))
    assert scene.follow(name=["web"])["done"]


def test_a_pinned_revision_that_is_superseded_is_a_failure() -> None:
    scene = still(deployment(updatedReplicas=1))
    later(scene, 2, lambda obj: obj["metadata"]["annotations"].update({REVISION: "2"}))
    result = scene.follow(name=["web"], revision=1)
    assert result["workloads"][0]["failure"].endswith("it was superseded by revision 2")


def test_a_workload_deleted_during_the_wait_is_a_failure() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.agenda.after(2, lambda: scene.store.delete("Deployment", "default", "web"))
    result = scene.follow(name=["web"])
    assert result["workloads"][0]["failure"] == "it was deleted during the wait for its rollout"
    assert scene.seconds < 2.5


@pytest.mark.parametrize("rights", ["watch", "get"])
def test_a_missing_workload_is_skipped_with_allow_missing(rights: str) -> None:
    scene = still(deployment(updatedReplicas=1), deployment("api", **COMPLETE))
    if rights == "get":
        granted(scene, rule(["get"]))
    scene.agenda.after(2, lambda: scene.store.delete("Deployment", "default", "web"))
    result = scene.follow(kind="Deployment", name=["web", "never", "api"], allow_missing=True)
    assert (result["failed"], result["done"], result["pending_workloads"]) == (False, True, [])
    assert result["msg"].startswith("Rolled out: Deployment default/api after ")
    missing = "Not found, which allow_missing permits: Deployment default/web, Deployment default/never."
    assert result["msg"].endswith(missing)


def test_a_task_whose_workloads_are_all_missing_is_done_with_allow_missing() -> None:
    result = still().follow(kind="Deployment", name=["web"], allow_missing=True)
    assert (result["failed"], result["done"]) == (False, True)
    assert result["msg"] == "Not found, which allow_missing permits: Deployment default/web."


def test_a_workload_created_again_under_its_name_is_a_failure() -> None:
    scene = still(deployment(updatedReplicas=1))

    def replace() -> None:
        scene.store.delete("Deployment", "default", "web")
        again = deployment(**COMPLETE)
        again["metadata"]["uid"] = "uid-other"
        scene.store.create(again)

    scene.agenda.after(2, replace)
    failure = scene.follow(name=["web"])["workloads"][0]["failure"]
    assert failure == "it was deleted and created again under its name during the wait for its rollout"


def test_a_workload_that_loses_its_labels_is_still_waited_for() -> None:
    scene = still(deployment(updatedReplicas=1))
    later(scene, 2, lambda obj: obj["metadata"].update(labels={}))
    later(scene, 8, status(**COMPLETE))
    result = scene.follow(label_selectors=["app=web"], wait_sleep=5)
    assert (result["done"], 8 <= scene.seconds <= 13) == (True, True)


def test_an_old_state_that_a_watch_replays_is_ignored() -> None:
    scene = still(deployment(**COMPLETE))
    scene.store.mutate("Deployment", "default", "web", lambda obj: obj["spec"].update(minReadySeconds=1))
    old = {**deployment(**COMPLETE), "metadata": {**deployment()["metadata"], "resourceVersion": "1"}}
    event = json.dumps({"type": "MODIFIED", "object": old}) + "\n"
    scene.faults.add({"path": "watch=true", "status": 200, "body_text": event, "times": 1})
    later(scene, 4, status(observedGeneration=2, **COMPLETE))
    scene.follow(name=["web"])
    assert scene.seconds >= 4


def test_many_workloads_take_one_list_and_one_watch() -> None:
    scene = still(*(deployment(f"web-{number:03}", updatedReplicas=1) for number in range(200)))
    for number in range(200):
        later(scene, 5, status(**COMPLETE), f"web-{number:03}")
    result = scene.follow(name=[f"web-{number:03}" for number in range(200)])
    assert (result["done"], scene.seconds <= 6, paths(scene)) == (True, True, LIST_WATCH)


def test_200_healthy_deployments_that_really_roll_cost_at_most_four_requests() -> None:
    scene = Scene(*(builders.deployment(f"web-{number:03}", 1, start=8.0) for number in range(200)))
    result = scene.follow(label_selectors=["app"])
    assert (result["done"], len(scene.cluster.requests) <= 4) == (True, True)


def test_lines_of_many_come_workload_by_workload() -> None:
    scene = still(deployment("a", updatedReplicas=1), deployment("b", updatedReplicas=1))
    later(scene, 1, status(**COMPLETE), "b")
    later(scene, 2, status(**COMPLETE), "a")
    assert scene.follow(name=["a", "b"])["messages"] == [
        'Waiting for deployment "a" rollout to finish: 1 out of 2 new replicas have been updated...',
        'deployment "a" successfully rolled out',
        'Waiting for deployment "b" rollout to finish: 1 out of 2 new replicas have been updated...',
        'deployment "b" successfully rolled out',
    ]


def test_one_failure_does_not_end_the_wait_for_the_others() -> None:
    scene = Scene(builders.stateful_set("db", strategy="OnDelete"), builders.deployment("web", 1, start=4.0))
    result = scene.follow(
        workloads=[
            {"kind": "StatefulSet", "namespace": "default", "name": "db"},
            {"kind": "Deployment", "namespace": "default", "name": "web"},
        ]
    )
    assert (result["failed"], result["done"]) == (True, False)
    assert [entry["done"] for entry in result["workloads"]] == [False, True]
    assert result["msg"].startswith(
        "Failed: StatefulSet default/db: rollout status is only available for RollingUpdate"
    )


def test_workloads_of_a_drain_without_a_rollout_are_named() -> None:
    scene = still(deployment(**COMPLETE))
    workloads = [
        {"api_version": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
        {"api_version": "batch/v1", "kind": "Job", "namespace": "default", "name": "report"},
    ]
    assert scene.follow(workloads=workloads)["msg"] == (
        "Rolled out: Deployment default/web. Skipped, because they have no rollout: Job default/report."
    )


def test_an_account_with_get_alone_polls_each_workload() -> None:
    scene = still(deployment(updatedReplicas=1))
    granted(scene, rule(["get"], resourceNames=["web"]))
    later(scene, 12, status(**COMPLETE))
    result = scene.follow(name=["web"], wait_sleep=5, fail_early="off")
    assert (result["failed"], 12 <= scene.seconds <= 17) == (False, True)
    assert len(scene.cluster.requests) <= 6
    assert result["warnings"][0].startswith("deployments in default cannot be listed (")
    assert result["warnings"][0].endswith("), so they are read one by one every 5 s")


def test_an_account_without_watch_polls_the_list() -> None:
    scene = still(deployment(updatedReplicas=1))
    granted(scene, rule(["get", "list"]))
    later(scene, 12, status(**COMPLETE))
    result = scene.follow(name=["web"], wait_sleep=5, fail_early="off")
    assert (result["failed"], 12 <= scene.seconds <= 17) == (False, True)
    assert "cannot be watched" in result["warnings"][0]


def test_a_role_limited_to_one_name_is_enough() -> None:
    scene = still(deployment(**COMPLETE))
    granted(scene, rule(["get", "list", "watch"], resourceNames=["web"]))
    assert (scene.follow(name=["web"])["done"], paths(scene)) == (True, LIST_WATCH)


def test_an_account_without_any_right_fails_with_the_error_of_the_server() -> None:
    scene = still(deployment())
    granted(scene, rule(["get"], "configmaps", ""))
    with pytest.raises(Forbidden, match='User "limited" cannot get resource "deployments" in API group "apps"'):
        scene.follow(name=["web"])
    assert len(scene.cluster.requests) == 2


def test_a_selector_needs_the_right_to_list() -> None:
    scene = still(deployment())
    granted(scene, rule(["get"]))
    with pytest.raises(Forbidden, match='cannot list resource "deployments"'):
        scene.follow(label_selectors=["app=web"])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"name": ["wep"], "namespace": "default"},
            "there is no Deployment 'wep' in namespace default; did you mean web?",
        ),
        (
            {"name": ["wep"]},
            "there is no Deployment 'wep' in namespace default (no namespace was given, so that of the kubeconfig"
            " context was used, or default); did you mean web?",
        ),
        (
            {"workloads": [{"kind": "Deployment", "name": "wep"}], "namespace": "default"},
            "there is no Deployment 'wep' in namespace default; did you mean web?",
        ),
        (
            {"workloads": [{"kind": "Deployment", "name": "wep", "namespace": "default"}]},
            "there is no Deployment 'wep' in namespace default; did you mean web?",
        ),
        (
            {"name": ["zzz", "yyy"], "namespace": "default"},
            "there is no Deployment 'zzz' in namespace default, nor yyy (it has 1 deployments)",
        ),
        (
            {"workloads": [{"kind": k, "name": "wep"} for k in ("Deployment", "DaemonSet")], "namespace": "default"},
            "there is no Deployment 'wep' in namespace default; did you mean web?; there is no DaemonSet 'wep' in"
            " namespace default (it has 0 daemonsets)",
        ),
        (
            {"name": ["web"], "namespace": "shop"},
            "there is no Deployment 'web' in namespace shop; there is no namespace 'shop' either; there is one in"
            " namespace default",
        ),
        (
            {"label_selectors": ["app=x"], "namespace": "default"},
            "no Deployment in namespace default matches label_selectors 'app=x'; fix the selector or the labels, or set"
            " allow_empty to accept no match",
        ),
        (
            {"label_selectors": ["app=web"], "namespace": "shop"},
            "no Deployment in namespace shop matches label_selectors 'app=web'; there is no namespace 'shop' either;"
            " there are some in namespace default; fix the selector or the labels, or set allow_empty to accept no"
            " match",
        ),
        (
            {"label_selectors": ["app=x"]},
            "no Deployment in namespace default matches label_selectors 'app=x' (no namespace was given, so that of the"
            " kubeconfig context was used, or default); fix the selector or the labels, or set allow_empty to accept no"
            " match",
        ),
    ],
)  # fmt: skip
def test_what_does_not_exist_fails_at_once(params: dict[str, Any], message: str) -> None:
    scene = still(deployment(updatedReplicas=1))
    with pytest.raises(InvalidOptions) as caught:
        scene.follow(**params)
    assert caught.value.message == message
    assert scene.seconds == 0


def failures(result: dict[str, Any]) -> dict[str, str]:
    """Return of each workload why it failed, by kind and name."""
    return {"%(kind)s/%(name)s" % workload: workload["failure"] for workload in result["workloads"]}


def test_missing_names_end_the_task_with_all_of_them_and_the_state_of_the_others() -> None:
    scene = still(deployment(**COMPLETE), deployment("api", updatedReplicas=1))
    names = [("Deployment", name) for name in ("web", "zzz", "api", "yyy")] + [("StatefulSet", "db")]
    workloads = [{"kind": kind, "name": name, "namespace": "default"} for kind, name in names]
    result = scene.follow(workloads=workloads)
    assert (result["failed"], result["done"], scene.seconds) == (True, False, 0)
    assert result["msg"] == (
        "There is no Deployment 'zzz' in namespace default, nor yyy (it has 2 deployments); there is no StatefulSet"
        " 'db' in namespace default (it has 0 statefulsets). The other 2 workloads were not waited for (see workloads)."
    )
    assert failures(result) == {
        "Deployment/web": "",
        "Deployment/zzz": "there is no such Deployment",
        "Deployment/api": "",
        "Deployment/yyy": "there is no such Deployment",
        "StatefulSet/db": "there is no such StatefulSet",
    }
    assert [workload["name"] for workload in result["workloads"] if workload["done"]] == ["web"]
    assert [workload["updated"] for workload in result["workloads"]][2] == 1


def test_a_name_that_may_not_be_read_does_not_hide_the_others() -> None:
    scene = still(deployment(**COMPLETE), deployment("api", updatedReplicas=1))
    granted(scene, rule(["get"], resourceNames=["web"]))
    result = scene.follow(name=["api", "web"])
    assert (result["failed"], scene.seconds) == (True, 0)
    assert result["msg"].startswith('Deployments.apps "api" is forbidden')
    assert result["msg"].endswith("The other workload was not waited for (see workloads).")
    assert [(workload["name"], workload["done"]) for workload in result["workloads"]] == [("api", False), ("web", True)]
    assert failures(result)["Deployment/api"].startswith("it cannot be read: ")


def test_without_watch_a_missing_name_fails_and_the_others_are_returned() -> None:
    result = still(deployment(**COMPLETE)).follow(name=["web", "zzz"], watch=False)
    assert (result["failed"], [workload["done"] for workload in result["workloads"]]) == (True, [True, False])


@pytest.mark.parametrize("rights", [["get", "list", "watch"], ["get"]])
@pytest.mark.parametrize("at", [1, 3])
def test_a_rollout_is_still_watched_after_a_restore_of_the_cluster(rights: list[str], at: float) -> None:
    scene = still(deployment(updatedReplicas=1))
    granted(scene, rule(rights))
    scene.agenda.after(at, lambda: scene.cluster.restore(500))
    later(scene, at + 1, status(**COMPLETE))
    result = scene.follow(name=["web"], wait_timeout=100, fail_early="off")
    assert (result["done"], scene.seconds < 40) == (True, True)


def test_a_restore_whose_versions_are_soon_as_great_as_before_hides_nothing() -> None:
    scene = still(deployment(updatedReplicas=1), deployment("other"))
    later(scene, 1, status(readyReplicas=1))
    scene.agenda.after(2, lambda: scene.cluster.restore(10))
    later(scene, 3, status(**COMPLETE))
    for number in range(20):
        later(scene, 4 + number / 10, status(readyReplicas=number), "other")
    result = scene.follow(name=["web"], wait_timeout=100, fail_early="off")
    assert (result["done"], scene.seconds < 40) == (True, True)


@pytest.mark.parametrize("times", [1, 3])
def test_a_selection_is_still_watched_after_some_lists_are_refused(times: int) -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"path": "watch=true", "watch": "expire"})
    scene.faults.add({"path": r"deployments\?(?!.*watch)", "after": 1, "times": times, "status": 403})
    later(scene, 3, status(**COMPLETE))
    result = scene.follow(label_selectors=["app=web"], wait_timeout=60, fail_early="off")
    assert (result["done"], scene.seconds < 15) == (True, True)


def test_a_selection_that_may_not_be_listed_any_more_fails_within_half_a_minute() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"path": "watch=true", "watch": "expire"})
    scene.faults.add({"path": r"deployments\?(?!.*watch)", "after": 1, "times": 0, "status": 403})
    result = scene.follow(label_selectors=["app=web"], wait_timeout=600, fail_early="off")
    assert (result["failed"], 15 < scene.seconds < 35) == (True, True)


def test_without_rights_in_other_namespaces_there_is_no_hint() -> None:
    scene = still(deployment())
    granted(scene, rule(["get", "list", "watch"], namespace="shop"))
    with pytest.raises(InvalidOptions) as caught:
        scene.follow(name=["web"], namespace="shop")
    assert caught.value.message == "there is no Deployment 'web' in namespace shop (it has 0 deployments)"
    assert [r.status for r in scene.requests("GET", "/apis/apps/v1/deployments")] == [403]


def test_an_invalid_selector_is_reported_with_its_option() -> None:
    with pytest.raises(InvalidOptions) as caught:
        still(deployment()).follow(label_selectors=["app in web"])
    assert caught.value.message.startswith("the option label_selectors: 'app in web' is not a valid label selector: ")


def test_a_selector_may_match_nothing_with_allow_empty() -> None:
    result = still().follow(label_selectors=["app=x"], allow_empty=True)
    assert (result["failed"], result["done"], result["workloads"]) == (False, True, [])
    assert result["msg"] == "There is no workload to wait for, which allow_empty permits."


def test_a_kind_that_this_server_does_not_serve_is_reported() -> None:
    scene = still(deployment())
    with pytest.raises(InvalidOptions) as caught:
        scene.follow(name=["web"], api_version="apps/v9")
    assert caught.value.message == (
        "this API server has no Deployment in api_version apps/v9: leave it out, or give one that it has"
    )


@pytest.mark.parametrize("end", ["expire", "end", "drop:9", "silent"])
def test_a_watch_that_breaks_or_lies_does_not_hide_the_end(end: str) -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"path": "watch=true", "watch": end, "times": 1})
    later(scene, 4, status(**COMPLETE))
    result = scene.follow(name=["web"], wait_timeout=60, fail_early="off")
    assert (result["done"], scene.seconds <= 35) == (True, True)


def test_a_silent_watch_does_not_make_a_short_wait_fail() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"path": "watch=true", "watch": "silent", "times": 0})
    later(scene, 4, status(**COMPLETE))
    assert scene.follow(name=["web"], wait_timeout=15, fail_early="off")["done"]


def test_server_errors_are_retried() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"status": 503, "times": 2}, {"path": "watch=true", "status": 500, "times": 2})
    later(scene, 6, status(**COMPLETE))
    assert scene.follow(name=["web"])["done"]


def test_lists_of_more_than_200_are_cut_and_counted() -> None:
    scene = still(*(deployment(f"web-{number:03}", updatedReplicas=1) for number in range(230)))
    result = scene.follow(label_selectors=["app"], wait_timeout=3)
    assert (len(result["workloads"]), result["workloads_total"]) == (200, 230)
    assert (len(result["pending_workloads"]), result["pending_workloads_total"]) == (200, 230)
    assert len(result["msg"]) < 800


@pytest.mark.parametrize("watch", [True, False])
def test_the_error_of_a_server_that_never_recovers_is_reported(watch: bool) -> None:
    scene = still(deployment())
    fault = {"kind": "Status", "code": 503, "message": "etcdserver: no leader", "reason": "ServiceUnavailable"}
    scene.faults.add({"status": 503, "json": fault, "times": 0})
    with pytest.raises(ServerFault, match="etcdserver: no leader"):
        scene.follow(name=["web"], watch=watch, wait_timeout=6)
    assert scene.seconds <= 8


def test_pods_whose_list_comes_too_late_are_reported_as_unknown() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.faults.add({"path": "/pods", "delay": 20, "times": 0})
    result = scene.follow(name=["web"], wait_timeout=5, fail_early="off")
    assert (
        "Pods in default cannot be read" in result["msg"]
        or "Time ran out before all pods could be examined" in result["msg"]
    )
