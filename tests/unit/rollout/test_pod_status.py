# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a pod is not ready: each reason from the status and the events that tell it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import (
    last_run_is_over,
    why_not_ready,
)

Object = dict[str, Any]
IMAGE = "registry.example/app:2"
NOT_FOUND = 'rpc error: code = NotFound desc = failed to pull image "registry.example/app:2": not found'


def pod(*containers: Object, init: tuple[Object, ...] = (), node: str | None = "w1", **status: Any) -> Object:
    names = [entry["name"] for entry in containers] or ["app"]
    return {
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u"},
        "spec": {
            "nodeName": node,
            "containers": [{"name": name, "image": IMAGE} for name in names],
            "initContainers": [{"name": entry["name"], "image": IMAGE} for entry in init],
        },
        "status": {
            "phase": "Pending",
            "containerStatuses": list(containers),
            "initContainerStatuses": list(init),
            **status,
        },
    }


def waits(reason: str, message: str = "", name: str = "app", restarts: int = 0, last: Object | None = None) -> Object:
    state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    last_state = {"terminated": last} if last else {}
    return {"name": name, "state": state, "lastState": last_state, "ready": False, "restartCount": restarts}


def runs(name: str = "app", ready: bool = False, restarts: int = 0, last: Object | None = None, **more: Any) -> Object:
    last_state = {"terminated": last} if last else {}
    state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    return {"name": name, "state": state, "lastState": last_state, "ready": ready, "restartCount": restarts, **more}


def ended(code: int, reason: str = "Error", name: str = "app", restarts: int = 0) -> Object:
    return {
        "name": name,
        "state": {"terminated": {"exitCode": code, "reason": reason}},
        "lastState": {},
        "ready": False,
        "restartCount": restarts,
    }


def event(reason: str, message: str, kind: str = "Warning") -> Object:
    return {"type": kind, "reason": reason, "message": message, "at": ""}


def reason_of(found: Object, *events: Object) -> tuple[str, str]:
    problem = why_not_ready(found, list(events))
    assert problem is not None
    return problem.reason, problem.message


SCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


@pytest.mark.parametrize(
    ("found", "reason", "message"),
    [
        (
            pod(waits("ErrImagePull", NOT_FOUND)),
            "image_pull",
            f"container app cannot pull image {IMAGE}: {NOT_FOUND}",
        ),
        (
            pod(waits("InvalidImageName", 'couldn\'t parse image name "App:2"')),
            "image_pull",
            f'container app cannot pull image {IMAGE}: couldn\'t parse image name "App:2"',
        ),
        (
            pod(waits("CreateContainerConfigError", 'configmap "settings" not found')),
            "container_config",
            'container app cannot be configured: configmap "settings" not found',
        ),
        (
            pod(waits("CreateContainerError", "no command specified")),
            "container_create",
            "container app cannot be started: no command specified",
        ),
        (
            pod(waits("RunContainerError", "exec: no such file")),
            "container_create",
            "container app cannot be started: exec: no such file",
        ),
        (
            pod(waits("CrashLoopBackOff", "back-off 10s", restarts=2, last={"exitCode": 3, "reason": "Error"})),
            "crash_loop",
            "container app ends again and again (exit code 3, 2 restarts)",
        ),
        (pod(ended(1)), "crash_loop", "container app has ended (exit code 1)"),
        (
            pod(ended(0, "Completed", restarts=1)),
            "crash_loop",
            "container app ends again and again (exit code 0, 1 restart)",
        ),
        (
            pod(runs(restarts=4, last={"exitCode": 1, "reason": "Error"})),
            "crash_loop",
            "container app ends again and again (exit code 1, 4 restarts)",
        ),
        (
            pod(waits("CrashLoopBackOff", restarts=2, last={"exitCode": 137, "reason": "OOMKilled"})),
            "oom_killed",
            "container app runs out of memory again and again (exit code 137, 2 restarts)",
        ),
        (pod(ended(137, "OOMKilled")), "oom_killed", "container app ran out of memory (exit code 137)"),
        (
            pod(
                waits("PodInitializing"),
                init=(waits("CrashLoopBackOff", name="migrate", restarts=3, last={"exitCode": 1}),),
            ),
            "init_failed",
            "init container migrate ends again and again (exit code 1, 3 restarts)",
        ),
        (
            pod(waits("PodInitializing"), init=(waits("ErrImagePull", NOT_FOUND, "migrate"),)),
            "image_pull",
            f"container migrate cannot pull image {IMAGE}: {NOT_FOUND}",
        ),
        (
            pod(node=None, conditions=[{**SCHEDULED, "message": "0/3 nodes are available: 3 Insufficient cpu."}]),
            "unschedulable",
            "cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu.",
        ),
        (
            pod(node=None, conditions=[{**SCHEDULED, "reason": "SchedulingGated", "message": "gated"}]),
            "scheduling_gated",
            "has a scheduling gate: gated",
        ),
        (pod(node=None), "starting", "has not been scheduled yet"),
        (
            pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory."),
            "pod_failed",
            "has failed (Evicted: The node was low on resource: memory.)",
        ),
        (pod(waits("ContainerCreating")), "starting", "is starting (ContainerCreating)"),
        (pod(), "starting", "is starting"),
        (
            pod(waits("PodInitializing"), init=(runs("migrate"),)),
            "starting",
            "runs its init container migrate",
        ),
        (pod(runs(started=True)), "not_ready", "container app runs and is not ready"),
        (pod(runs(started=False)), "starting", "waits for the startup probe of container app"),
        (
            pod(
                runs(ready=True),
                conditions=[
                    {"type": "ContainersReady", "status": "True"},
                    {"type": "Ready", "status": "False", "message": "corresponding condition of pod readiness gate"},
                ],
            ),
            "not_ready",
            "is not ready: corresponding condition of pod readiness gate",
        ),
    ],
)
def test_a_reason_is_read_from_the_status(found: Object, reason: str, message: str) -> None:
    assert reason_of(found) == (reason, message)


