# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress lines, and the result of a wait that is cancelled."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Cancelled
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import Progress
from kubesim import builders
from rollout.situations import changed, deployment, granted, image, rule, still
from stage import Scene


def lines_of(scene: Scene, **params: Any) -> list[str]:
    """Return the lines that a task shows while it runs."""
    lines: list[str] = []

    def write(entry: dict[str, Any]) -> bool:
        lines.append(entry["text"])
        return True

    scene.progress = Progress(scene.clock, write)
    scene.follow(**params)
    return lines


def test_a_line_says_how_far_a_rollout_is() -> None:
    lines = lines_of(Scene(builders.deployment("web", 2, start=5.0)), name=["web"])
    assert lines == [
        "Deployment default/web: 0 of 2 updated replicas are available",
        "Deployment default/web: rolled out",
    ]


def test_a_problem_of_pods_is_in_one_line() -> None:
    scene = Scene(builders.deployment("web", 2))
    changed(scene, "Deployment", image("registry.example/app:missing"))
    lines = lines_of(scene, name=["web"], fail_early_window=40)
    assert sum("cannot pull image registry.example/app:missing" in line for line in lines) == 1


def test_warnings_are_not_progress_lines() -> None:
    scene = still(deployment(updatedReplicas=1))
    granted(scene, rule(["get"], resourceNames=["web"]))
    lines = lines_of(scene, name=["web"], fail_early="off", wait_timeout=20)
    assert lines == ["Deployment default/web: 1 out of 2 new replicas have been updated"]


def test_many_changes_at_once_are_one_short_line() -> None:
    scene = Scene(*(builders.deployment(f"web-{number:02}", 1, start=4.0) for number in range(30)))
    lines = lines_of(scene, label_selectors=["app"])
    assert lines[-1] == (
        "Deployment default/web-00, Deployment default/web-01, Deployment default/web-02 and 1 more: rolled out; "
        "26 more workloads changed"
    )


def test_a_wait_without_changes_shows_a_summary() -> None:
    scene = still(deployment(updatedReplicas=1))
    lines = lines_of(scene, name=["web"], fail_early="off", wait_timeout=120)
    assert lines[1] == (
        "0 of 1 workload rolled out; Deployment default/web: 1 out of 2 new replicas have been updated; "
        "1 m 10 s of 2 m left"
    )


def test_a_cancelled_wait_says_how_far_it_was() -> None:
    scene = still(deployment(updatedReplicas=1))

    def cancel() -> None:
        raise Cancelled("cancelled by SIGTERM")

    scene.agenda.after(3, cancel)
    result = scene.follow(name=["web"])
    assert (result["failed"], result["done"]) == (True, False)
    assert result["msg"].startswith("The wait was cancelled by SIGTERM: Deployment default/web (Waiting for deployment")


def test_an_old_pod_that_does_not_terminate_is_reported() -> None:
    scene = Scene(builders.daemon_set("agent", finalizers=None, term=900))
    changed(scene, "DaemonSet", image("registry.example/app:2"), "agent")
    result = scene.follow(kind="DaemonSet", name=["agent"], wait_timeout=20)
    assert [pod["reason"] for pod in result["pending_pods"]] == ["terminating"]


def test_pods_are_not_read_for_a_failure_that_they_cannot_explain() -> None:
    scene = still(deployment(updatedReplicas=1))
    scene.follow(name=["web"], revision=7)
    assert not [request for request in scene.cluster.requests if request.path.endswith("/pods")]
