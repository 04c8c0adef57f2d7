# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting until volumes are off the node."""

from __future__ import annotations

from typing import Any

import pytest

from drain.situations import app, reasons
from kubesim import builders
from stage import Scene


def volume(name: str, claim: str | None, node: str = "w1") -> list[dict[str, Any]]:
    """Return a volume attached to a node, and whose it is."""
    spec: dict[str, Any] = {"csi": {"driver": "csi.example", "volumeHandle": name}}
    if claim:
        spec["claimRef"] = {"namespace": "default", "name": claim}
    persistent = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
    claims = [builders.claim(claim, volume=name)] if claim else []
    return [persistent, *claims, builders.volume_attachment("va-" + name, node, name)]


def detach(scene: Scene, name: str, after: float) -> None:
    scene.agenda.after(after, lambda: scene.store.delete("VolumeAttachment", None, "va-" + name))


def test_the_task_waits_until_the_volumes_of_drained_pods_are_detached() -> None:
    scene = Scene(*app("db", claims=["data"], term=2), *volume("pv-1", "data"))
    detach(scene, "pv-1", 20)
    result = scene.run(wait_volume_detach=True)
    assert (result["failed"], 20 <= scene.seconds < 20.5) == (False, True)
    assert result["nodes"][0]["volumes"] == [
        {
            "volume_attachment": "va-pv-1",
            "persistent_volume": "pv-1",
            "driver": "csi.example",
            "namespace": "default",
            "claim": "data",
            "detached": True,
        }
    ]


def test_without_the_option_volumes_are_not_looked_at() -> None:
    scene = Scene(*app("db", claims=["data"]), *volume("pv-1", "data"))
    assert (scene.run()["failed"], scene.requests("GET", "volumeattachments")) == (False, [])


def test_a_volume_that_stays_attached_fails_the_task_in_time_and_names_the_pod_it_was_of() -> None:
    scene = Scene(*app("db", claims=["data"]), *volume("pv-1", "data"))
    result = scene.run(wait_volume_detach=True, delete_options={"wait_timeout": 40})
    assert (result["failed"], reasons(result), scene.seconds <= 41) == (True, {"db-0": "volume_attached"}, True)
    assert result["msg"] == (
        "Node w1 was not drained within 40 s: its pods are gone, but 1 volume is still attached: pv-1 (default/data);"
        " check what its storage driver waits for. It stays cordoned."
    )


def test_volumes_of_pods_that_stay_and_of_other_nodes_are_not_waited_for() -> None:
    scene = Scene(
        builders.daemon_set("agent", claims=["agent-data"]),
        *app("other", claims=["other-data"]),
        *volume("pv-agent", "agent-data"),
        *volume("pv-other", "other-data"),
        *volume("pv-far", "far", node="w2"),
    )
    scene.store.mutate("Pod", "default", "other-0", lambda pod: pod["metadata"]["labels"].update(keep="yes"))
    result = scene.run(wait_volume_detach=True, pod_selectors=["keep!=yes"], delete_options={"ignore_daemonsets": True})
    assert (result["failed"], result["nodes"][0]["volumes"]) == (False, [])


def test_a_volume_of_unknown_owner_is_waited_for() -> None:
    scene = Scene(*app("db"), *volume("pv-1", None))
    detach(scene, "pv-1", 6)
    assert (scene.run(wait_volume_detach=True)["failed"], scene.seconds >= 6) == (False, True)


def test_volumes_left_by_an_interrupted_run_are_waited_for_by_the_next() -> None:
    scene = Scene(*volume("pv-1", "data"))
    scene.run(state="cordon")
    detach(scene, "pv-1", 6)
    assert (scene.run(wait_volume_detach=True)["failed"], scene.seconds >= 6) == (False, True)


@pytest.mark.parametrize(
    "fault",
    [
        {"path": "volumeattachments.*watch=true", "status": 403, "times": 0},
        {"path": "volumeattachments", "watch": "silent", "times": 0},
    ],
)
def test_volumes_are_listed_where_they_cannot_be_watched(fault: dict[str, Any]) -> None:
    scene = Scene(*app("db", claims=["data"]), *volume("pv-1", "data"))
    scene.faults.add(fault)
    detach(scene, "pv-1", 6)
    assert (scene.run(wait_volume_detach=True)["failed"], scene.seconds < 36) == (False, True)


def test_a_missing_right_to_list_attachments_is_named_before_anything_is_touched() -> None:
    scene = Scene(*app("db"))
    rules = [{"apiGroups": ["", "apps", "policy"], "resources": ["*"], "verbs": ["*"]}]
    scene.cluster.access.grant({"tokens": {"limited": {"user": "limited-user", "rules": rules}}})
    scene.connection.token = "limited"
    result = scene.run(wait_volume_detach=True)
    assert (result["failed"], scene.cordoned()) == (True, False)
    assert "the account may not list volumeattachments, which wait_volume_detach needs" in result["msg"]