@pytest.mark.parametrize(
    ("found", "last", "reason", "message"),
    [
        (
            pod(waits("ContainerCreating")),
            event("FailedMount", 'MountVolume.SetUp failed for volume "data": secret "keys" not found'),
            "volume",
            'waits for a volume: MountVolume.SetUp failed for volume "data": secret "keys" not found',
        ),
        (
            pod(waits("ContainerCreating")),
            event("FailedAttachVolume", "Multi-Attach error for volume"),
            "volume",
            "waits for a volume: Multi-Attach error for volume",
        ),
        (
            pod(waits("ContainerCreating")),
            event("FailedCreatePodSandBox", "plugin type=bridge failed"),
            "sandbox",
            "cannot be set up on its node: plugin type=bridge failed",
        ),
        (
            pod(runs(started=True)),
            event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
            "probe_failed",
            "container app is not ready: Readiness probe failed: HTTP probe failed with statuscode: 503",
        ),
        (
            pod(waits("ImagePullBackOff", 'Back-off pulling image "registry.example/app:2"')),
            event("Failed", 'Failed to pull image "registry.example/app:2": not found'),
            "image_pull",
            f'container app cannot pull image {IMAGE}: Failed to pull image "registry.example/app:2": not found',
        ),
    ],
    ids=["mount", "attach", "sandbox", "probe", "registry"],
)
def test_a_reason_is_read_from_the_last_event(found: Object, last: Object, reason: str, message: str) -> None:
    assert reason_of(found, last) == (reason, message)


def test_a_volume_that_was_mounted_later_is_not_a_reason() -> None:
    found = pod(waits("ContainerCreating"))
    assert (
        reason_of(found, event("FailedMount", "timed out"), event("Pulling", "Pulling image", "Normal"))[0]
        == "starting"
    )


def test_a_startup_probe_that_fails_has_its_own_patience() -> None:
    assert reason_of(pod(runs(started=False)), event("Unhealthy", "Startup probe failed"))[0] == "starting"


def test_a_ready_pod_has_no_problem() -> None:
    found = pod(runs(ready=True, restarts=3, last={"exitCode": 1}), conditions=[{"type": "Ready", "status": "True"}])
    assert why_not_ready(found, []) is None


def test_a_deleted_pod_is_terminating_even_if_it_is_ready() -> None:
    found = pod(runs(ready=True), conditions=[{"type": "Ready", "status": "True"}])
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    assert reason_of(found) == ("terminating", "is shutting down, until 2026-01-01T00:00:30Z")


def test_a_completed_init_container_is_not_a_reason() -> None:
    assert reason_of(pod(waits("PodInitializing"), init=(ended(0, "Completed", "migrate"),)))[0] == "starting"


@pytest.mark.parametrize(
    ("found", "final"),
    [
        (pod(waits("ErrImagePull", NOT_FOUND)), True),
        (pod(waits("ErrImagePull", "dial tcp 10.0.0.1:443: i/o timeout")), False),
        (pod(waits("ErrImagePull", "toomanyrequests: You have reached your pull rate limit")), False),
        (pod(waits("ErrImagePull", "unexpected status code 503 Service Unavailable")), False),
        (pod(waits("CreateContainerConfigError", "x")), True),
        (pod(ended(1)), False),
        (pod(waits("CrashLoopBackOff", restarts=1, last={"exitCode": 1})), True),
        (pod(ended(137, "OOMKilled")), True),
        (pod(node=None, conditions=[SCHEDULED]), False),
    ],
)
def test_what_may_go_away_by_itself_is_not_permanent(found: Object, final: bool) -> None:
    problem = why_not_ready(found, [])
    assert problem is not None
    assert (problem.is_fault, problem.permanent) == (True, final)


def test_a_crash_names_container_exit_code_and_restarts() -> None:
    problem = why_not_ready(pod(waits("CrashLoopBackOff", restarts=2, last={"exitCode": 3, "reason": "Error"})), [])
    assert problem is not None
    assert (problem.container, problem.exit_code, problem.restarts, problem.has_log) == ("app", 3, 2, True)


@pytest.mark.parametrize(
    ("found", "previous"),
    [
        (pod(waits("CrashLoopBackOff", restarts=2, last={"exitCode": 3})), True),
        (pod(ended(3)), False),
        (pod(runs()), False),
    ],
)
def test_the_log_of_the_run_that_failed_is_requested(found: Object, previous: bool) -> None:
    assert last_run_is_over(found, "app") is previous


@pytest.mark.parametrize("missing", [{"status": None}, {"spec": None}, {"status": {"containerStatuses": None}}])
def test_a_pod_of_which_little_is_known_is_starting(missing: Object) -> None:
    assert reason_of({**pod(), **missing})[0] == "starting"


def test_a_container_that_runs_again_is_not_a_fault_while_it_runs() -> None:
    ended_before = {"exitCode": 1, "reason": "Error"}
    again = why_not_ready(pod(runs(restarts=4, last=ended_before)), [])
    down = why_not_ready(pod(waits("CrashLoopBackOff", restarts=4, last=ended_before)), [])
    assert again is not None and down is not None
    assert (again.reason, again.is_fault, down.reason, down.is_fault) == ("crash_loop", False, "crash_loop", True)
