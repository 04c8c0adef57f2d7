# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a node is back from maintenance."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.node_wait import NodeWait, task_from
from ansible_collections.kubeops.maintenance.plugins.module_utils.rest import Rest
from kubesim import builders
from stage import Scene


def waited(scene: Scene, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    task = task_from({"name": "w1", "wait_sleep": 5, **params})
    return NodeWait(task, scene.clock, lambda limit: Rest(scene.connection, scene.clock, limit)).run(check_mode)


def boot_id(scene: Scene) -> str:
    node = scene.store.get("Node", None, "w1")
    return str(node["status"]["nodeInfo"]["bootID"]) if node else ""


def lacking(result: dict[str, Any]) -> list[str]:
    return [lack["reason"] for lack in result["lacks"]]


def test_a_node_that_is_well_is_back_at_once() -> None:
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
    assert result["msg"] == "Node w1 is not back after 1 m: it has not been rebooted yet."


def test_a_soak_time_begins_anew_when_the_node_falls_back() -> None:
    scene = Scene()
    scene.agenda.after(20, lambda: scene.cluster.controllers.fail("w1"))
    scene.agenda.after(31, lambda: scene.cluster.controllers.recover("w1"))
    result = waited(scene, ready_for=30)
    assert (result["back"], result["waited"]) == (True, 65.0)


def test_a_soak_time_that_is_not_over_says_how_long_it_was() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    scene.agenda.after(40, lambda: scene.cluster.controllers.recover("w1"))
    result = waited(scene, ready_for=50, wait_timeout=60)
    assert result["msg"] == "Node w1 has been well for 20 s only and not for 50 s."


def test_a_dead_node_says_what_its_condition_says() -> None:
    scene = Scene()
    scene.cluster.controllers.fail("w1")
    result = waited(scene, wait_timeout=30)
    assert lacking(result) == ["not_ready"]
    assert result["msg"] == "Node w1 is not back after 30 s: it is not Ready: Kubelet stopped posting node status."


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
        {"reason": "daemonset_pods", "message": "no pod is ready there of 1 DaemonSet (kube-system/agent)"}
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
    assert result["lacks"] == [
        {"reason": "csi_drivers", "message": "not registered there: 1 storage driver (b.csi.example.com)"}
    ]


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


def test_a_soak_time_longer_than_the_limit_is_an_error() -> None:
    with pytest.raises(InvalidOptions):
        waited(Scene(), ready_for=900, wait_timeout=900)
