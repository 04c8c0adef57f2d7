# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failing early, and explaining why a rollout is stuck: on a cluster whose pods really fail."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim import builders
from rollout.situations import changed, granted, image, noted, rule
from stage import Scene

MISSING = "registry.example/app:missing"
READS = [
    rule(["get", "list", "watch"]),
    rule(["get", "list", "watch"], "pods", ""),
    rule(["get"], "replicasets"),
    rule(["list"], "events", ""),
    rule(["get"], "pods/log", ""),
]


def reasons(result: dict[str, Any]) -> list[str]:
    return [pod["reason"] for pod in result["pending_pods"]]


def rolled(kind: str = "Deployment", **notes: str) -> Scene:
    """Return a cluster with a healthy workload, whose template was just given these annotations."""
    made = {
        "Deployment": builders.deployment("web", 3),
        "DaemonSet": builders.daemon_set("web"),
        "StatefulSet": builders.stateful_set("web", 2),
    }
    scene = Scene(made[kind])
    changed(scene, kind, noted(**notes))
    return scene


def test_a_bad_image_fails_strictly_within_two_seconds_with_image_container_and_the_error_of_the_registry() -> None:
    scene = Scene(builders.deployment("web", 3))
    changed(scene, "Deployment", image(MISSING))
    result = scene.follow(name=["web"], fail_early="strict")
    assert (result["failed"], scene.seconds <= 2) == (True, True)
    [pod] = result["pending_pods"]
    assert (pod["reason"], pod["container"], pod["phase"]) == ("image_pull", "app", "Pending")
    assert f"container app cannot pull image {MISSING}: " in pod["message"]
    assert pod["message"].endswith(f"{MISSING}: not found; correct the image's name or the pull secret")
    assert result["workloads"][0]["failure"] == pod["message"]
    assert result["msg"] == (
        f"Failed early (fail_early=strict): Deployment default/web: pod default/{pod['name']}: {pod['message']}."
    )


def test_a_bad_image_fails_tolerantly_within_seconds_of_the_window() -> None:
    scene = Scene(builders.deployment("web", 3))
    changed(scene, "Deployment", image(MISSING))
    result = scene.follow(name=["web"], fail_early_window=30)
    assert (reasons(result), 30 <= scene.seconds <= 37) == (["image_pull"], True)


def test_switched_off_it_waits_for_the_progress_deadline_as_kubectl_does() -> None:
    scene = Scene(builders.deployment("web", 3, deadline=60))
    changed(scene, "Deployment", image(MISSING))
    result = scene.follow(name=["web"], fail_early="off")
    assert (reasons(result), 60 <= scene.seconds <= 63) == (["image_pull"], True)
    assert result["workloads"][0]["failure"] == 'deployment "web" exceeded its progress deadline'


@pytest.mark.parametrize("fail_early", ["tolerant", "strict"])
def test_what_recovers_within_the_window_is_not_a_failure(fail_early: str) -> None:
    scene = rolled(pull="dial tcp 10.0.0.1:443: i/o timeout", heal="45")
    result = scene.follow(name=["web"], fail_early=fail_early, fail_early_window=90)
    assert (result["failed"], result["done"]) == (False, True)


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
@pytest.mark.parametrize(
    ("notes", "reason", "message"),
    [
        (
            {"error": 'CreateContainerConfigError,configmap "settings" not found'},
            "container_config",
            'container app cannot be configured: configmap "settings" not found; create the ConfigMap, Secret or key'
            " that is missing, or correct its name in the template",
        ),
        (
            {"error": "CreateContainerError,no command specified"},
            "container_create",
            "container app cannot be started: no command specified; correct the container's command, mounts or security"
            " context",
        ),
        (
            {"crash": "3,0,boom: no database"},
            "crash_loop",
            "container app ends again and again (exit code 3, 1 restart); see its log for why it ends",
        ),
    ],
    ids=["config", "create", "crash"],
)
def test_containers_that_cannot_run_are_named_for_every_kind(
    kind: str, notes: dict[str, str], reason: str, message: str
) -> None:
    scene = rolled(kind, **notes)
    result = scene.follow(kind=kind, name=["web"], fail_early="strict")
    assert (reasons(result), result["pending_pods"][0]["message"]) == ([reason], message)
    assert scene.seconds < 15


def test_a_crash_is_reported_with_exit_code_restarts_and_the_last_lines_of_its_log() -> None:
    scene = rolled(crash="3,0,starting up\\nboom: no database")
    [pod] = scene.follow(name=["web"], fail_early="strict")["pending_pods"]
    assert (pod["exit_code"], pod["restarts"]) == (3, 1)
    assert "boom: no database" in pod["last_log"]


