# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that tests make."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim import builders
from kubesim.objects import Object, is_pod_ready


def test_a_uid_is_always_the_same_for_a_name() -> None:
    assert builders.pod("a")["metadata"]["uid"] == builders.pod("a")["metadata"]["uid"]


def test_a_uid_may_be_given() -> None:
    assert builders.pod("a", uid="u-1")["metadata"]["uid"] == "u-1"


def test_an_owner_may_be_an_object_or_its_name() -> None:
    owner = builders.replica_set("web")
    by_object, by_name = (builders.pod("a", owner=given)["metadata"] for given in (owner, "ReplicaSet/web"))
    assert by_object["ownerReferences"] == by_name["ownerReferences"]


@pytest.mark.parametrize(
    ("options", "ready"),
    [({}, True), ({"ready": False}, False), ({"never_ready": True}, False), ({"phase": "Succeeded"}, False)],
)
def test_a_pod_is_ready_when_it_should_be(options: dict[str, Any], ready: bool) -> None:
    assert is_pod_ready(builders.pod("a", **options)) is ready


def test_times_of_the_kubelet_are_annotations() -> None:
    made = builders.pod("a", start=1, term=0.5, run=30, never_ready=True)["metadata"]["annotations"]
    assert made == {"fake/start": "1", "fake/term": "0.5", "fake/run": "30", "fake/noready": "true"}


def test_a_mirror_pod_belongs_to_its_node() -> None:
    meta = builders.pod("etcd", node_name="node-2", mirror=True)["metadata"]
    assert "kubernetes.io/config.mirror" in meta["annotations"]
    assert (meta["ownerReferences"][0]["kind"], meta["ownerReferences"][0]["name"]) == ("Node", "node-2")


def test_volumes_are_named() -> None:
    volumes = builders.pod("a", emptydir=True, claims=["data"])["spec"]["volumes"]
    assert volumes == [
        {"name": "scratch", "emptyDir": {}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
    ]


def test_a_workload_selects_its_pods() -> None:
    made = builders.deployment("web", 2, labels={"tier": "front"})["spec"]
    assert made["selector"]["matchLabels"] == made["template"]["metadata"]["labels"] == {"tier": "front"}


def test_pods_of_a_workload_are_on_the_nodes_named() -> None:
    pods = builders.pods_of(builders.daemon_set("agent"), ["node-0", "node-1"])
    assert [(pod["metadata"]["name"], pod["spec"]["nodeName"]) for pod in pods] == [
        ("agent-0", "node-0"),
        ("agent-1", "node-1"),
    ]


@pytest.mark.parametrize(
    ("given", "selector"),
    [
        (None, {"matchLabels": {"app": "web"}}),
        ({"tier": "front"}, {"matchLabels": {"tier": "front"}}),
        ({}, {}),
        ({"matchExpressions": []}, {"matchExpressions": []}),
    ],
)
def test_a_budget_takes_labels_or_a_selector(given: Object | None, selector: Object) -> None:
    assert builders.budget("web", selector=given)["spec"]["selector"] == selector


@pytest.mark.parametrize("ready", [True, False, "Unknown"])
def test_a_node_is_as_ready_as_it_should_be(ready: bool | str) -> None:
    conditions = builders.node("n", ready=ready)["status"]["conditions"]
    assert next(c for c in conditions if c["type"] == "Ready")["status"] == str(ready)


def test_a_terminating_namespace_has_its_finalizer() -> None:
    made = builders.namespace("shop", terminating=True)
    assert (made["status"]["phase"], made["spec"]["finalizers"]) == ("Terminating", ["kubernetes"])


def test_a_cron_job_has_no_selector_of_its_own() -> None:
    assert "selector" not in builders.cron_job("nightly")["spec"]["jobTemplate"]["spec"]


def test_a_volume_attachment_names_node_and_volume() -> None:
    spec = builders.volume_attachment("va-1", "node-1", "pv-1")["spec"]
    assert (spec["nodeName"], spec["source"]["persistentVolumeName"]) == ("node-1", "pv-1")
