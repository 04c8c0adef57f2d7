# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that would end a task: which are bad input, and which may be transient and are retried."""

from __future__ import annotations

from typing import Any

import pytest

from drain.situations import status as answered
from kubesim import builders
from rollout.situations import COMPLETE, deployment, granted, later, rule, status, still
from stage import ConcurrentScene, Scene

A_LIST = r"deployments\?(?!.*watch)"
UNSERVED = {"status": 404, "json": answered(404, "the server could not find the requested resource", "NotFound")}
BOTH = [
    {"kind": "Deployment", "namespace": "default", "name": "web"},
    {"kind": "DaemonSet", "namespace": "default", "name": "db"},
]


def two_kinds() -> Scene:
    """Return a cluster with a Deployment that is complete after 30 s, and a DaemonSet that is complete."""
    agents = builders.daemon_set("db")
    agents["status"] = {"observedGeneration": agents["metadata"].get("generation", 1)}
    scene = still(deployment(updatedReplicas=1, replicas=2), agents)
    later(scene, 30, status(**COMPLETE))
    return scene


@pytest.mark.parametrize("answer", [{**UNSERVED, "times": 3}, {"status": 401, "times": 3}], ids=["404", "401"])
def test_what_a_known_server_must_have_is_retried(answer: dict[str, Any]) -> None:
    scene = two_kinds()
    scene.faults.add({"path": "daemonsets", **answer})
    assert scene.follow(workloads=BOTH, fail_early="off")["done"]


def test_what_a_known_server_never_has_fails_that_kind_alone_within_half_a_minute() -> None:
    scene = two_kinds()
    scene.faults.add({"path": "daemonsets", "times": 0, **UNSERVED})
    result = scene.follow(workloads=BOTH, fail_early="off")
    failures = {workload["name"]: workload["failure"] for workload in result["workloads"]}
    assert failures == {"web": "", "db": "the server could not find the requested resource"}
    assert len([asked for asked in scene.cluster.requests if "daemonsets" in asked.path]) == 6


@pytest.mark.parametrize("answer", [UNSERVED, {"status": 401}, {"status": 403}], ids=["404", "401", "403"])
def test_what_is_wrong_from_the_start_fails_at_once(answer: dict[str, Any]) -> None:
    scene = two_kinds()
    scene.faults.add({"path": ".", "times": 0, **answer})
    with pytest.raises(Exception, match=r"simulated|could not find"):
        scene.follow(label_selectors=["app=web"])
    assert scene.seconds == 0


def test_a_right_to_list_that_is_missing_for_a_moment_does_not_start_polling() -> None:
    scene = two_kinds()
    scene.faults.add({"path": "watch=true", "watch": "expire"}, {"path": A_LIST, "status": 403, "after": 1})
    result = scene.follow(name=["web"], fail_early="off")
    assert (result["done"], result["warnings"], scene.requests("GET", "deployments/web")) == (True, [], [])


def test_a_right_to_list_that_stays_missing_starts_polling() -> None:
    scene = two_kinds()
    scene.faults.add({"path": "watch=true", "watch": "expire"}, {"path": A_LIST, "status": 403, "after": 1, "times": 0})
    result = scene.follow(name=["web"], fail_early="off")
    assert (result["done"], "read one by one" in result["warnings"][0]) == (True, True)


def test_a_login_that_fails_for_one_workload_alone_does_not_hide_the_others() -> None:
    scene = ConcurrentScene(deployment(), deployment("db", **COMPLETE), controllers=False)
    granted(scene, rule(["get"]))
    scene.faults.add({"path": "deployments/web", "status": 401, "times": 0, "delay": 1})
    result = scene.follow(name=["web", "db"], fail_early="off")
    scene.turns.close()
    assert [workload["done"] for workload in result["workloads"]] == [False, True]
    assert "it cannot be read: the API server does not accept" in result["workloads"][0]["failure"]


def test_a_list_that_is_too_slow_for_the_time_left_counts_as_a_timeout() -> None:
    scene = two_kinds()
    scene.faults.add({"path": ".", "delay": 0.5, "times": 0, "pass": True})
    result = scene.follow(name=["web"], wait_timeout=1)
    assert (result["workloads"][0]["failure"], result["msg"].startswith("Not rolled out within 1 s: ")) == ("", True)


A_READ = {"path": "deployments/web", "after": 1}


@pytest.mark.parametrize(
    "answer",
    [UNSERVED, {"status": 401, "times": 3}, {"status": 403}, {"json": {"kind": "Login"}}, {"json": {"kind": "List"}}],
    ids=["404", "401", "403", "login", "list"],
)
def test_one_transient_error_of_a_read_does_not_mean_that_a_workload_is_gone(answer: dict[str, Any]) -> None:
    scene = two_kinds()
    granted(scene, rule(["get"]))
    scene.faults.add({**A_READ, **answer})
    assert scene.follow(name=["web"], fail_early="off")["done"]


def test_a_deleted_workload_fails_at_its_next_read() -> None:
    scene = two_kinds()
    granted(scene, rule(["get"]))
    scene.agenda.after(12, lambda: scene.store.delete("Deployment", "default", "web"))
    result = scene.follow(name=["web"], fail_early="off")
    assert result["workloads"][0]["failure"] == "it was deleted during the wait for its rollout"
    assert scene.seconds == 15


@pytest.mark.parametrize("answer", [UNSERVED, {"status": 403}, {"status": 400}], ids=["404", "403", "400"])
def test_pods_are_watched_again_after_one_list_is_refused(answer: dict[str, Any]) -> None:
    scene = two_kinds()
    scene.faults.add({"path": "pods.*watch", "watch": "expire"}, {"path": r"/pods\?(?!.*watch)", "after": 1, **answer})
    result = scene.follow(name=["web"], semantics="strict")
    assert (result["done"], len([r for r in scene.cluster.requests if r.path.endswith("/pods")]) > 3) == (True, True)
