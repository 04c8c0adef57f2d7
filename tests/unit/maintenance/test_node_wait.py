# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a node is ready again after maintenance."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    Forbidden,
    InvalidConfiguration,
    InvalidOptions,
    Unreachable,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.node_wait import NodeWait, task_from
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import SILENT, Progress
from kubesim import builders
from maintenance.surroundings import context_of
from runtime.listener import Listener
from stage import Scene

AWAY = {"path": "/nodes", "status": 503, "times": 0}


def waiting(scene: Scene, progress: Progress = SILENT, **params: Any) -> NodeWait:
    task = task_from({"name": "w1", "wait_sleep": 5, **params})
    return NodeWait(task, context_of(scene, progress))


def waited(scene: Scene, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    return waiting(scene, **params).run(check_mode)


def heard(scene: Scene, level: str = "changes", **params: Any) -> list[tuple[float, str]]:
    """Return the lines of a wait, with the seconds since it began."""
    listener = Listener(scene.clock, level=level)
    waiting(scene, listener.progress, **params).run()
    return listener.timed


def replace(scene: Scene, **node: Any) -> None:
    """Let the node leave the cluster and join it as another object."""
    scene.store.remove("Node", None, "w1")
    scene.store.load([builders.node("w1", uid="another", **node)])


def boot_id(scene: Scene) -> str:
    node = scene.store.get("Node", None, "w1")
    return str(node["status"]["nodeInfo"]["bootID"]) if node else ""


def lacking(result: dict[str, Any]) -> list[str]:
    return [lack["reason"] for lack in result["lacks"]]


def test_a_healthy_node_is_ready_at_once() -> None:
    result = waited(Scene())
    assert (result["back"], result["waited"], result["lacks"]) == (True, 0.0, [])
    assert result["node"]["name"] == "w1"


def test_a_reboot_is_proven_by_another_boot_id() -> None:
    scene = Scene()
    scene.agenda.after(20, lambda: scene.cluster.controllers.reboot("w1", 30))
    result = waited(scene, boot_id_before=boot_id(scene))
    assert (result["back"], result["waited"]) == (True, 50.0)


def test_a_node_that_still_looks_ready_is_not_back_from_its_reboot() -> None:
    scene = Scene()
    result = waited(scene, boot_id_before=boot_id(scene), wait_timeout=60)
    assert (result["back"], lacking(result)) == (False, ["not_rebooted"])
    assert result["msg"] == "Node w1 is not ready after 1 m: it has not been rebooted yet."


def test_a_stable_time_restarts_when_the_node_falls_back() -> None:
    scene = Scene()
    scene.agenda.after(20, lambda: scene.cluster.controllers.fail("w1"))
    scene.agenda.after(31, lambda: scene.cluster.controllers.recover("w1"))
    result = waited(scene, ready_for=30)
    assert (result["back"], result["waited"]) == (True, 65.0)


def test_a_stable_time_that_is_not_over_says_how_long_it_was() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    scene.agenda.after(40, lambda: scene.cluster.controllers.recover("w1"))
    result = waited(scene, ready_for=50, wait_timeout=60)
    assert result["msg"] == "Node w1 has been healthy for only 20 s, not 50 s."


def test_a_dead_node_says_what_its_condition_says() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    result = waited(scene, wait_timeout=30)
    assert lacking(result) == ["not_ready"]
    assert result["msg"] == "Node w1 is not ready after 30 s: it is not Ready: Kubelet stopped posting node status."


def test_a_kubelet_version_may_be_given_as_packages_have_it() -> None:
    assert lacking(waited(Scene(), kubelet_version="1.36.2", wait_timeout=10)) == []


def test_another_kubelet_version_is_waited_for() -> None:
    result = waited(Scene(), kubelet_version="v1.36.3", wait_timeout=10)
    assert result["lacks"] == [{"reason": "kubelet_version", "message": "its kubelet is v1.36.2 and not v1.36.3"}]


def test_a_daemonset_without_a_ready_pod_is_waited_for() -> None:
    scene = Scene(builders.daemon_set("agent", "kube-system", start=12))
    scene.cluster.controllers.reboot("w1", 1)
    result = waited(scene, daemonsets=["kube-system/agent"], boot_id_before=boot_id(scene))
    assert result["back"] and result["waited"] >= 13


def test_a_daemonset_that_never_gets_ready_is_named() -> None:
    result = waited(Scene(), daemonsets=["kube-system/agent"], wait_timeout=10)
    assert result["lacks"] == [
        {"reason": "daemonset_pods", "message": "it lacks a ready pod of 1 DaemonSet (kube-system/agent)"}
    ]


def test_a_storage_driver_that_is_not_registered_is_named() -> None:
    driver = {"name": "a.csi.example.com", "nodeID": "w1", "topologyKeys": None}
    csi = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "w1"},
        "spec": {"drivers": [driver]},
    }
    result = waited(Scene(csi), csi_drivers=["a.csi.example.com", "b.csi.example.com"], wait_timeout=10)
    assert result["lacks"] == [{"reason": "csi_drivers", "message": "it lacks 1 storage driver (b.csi.example.com)"}]


