# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes k8s_node_info tells about."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions, MaintenanceError
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.node_info import choice_from, read_nodes
from kubesim import builders
from maintenance.surroundings import context_of
from stage import Scene


def told(scene: Scene, **params: Any) -> dict[str, Any]:
    return read_nodes(choice_from(params), context_of(scene))


def names(result: dict[str, Any]) -> list[str]:
    return [node["name"] for node in result["nodes"]]


@pytest.fixture
def scene() -> Scene:
    pool = {"pool": "a", "zone": "north"}
    return Scene(builders.node("w3", labels=pool, ready=False), builders.node("w4", labels={"pool": "a"}))


def test_all_nodes_are_told_by_name_where_none_is_chosen(scene: Scene) -> None:
    assert names(told(scene)) == ["w1", "w2", "w3", "w4"]


def test_named_nodes_are_told_by_name_and_once(scene: Scene) -> None:
    assert names(told(scene, name=["w2", "w1", "w2"])) == ["w1", "w2"]


def test_named_nodes_cost_one_request_each(scene: Scene) -> None:
    told(scene, name=["w2", "w1"])
    assert [request.path for request in scene.cluster.requests] == ["/api/v1/nodes/w2", "/api/v1/nodes/w1"]


def test_selected_nodes_match_all_selectors(scene: Scene) -> None:
    assert names(told(scene, label_selectors=["pool=a", "zone in (north)"])) == ["w3"]


def test_no_match_is_no_error(scene: Scene) -> None:
    assert told(scene, label_selectors=["pool=z"]) == {"changed": False, "msg": "0 nodes.", "nodes": []}


def test_the_message_says_how_many_are_not_ready(scene: Scene) -> None:
    assert told(scene, label_selectors=["pool=a"])["msg"] == "2 nodes, 1 of them not ready."


def test_an_unknown_name_is_told_with_the_names_most_like_it(scene: Scene) -> None:
    with pytest.raises(InvalidOptions) as caught:
        told(scene, name=["w1", "w11"])
    assert caught.value.message == "there is no node 'w11' in this cluster; did you mean w1?"


def test_a_malformed_selector_is_told_with_the_name_of_its_option(scene: Scene) -> None:
    with pytest.raises(InvalidOptions) as caught:
        told(scene, label_selectors=["pool in a"])
    assert caught.value.message.startswith("the option label_selectors: 'pool in a' is not a valid label selector: ")


@pytest.mark.parametrize("params", [{"name": []}, {"name": ["w1", " "]}, {"label_selectors": [""]}])
def test_an_empty_choice_is_an_error_and_not_every_node(scene: Scene, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        told(scene, **params)
    assert scene.cluster.requests == []


def test_a_server_that_is_away_for_longer_ends_the_look_within_its_minute(scene: Scene) -> None:
    scene.faults.add({"path": "/nodes", "status": 503, "times": 0})
    started = scene.clock.monotonic()
    with pytest.raises(MaintenanceError):
        told(scene)
    assert 29 <= scene.clock.monotonic() - started <= 61


def test_a_server_that_never_answers_is_told_with_what_to_look_at(scene: Scene) -> None:
    scene.faults.add({"path": "/nodes", "delay": 1000, "times": 0})
    with pytest.raises(MaintenanceError) as caught:
        told(scene)
    assert caught.value.message == (
        "the API server at https://cluster.test:6443 did not respond in time: check the option host, "
        "and whether a firewall is in between"
    )


def test_an_unknown_name_like_no_other_is_told_with_names_that_there_are(scene: Scene) -> None:
    with pytest.raises(InvalidOptions) as caught:
        told(scene, name=["database"])
    assert caught.value.message == "there is no node 'database' in this cluster; its nodes are w1, w2, w3 and 1 more"


def test_the_pods_of_a_node_are_gathered_on_request() -> None:
    agent = builders.daemon_set("agent", "kube-system")
    etcd = builders.pod("etcd-w1", "kube-system", node_name="w1", mirror=True, ready=False)
    scene = Scene(agent, etcd)
    (node,) = told(scene, name=["w1"], gather=["daemonset_pods", "static_pods", "csi_drivers"])["nodes"]
    assert [(pod["namespace"], pod["daemonset"], pod["ready"]) for pod in node["daemonset_pods"]] == [
        ("kube-system", "agent", True)
    ]
    assert node["static_pods"] == [{"namespace": "kube-system", "name": "etcd-w1", "component": "etcd", "ready": False}]
    assert isinstance(node["csi_drivers"], list)


def test_nothing_is_gathered_unasked(scene: Scene) -> None:
    assert "daemonset_pods" not in told(scene, name=["w1"])["nodes"][0]
