# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers that cannot be pulled, made or kept alive."""

from __future__ import annotations

from typing import Any

import pytest
from controlled_cluster import ControlledCluster

from kubesim import builders
from kubesim.objects import Object, is_pod_ready


def bound(**options: Any) -> Object:
    return builders.pod("web", phase="Pending", node_name="node-1", start=0, **options)


def state(sim: ControlledCluster, container: int = 0, field: str = "containerStatuses") -> tuple[str, Any]:
    """Return the state's name and its reason (or message for the waiting)."""
    found = sim.get("Pod", "web")["status"][field][container]["state"]
    name = next(iter(found))
    return name, found[name].get("reason")


def message(sim: ControlledCluster) -> str:
    found = sim.get("Pod", "web")["status"]["containerStatuses"][0]["state"]
    return str(found["waiting"]["message"])


def told(sim: ControlledCluster, kind: str = "Warning") -> list[tuple[str, str, int]]:
    """Return reason, message and count of the events of a type, in their order."""
    events = sorted(sim.store.list("Event"), key=lambda e: int(e["metadata"]["resourceVersion"]))
    return [(e["reason"], e["message"], e["count"]) for e in events if e["type"] == kind]


def started(pod: Object, seconds: float = 0.01) -> ControlledCluster:
    sim = ControlledCluster()
    sim.store.load([pod])
    sim.agenda.advance(seconds)
    return sim


NOT_FOUND = (
    'rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/app:missing": '
    'failed to resolve reference "registry.example/app:missing": registry.example/app:missing: not found'
)


def test_an_image_that_is_not_there_is_an_error_first() -> None:
    sim = started(bound(image="registry.example/app:missing"))
    assert (state(sim), message(sim)) == (("waiting", "ErrImagePull"), NOT_FOUND)


def test_a_pull_that_failed_is_backed_off_from() -> None:
    sim = started(bound(image="registry.example/app:missing"), 6)
    assert state(sim) == ("waiting", "ImagePullBackOff")
    assert message(sim) == f'Back-off pulling image "registry.example/app:missing": ErrImagePull: {NOT_FOUND}'


def test_a_pull_is_tried_again_after_the_back_off() -> None:
    sim = started(bound(image="registry.example/app:missing"), 15.5)
    assert state(sim) == ("waiting", "ErrImagePull")


def test_a_failed_pull_is_told_in_events() -> None:
    sim = started(bound(image="registry.example/app:missing"))
    assert [reason_and_message[:2] for reason_and_message in told(sim)] == [
        ("Failed", f'Failed to pull image "registry.example/app:missing": {NOT_FOUND}'),
        ("Failed", "Error: ErrImagePull"),
    ]


def test_a_registry_that_has_no_address_cannot_be_asked() -> None:
    sim = started(bound(image="broken.example/app:1"))
    assert message(sim).endswith("dial tcp: lookup broken.example on 10.96.0.10:53: no such host")


def test_a_pod_heals_when_its_registry_does() -> None:
    sim = started(bound(annotations={"fake/pull": "503 Service Unavailable", "fake/heal": "12"}), 16)
    assert is_pod_ready(sim.get("Pod", "web"))


def test_a_container_that_ends_is_started_again_at_once_the_first_time() -> None:
    sim = started(bound(annotations={"fake/crash": "3"}), 0.5)
    assert state(sim) == ("terminated", "Error")
    sim.agenda.advance(1)
    found = sim.get("Pod", "web")["status"]["containerStatuses"][0]
    assert (found["restartCount"], found["lastState"]["terminated"]["exitCode"]) == (1, 3)


def test_a_container_that_ends_again_is_backed_off_from() -> None:
    sim = started(bound(annotations={"fake/crash": "3"}), 2.5)
    uid = sim.get("Pod", "web")["metadata"]["uid"]
    assert state(sim) == ("waiting", "CrashLoopBackOff")
    assert message(sim) == f"back-off 10s restarting failed container=app pod=web_default({uid})"


def test_the_back_off_doubles_up_to_five_minutes() -> None:
    sim = started(bound(annotations={"fake/crash": "3"}), 1200)
    assert message(sim).startswith("back-off 5m0s restarting failed container=app")


def test_a_crash_loop_counts_its_restarts() -> None:
    # ends at 0, 1, 12 and 33: one restart at once, then pauses of 10 and 20 seconds
    sim = started(bound(annotations={"fake/crash": "3"}), 40)
    assert sim.get("Pod", "web")["status"]["containerStatuses"][0]["restartCount"] == 3


def test_a_container_counts_as_ready_until_it_crashes() -> None:
    sim = started(bound(annotations={"fake/crash": "1,5"}), 1)
    assert is_pod_ready(sim.get("Pod", "web"))
    sim.agenda.advance(4.5)
    assert not is_pod_ready(sim.get("Pod", "web"))