def test_a_taint_that_is_not_wanted_is_named() -> None:
    strange = {"key": "node.cilium.io/agent-not-ready", "effect": "NoSchedule"}
    scene = Scene(builders.node("w3", taints=[strange, {"key": "pool", "value": "a", "effect": "NoSchedule"}]))
    wanted = [{"key": "pool", "value": "a", "effect": "NoSchedule"}]
    result = waited(scene, name="w3", taints=wanted, wait_timeout=10)
    assert result["lacks"] == [
        {"reason": "taints", "message": "it has 1 taint (node.cilium.io/agent-not-ready:NoSchedule)"}
    ]


def test_its_own_cordon_is_no_strange_taint() -> None:
    scene = Scene(builders.node("w3", unschedulable=True))
    assert waited(scene, name="w3", taints=[])["back"]


def test_an_api_server_that_goes_down_with_the_node_is_waited_for() -> None:
    scene = Scene()
    scene.faults.add({"path": "/nodes", "reset": "before", "times": 0})
    scene.agenda.after(120, scene.faults.clear)
    assert waited(scene)["back"]


def test_check_mode_looks_once() -> None:
    scene = Scene()
    result = waited(scene, check_mode=True, boot_id_before=boot_id(scene))
    assert (result["back"], result["waited"], lacking(result)) == (False, 0.0, ["not_rebooted"])


def test_an_unknown_node_is_an_error() -> None:
    with pytest.raises(InvalidOptions):
        waited(Scene(), name="w9")


def test_a_stable_time_longer_than_the_limit_is_an_error() -> None:
    with pytest.raises(InvalidOptions):
        waited(Scene(), ready_for=900, wait_timeout=900)


def test_a_check_without_a_response_neither_breaks_a_stable_time_nor_counts() -> None:
    scene = Scene()
    scene.agenda.after(11, lambda: scene.faults.add(AWAY))
    scene.agenda.after(50, scene.faults.clear)
    result = waited(scene, ready_for=30)
    # Well from 0 to 10, and for the other 20 s from the first answer on.
    assert (result["back"], result["waited"]) == (True, 70.0)


def test_a_stable_time_restarts_if_the_node_fell_back_while_the_api_server_was_away() -> None:
    scene = Scene()
    scene.agenda.after(11, lambda: scene.faults.add(AWAY))
    scene.agenda.after(20, lambda: scene.cluster.controllers.fail("w1"))
    scene.agenda.after(40, lambda: scene.cluster.controllers.recover("w1"))
    scene.agenda.after(50, scene.faults.clear)
    result = waited(scene, ready_for=30)
    assert (result["back"], result["waited"]) == (True, 80.0)


def test_a_stable_time_restarts_with_another_boot_between_two_checks() -> None:
    scene = Scene()
    scene.agenda.after(11, lambda: scene.cluster.controllers.reboot("w1", 1))
    assert waited(scene, ready_for=30)["waited"] == 45.0


def test_a_stable_time_does_not_end_with_a_check_without_a_response() -> None:
    scene = Scene()
    scene.agenda.after(26, lambda: scene.faults.add(AWAY))
    result = waited(scene, ready_for=30, wait_timeout=120)
    assert (result["back"], lacking(result)) == (False, ["api_server"])


def test_reports_of_a_kubelet_with_a_wrong_clock_count_the_same() -> None:
    scene = Scene()

    def report(stamp: str) -> None:
        def change(node: dict[str, Any]) -> None:
            for condition in node["status"]["conditions"]:
                condition["lastHeartbeatTime"] = condition["lastTransitionTime"] = stamp

        scene.store.mutate("Node", None, "w1", change)

    for second in range(1, 30):
        stamp = "2099-01-01T00:00:%02dZ" % second if second % 2 else "1970-01-01T00:00:%02dZ" % second
        scene.agenda.after(second, lambda stamp=stamp: report(stamp))
    assert waited(scene, ready_for=30)["waited"] == 30.0