def test_running_out_of_memory_is_reported() -> None:
    result = rolled("DaemonSet", oom="0").follow(kind="DaemonSet", name=["web"], fail_early="strict")
    assert (reasons(result), result["pending_pods"][0]["exit_code"]) == (["oom_killed"], 137)


def test_a_pod_that_fits_no_node_has_the_message_of_the_scheduler() -> None:
    scene = Scene(builders.deployment("web", 2, node_selector={"disk": "ssd"}))
    result = scene.follow(name=["web"], fail_early="strict", fail_early_window=20)
    assert (set(reasons(result)), 20 <= scene.seconds <= 23) == ({"unschedulable"}, True)
    assert "0/2 nodes are available" in result["pending_pods"][0]["message"]


def test_a_failing_readiness_probe_has_its_own_message() -> None:
    scene = rolled(probe="readiness,HTTP probe failed with statuscode: 503")
    result = scene.follow(name=["web"])
    assert (reasons(result), 90 <= scene.seconds <= 97) == (["probe_failed"], True)
    assert "Readiness probe failed: HTTP probe failed with statuscode: 503" in result["pending_pods"][0]["message"]


def test_a_slow_start_is_not_a_failure() -> None:
    scene = Scene(builders.deployment("web", 2, start=200.0))
    assert scene.follow(name=["web"], fail_early="strict")["done"]


def quota(pods: int) -> dict[str, Any]:
    meta = {"name": "small", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {"pods": str(pods)}}}


def test_an_exceeded_quota_is_read_from_the_condition_of_the_deployment() -> None:
    scene = Scene(quota(2), builders.deployment("web", 4))
    result = scene.follow(name=["web"], fail_early="strict")
    assert (reasons(result), scene.seconds <= 4) == (["quota"], True)
    assert "exceeded quota: small" in result["msg"]


def test_a_quota_that_old_pods_may_give_back_gets_the_window() -> None:
    scene = Scene(quota(2), builders.deployment("web", 2, max_surge=1, max_unavailable=0))
    changed(scene, "Deployment", image("registry.example/app:2"))
    result = scene.follow(name=["web"], fail_early="strict", fail_early_window=20)
    assert (reasons(result), 20 <= scene.seconds <= 25) == (["quota"], True)


def test_an_exceeded_quota_is_read_from_the_events_of_a_statefulset() -> None:
    scene = Scene(quota(2), builders.stateful_set("web", 4, policy="Parallel"))
    result = scene.follow(kind="StatefulSet", name=["web"], fail_early_window=15)
    assert (reasons(result), 15 <= scene.seconds <= 22) == (["quota"], True)
    assert result["pending_pods"][0]["name"] == ""


def test_a_paused_deployment_with_a_new_template_is_reported_with_its_remedy() -> None:
    scene = Scene(builders.deployment("web", 3))
    changed(scene, "Deployment", lambda obj: obj["spec"].update(paused=True))
    changed(scene, "Deployment", image("registry.example/app:2"))
    result = scene.follow(name=["web"], fail_early="strict")
    assert (reasons(result), scene.seconds <= 3) == (["paused"], True)
    assert result["msg"] == (
        "Failed early (fail_early=strict): Deployment default/web is paused, and its template has changed: "
        "resume it (kubectl rollout resume)."
    )


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
def test_pods_of_the_revision_that_a_rollout_repairs_do_not_count(kind: str) -> None:
    scene = rolled(kind, crash="3,0")
    scene.agenda.advance(60)
    changed(scene, kind, lambda obj: obj["spec"]["template"]["metadata"].update(annotations={"fake/start": "4"}))
    if kind == "StatefulSet":  # its controller does not replace a pod that never was ready
        scene.agenda.after(8, lambda: scene.store.delete("Pod", "default", "web-1", grace=0))
    result = scene.follow(kind=kind, name=["web"], fail_early="strict", wait_timeout=300)
    assert (result["failed"], result["done"]) == (False, True)


def test_one_early_failure_ends_the_wait_for_all() -> None:
    scene = Scene(builders.deployment("web", 1), builders.deployment("slow", 1, start=100.0))
    changed(scene, "Deployment", image(MISSING))
    result = scene.follow(name=["slow", "web"], fail_early="strict")
    assert (result["failed"], scene.seconds <= 3) == (True, True)
    assert [entry["failure"] == "" for entry in result["workloads"]] == [True, False]