def test_a_container_short_of_memory_is_killed() -> None:
    sim = started(bound(annotations={"fake/oom": "2"}), 2.5)
    ended = sim.get("Pod", "web")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "OOMKilled")


def test_a_crash_ends_a_pod_that_is_never_restarted() -> None:
    sim = started(bound(annotations={"fake/crash": "3,1"}, restart_policy="Never"), 2)
    assert sim.get("Pod", "web")["status"]["phase"] == "Failed"


def with_init(annotations: dict[str, str]) -> Object:
    pod = bound(annotations=annotations)
    pod["spec"]["initContainers"] = [{"name": "setup", "image": "registry.example/setup:1"}]
    return pod


def test_containers_wait_for_the_init_container() -> None:
    sim = started(with_init({"fake/exec.setup": "4"}), 3)
    assert (state(sim), state(sim, 0, "initContainerStatuses")[0]) == (("waiting", "PodInitializing"), "running")
    sim.agenda.advance(2)
    assert is_pod_ready(sim.get("Pod", "web"))


def test_a_failed_init_container_keeps_the_pod_pending() -> None:
    sim = started(with_init({"fake/crash.setup": "2"}), 3)
    found = sim.get("Pod", "web")["status"]
    assert (found["phase"], state(sim, 0, "initContainerStatuses")) == ("Pending", ("waiting", "CrashLoopBackOff"))


def test_an_annotation_may_be_meant_for_one_container() -> None:
    sim = started(bound(containers=["app", "side"], annotations={"fake/crash.side": "1"}), 2.5)
    assert [state(sim, 0)[0], state(sim, 1)[1]] == ["running", "CrashLoopBackOff"]


def test_a_failing_readiness_probe_keeps_the_pod_unready_and_is_told() -> None:
    sim = started(bound(annotations={"fake/probe": "readiness"}), 25)
    assert (state(sim)[0], is_pod_ready(sim.get("Pod", "web"))) == ("running", False)
    assert told(sim) == [("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", 3)]


@pytest.mark.parametrize("probe", ["liveness", "startup"])
def test_a_failing_probe_restarts_the_container(probe: str) -> None:
    sim = started(bound(annotations={"fake/probe": probe}), 22)
    found = sim.get("Pod", "web")["status"]["containerStatuses"][0]
    assert (found["restartCount"], found["lastState"]["terminated"]["exitCode"]) == (1, 137)
    killing = f"Container app failed {probe} probe, will be restarted"
    assert ("Killing", killing, 1) in told(sim, "Normal")


def test_a_failing_liveness_probe_leaves_the_pod_ready() -> None:
    assert is_pod_ready(started(bound(annotations={"fake/probe": "liveness"}), 5).get("Pod", "web"))


def with_variable(**source: Any) -> Object:
    pod = bound()
    pod["spec"]["containers"][0]["env"] = [{"name": "X", "valueFrom": source}]
    return pod


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({"configMapKeyRef": {"name": "conf", "key": "a"}}, "couldn't find key a in ConfigMap default/conf"),
        ({"configMapKeyRef": {"name": "none", "key": "a"}}, 'configmap "none" not found'),
        ({"secretKeyRef": {"name": "none", "key": "a"}}, 'secret "none" not found'),
    ],
)
def test_a_container_whose_environment_is_not_there_is_not_made(source: Any, complaint: str) -> None:
    sim = ControlledCluster()
    sim.store.load([{"kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"b": ""}}, with_variable(**source)])
    sim.agenda.advance(1)
    assert (state(sim), message(sim)) == (("waiting", "CreateContainerConfigError"), complaint)
    assert ("Failed", f"Error: {complaint}", 1) in told(sim)


def test_a_container_is_made_when_its_configuration_comes() -> None:
    sim = started(with_variable(configMapKeyRef={"name": "conf", "key": "a"}))
    sim.store.load([{"kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": ""}}])
    sim.agenda.advance(11)
    assert is_pod_ready(sim.get("Pod", "web"))


def test_a_container_that_cannot_be_made_says_why() -> None:
    sim = started(bound(annotations={"fake/error": "CreateContainerError,context deadline exceeded"}))
    assert (state(sim), message(sim)) == (("waiting", "CreateContainerError"), "context deadline exceeded")


def test_a_crash_looping_pod_goes_when_deleted() -> None:
    sim = started(bound(annotations={"fake/crash": "1"}), 30)
    sim.delete("web")
    sim.agenda.advance(2)
    assert sim.names("Pod") == []


def test_a_reboot_keeps_what_the_container_had_counted() -> None:
    sim = started(bound(annotations={"fake/crash": "1,3"}), 5)
    sim.controllers.reboot("node-1", 2)
    sim.agenda.advance(3)
    assert sim.get("Pod", "web")["status"]["containerStatuses"][0]["restartCount"] == 2