@pytest.mark.parametrize("conditions", [None, [], [None], [{"type": "Ready"}], [{"type": "Ready", "status": None}]])
def test_a_node_that_has_not_reported_yet_is_waited_for(conditions: Any) -> None:
    scene = Scene(controllers=False)
    scene.store.mutate("Node", None, "w1", lambda node: node["status"].update(conditions=conditions, nodeInfo=None))
    result = waited(scene, wait_timeout=10)
    assert result["msg"] == "Node w1 is not ready after 10 s: it is not Ready: its kubelet has not reported."


def test_a_node_without_a_status_has_not_been_rebooted() -> None:
    scene = Scene(controllers=False)
    scene.store.mutate("Node", None, "w1", lambda node: node.pop("status"))
    assert lacking(waited(scene, boot_id_before="x", wait_timeout=10)) == ["not_rebooted", "not_ready"]


def test_a_node_that_leaves_the_cluster_while_it_is_down_is_waited_for_from_the_first_look_on() -> None:
    scene = Scene()
    before = boot_id(scene)
    scene.store.remove("Node", None, "w1")
    scene.agenda.after(40, lambda: scene.store.load([builders.node("w1", uid="another")]))
    scene.agenda.after(40, lambda: scene.cluster.controllers.reboot("w1", 10))
    result = waited(scene, boot_id_before=before)
    assert (result["back"], result["waited"]) == (True, 50.0)


def test_a_node_that_left_the_cluster_for_good_is_said_to_be_gone() -> None:
    scene = Scene()
    scene.agenda.after(6, lambda: scene.store.remove("Node", None, "w1"))
    result = waited(scene, ready_for=30, wait_timeout=60)
    assert result["msg"] == "Node w1 is not ready after 1 m: it is not in the cluster any more."
    assert result["node"]["name"] == "w1"


def test_a_node_that_was_replaced_restarts_its_stable_time_and_is_warned_of() -> None:
    scene = Scene(controllers=False)
    scene.agenda.after(11, lambda: replace(scene))
    wait = waiting(scene, ready_for=30)
    assert wait.run()["waited"] == 45.0
    assert wait.warnings == [
        "node w1 left the cluster and joined it again: its earlier cordon, labels, taints and annotations are gone, "
        "unless they were set again"
    ]


@pytest.mark.parametrize("status", [401, 403])
def test_an_api_server_that_just_started_and_knows_no_roles_yet_is_waited_for(status: int) -> None:
    scene = Scene()
    scene.agenda.after(6, lambda: scene.faults.add({"path": "/nodes", "status": status, "times": 0}))
    scene.agenda.after(20, scene.faults.clear)
    assert waited(scene, ready_for=30)["back"]


def test_a_right_that_is_gone_for_good_is_said() -> None:
    scene = Scene()
    scene.agenda.after(6, lambda: scene.faults.add({"path": "/nodes", "status": 403, "times": 0}))
    result = waited(scene, ready_for=30, wait_timeout=60)
    assert lacking(result) == ["api_server"]
    assert "the API server refuses what it allowed before (simulated failure 403)" in result["msg"]


def test_a_right_that_was_never_there_is_an_error_at_once() -> None:
    scene = Scene()
    scene.faults.add({"path": "/pods", "status": 403, "times": 0})
    with pytest.raises(Forbidden):
        waited(scene, daemonsets=["kube-system/agent"])
    assert scene.seconds == 0


def test_an_api_server_that_asks_to_slow_down_is_waited_for() -> None:
    scene = Scene()
    scene.faults.add({"path": "/nodes", "status": 429, "times": 0})
    scene.agenda.after(100, scene.faults.clear)
    assert waited(scene)["back"]


def test_a_name_that_does_not_resolve_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    ask = scene.connection.pool.request

    def unresolved(*args: Any, **settings: Any) -> Any:
        if 3 < scene.seconds < 13:
            raise Unreachable("the name is not known", final=True, kind="name")
        return ask(*args, **settings)

    monkeypatch.setattr(scene.connection.pool, "request", unresolved)
    assert waited(scene, ready_for=30)["waited"] == 45.0


def test_it_says_what_it_waits_for_and_how_it_ended() -> None:
    scene = Scene()
    scene.agenda.after(20, lambda: scene.cluster.controllers.reboot("w1", 30))
    assert heard(scene, boot_id_before=boot_id(scene), ready_for=30) == [
        (0.2, "w1: not ready yet: it has not been rebooted yet"),
        (20.2, "w1: not ready yet: it has not been rebooted yet; it is not Ready: node is shutting down"),
        (50.0, "w1: healthy; must stay healthy for 30 s (14 m 10 s of 15 m left)"),
        (80.0, "w1: ready after 1 m 20 s"),
    ]