def test_time_that_runs_out_lists_what_pods_wait_for() -> None:
    scene = Scene(builders.deployment("web", 2, start=500.0))
    result = scene.follow(name=["web"], wait_timeout=20)
    assert (reasons(result), scene.seconds <= 21) == (["starting", "starting"], True)
    assert "Not ready: pods default/web-" in result["msg"]


@pytest.mark.parametrize(
    ("missing", "note"),
    [
        ("pods", "Pods in default cannot be read ("),
        ("replicasets", "ReplicaSets in default cannot be read ("),
        ("pods/log", "Logs in default cannot be read ("),
    ],
)
def test_what_may_not_be_read_is_noted(missing: str, note: str) -> None:
    scene = rolled(crash="3,0")
    granted(scene, *(right for right in READS if missing not in right["resources"]))
    result = scene.follow(name=["web"], fail_early="strict", wait_timeout=40)
    assert (result["failed"], note in result["msg"]) == (True, True)


def test_pods_that_may_not_be_read_are_listed_as_such() -> None:
    scene = rolled(crash="3,0")
    granted(scene, READS[0])
    result = scene.follow(name=["web"], wait_timeout=30)
    [entry] = result["pending_pods"]
    assert (entry["name"], entry["reason"], entry["workload"]) == ("", "forbidden", "Deployment/web")


def test_pods_of_an_unknown_revision_decide_nothing() -> None:
    scene = rolled(crash="3,0")
    granted(scene, *(right for right in READS if "replicasets" not in right["resources"]))
    result = scene.follow(name=["web"], fail_early="strict", wait_timeout=40)
    assert (scene.seconds >= 39, reasons(result)) == (True, ["crash_loop"])


def test_the_pods_of_healthy_rollouts_are_never_read() -> None:
    scene = Scene(*(builders.deployment(f"web-{number}", 3, start=2.0) for number in range(20)))
    for number in range(20):
        changed(scene, "Deployment", image("registry.example/app:2"), f"web-{number}")
    scene.cluster.requests.clear()
    assert scene.follow(label_selectors=["app"])["done"]
    assert [request.path for request in scene.cluster.requests] == ["/apis/apps/v1/namespaces/default/deployments"] * 2


def test_reading_stuck_pods_takes_a_few_requests_and_none_per_second() -> None:
    scene = Scene(*(builders.deployment(f"web-{number:02}", 2, start=900.0) for number in range(40)))
    scene.cluster.requests.clear()
    scene.follow(label_selectors=["app"], wait_timeout=300)
    assert len(scene.cluster.requests) < 150


def test_strict_semantics_wait_until_old_pods_are_gone() -> None:
    scene = Scene(builders.daemon_set("web", term=25))
    changed(scene, "DaemonSet", image("registry.example/app:2"))
    result = scene.follow(kind="DaemonSet", name=["web"], semantics="strict")
    assert (result["done"], [p for p in scene.store.list("Pod") if p["metadata"].get("deletionTimestamp")]) == (
        True,
        [],
    )


def test_kubectl_semantics_do_not_wait_for_old_pods() -> None:
    scene = Scene(builders.deployment("web", 1, term=30))
    changed(scene, "Deployment", image("registry.example/app:2"))
    assert (scene.follow(name=["web"])["done"], scene.seconds < 5) == (True, True)
    scene = Scene(builders.deployment("web", 1, term=30))
    changed(scene, "Deployment", image("registry.example/app:2"))
    assert (scene.follow(name=["web"], semantics="strict")["done"], scene.seconds > 25) == (True, True)


def test_strict_semantics_that_cannot_read_the_pods_fail() -> None:
    scene = Scene(builders.daemon_set("web"))
    granted(scene, rule(["get", "list", "watch"], "daemonsets"))
    result = scene.follow(kind="DaemonSet", name=["web"], semantics="strict")
    assert result["workloads"][0]["failure"].startswith(
        "semantics=strict needs its pods, which cannot be read: pods is"
    )


@pytest.mark.parametrize("watch", [True, False])
def test_strict_semantics_read_pods_without_watch_too(watch: bool) -> None:
    scene = Scene(builders.stateful_set("web", 2))
    assert scene.follow(kind="StatefulSet", name=["web"], semantics="strict", watch=watch)["done"]


def test_pods_that_cannot_be_listed_are_not_requested_again_and_again() -> None:
    scene = Scene(builders.deployment("web", 2, start=500.0))
    scene.faults.add({"path": "/pods", "status": 400, "times": 0})
    result = scene.follow(name=["web"], wait_timeout=60)
    asked = [request for request in scene.cluster.requests if request.path.endswith("/pods")]
    assert (len(asked), "Pods in default cannot be read (" in result["msg"]) == (2, True)