def test_it_says_each_minute_how_things_stand() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    said = "w1: not ready yet: it is not Ready: Kubelet stopped posting node status"
    assert heard(scene, level="summary", wait_timeout=120) == [
        (50.0, said + "; 1 m 10 s of 2 m left"),
        (100.0, said + "; 20 s of 2 m left"),
        (120.0, said),
    ]


def test_a_wait_without_a_limit_has_no_time_left_to_tell() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    scene.agenda.after(50, lambda: scene.cluster.controllers.recover("w1"))
    assert heard(scene, wait_timeout=0, ready_for=60)[1:] == [
        (50.0, "w1: healthy; must stay healthy for 1 m"),
        (100.0, "w1: healthy for 50 s of 1 m"),
        (110.0, "w1: ready after 1 m 50 s"),
    ]


def test_seconds_that_a_condition_counts_are_no_news() -> None:
    scene = Scene(builders.node("w3", ready=False))

    def report(seconds: int) -> None:
        def change(node: dict[str, Any]) -> None:
            node["status"]["conditions"][-1]["message"] = "PLEG was last seen active %ds ago" % seconds

        scene.store.mutate("Node", None, "w3", change)

    for second in range(40):
        scene.agenda.after(second, lambda second=second: report(second))
    report(0)
    assert heard(scene, name="w3", wait_timeout=40) == [
        (0.2, "w3: not ready yet: it is not Ready: PLEG was last seen active 0s ago")
    ]


def test_an_api_server_that_is_away_is_told_of_once() -> None:
    scene = Scene()
    scene.agenda.after(11, lambda: scene.faults.add(AWAY))
    scene.agenda.after(90, scene.faults.clear)
    said = "w1: healthy for 10 s of 30 s, but the API server does not answer (simulated failure 503)"
    assert heard(scene, ready_for=30) == [
        (0.2, "w1: healthy; must stay healthy for 30 s"),
        (45.2, said),
        (80.0, said + "; 13 m 40 s of 15 m left"),
        (90.2, "w1: healthy for 10 s of 30 s"),
        (110.0, "w1: ready after 1 m 50 s"),
    ]


def test_a_node_that_is_back_at_once_is_nothing_to_tell_of() -> None:
    assert heard(Scene()) == []


def test_the_wait_for_a_node_counts_from_the_tasks_begin() -> None:
    scene = Scene(builders.node("w3", ready=False))
    begun = scene.clock.began = scene.clock.monotonic()
    scene.agenda.advance(20)
    assert not waited(scene, name="w3", wait_timeout=30)["back"]
    assert scene.clock.monotonic() - begun == 30


def test_credentials_that_cannot_be_renewed_for_a_moment_are_waited_for() -> None:
    scene = Scene(builders.node("w3", ready=False))
    headers, start = scene.connection.headers, scene.agenda.now

    def broken() -> dict[str, str]:
        if start + 8 < scene.agenda.now < start + 30:
            raise InvalidConfiguration("The credential plugin 'login' ended with exit code 1.")
        return headers()

    scene.connection.headers = broken  # type: ignore[method-assign]
    scene.agenda.after(40, lambda: scene.store.mutate("Node", None, "w3", get_ready))
    assert waited(scene, name="w3", wait_timeout=300)["back"]


def get_ready(node: dict[str, Any]) -> None:
    node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 409, 410, 422])
@pytest.mark.parametrize("path", ["/nodes/w3", "/pods", "/csinodes/"])
def test_what_was_answered_before_and_is_refused_for_a_moment_is_waited_for(path: str, code: int) -> None:
    scene = Scene(builders.node("w3"), builders.daemon_set("agent"))
    scene.faults.add({"path": path, "status": code, "after": 1, "times": 4})
    result = waited(scene, name="w3", daemonsets=["default/agent"], csi_drivers=["x"], wait_timeout=40)
    assert [lack["reason"] for lack in result["lacks"]] == ["csi_drivers"]


def test_a_right_that_is_missing_from_the_start_is_told_at_once() -> None:
    scene = Scene(builders.node("w3"), builders.daemon_set("agent"))
    scene.faults.add({"path": "/pods", "status": 403, "times": 0})
    with pytest.raises(Forbidden):
        waited(scene, name="w3", daemonsets=["default/agent"], wait_timeout=300)
