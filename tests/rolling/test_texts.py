# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of the cluster and of the user that look like something else stay what they are, with every ansible-core."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from patched_cluster import PatchedCluster, Played

from kubesim import builders

MARK = "kubeops.maintenance/node-patch"
# In JSON, YAML or Python these are a number, a boolean, numbers and nothing.
NAMES = ["1e5", "on", "0123", "1.10", "null"]
DAY = 86400
# If it is ever templated, the file is there.
SLY = "{{ lookup('ansible.builtin.pipe', 'touch sly') }}"
BEFORE: dict[str, Any] = {
    "boot_id": "[1]",
    "kubelet_version": SLY,
    "daemonsets": [],
    "csi_drivers": [],
    "taints": [{"key": "True", "effect": "NoSchedule", "value": "{}"}],
}


def marked(name: str, **mark: Any) -> dict[str, Any]:
    """Return a node with the mark of an earlier run of campaign 202612, a number as some wrote it."""
    return builders.node(name, annotations={MARK: json.dumps({"campaign": 202612, **mark})})


@pytest.fixture(scope="module")
def preflight(cluster: PatchedCluster) -> Played:
    """Write an inventory of nodes with such names and marks, and run the preflight."""
    now = time.time()
    nodes = [
        *(builders.node(name, address=f"10.0.0.{number}") for number, name in enumerate(NAMES, 1)),
        marked("future", state="done", at=now + DAY),
        marked("ahead", state="done", at=now + 60),
        marked("never", state="done", at=float("inf")),
        marked("begun", state="patched", at=now + DAY, before=BEFORE),
    ]
    cluster.fill(*nodes, workers=1)
    cluster.inventory({}, node_patch_campaign=202612)
    connection = {"node_patch_connection": {"kubeconfig": str(cluster.kubeconfig)}}
    written = cluster.play("inventory", "-e", json.dumps(connection))
    assert written.status == 0, written.output
    ignored = ",".join(NAMES)
    return cluster.play("upgrade", "--check", "-i", "nodes.yml", "-e", f"node_patch_gate_ignore_nodes={ignored}")


def test_names_that_look_like_something_else_are_names(preflight: Played) -> None:
    assert preflight.status == 0, preflight.output
    assert {name: preflight.states().get(name) for name in NAMES} == dict.fromkeys(NAMES, "ready")


def test_a_time_in_the_future_is_ignored_with_a_warning(preflight: Played) -> None:
    states = preflight.states()
    assert {name: states[name] for name in ("future", "never")} == {"future": "ready", "never": "ready"}
    said = " ".join(preflight.output.split())
    assert "node future is marked as done at a time in the future, by 24.0 hours" in said


def test_a_clock_that_is_a_little_ahead_is_tolerated(preflight: Played) -> None:
    assert preflight.states()["ahead"] == "skipped"


def test_a_mark_is_read_as_texts_and_not_as_templates(preflight: Played, cluster: PatchedCluster) -> None:
    assert preflight.states()["begun"] == "unfinished"
    assert preflight.records["begun"]["kubelet_before"] == SLY
    assert not (cluster.place / "sly").exists()


def test_numbers_of_the_report_are_numbers(preflight: Played) -> None:
    assert {type(record["pods"]) for record in preflight.records.values()} == {int}


def test_a_campaign_that_yaml_takes_for_a_date_is_known_again(cluster: PatchedCluster) -> None:
    cluster.fill(workers=2)
    cluster.write("campaign.yml", "node_patch_campaign: 2026-12-01\nnode_patch_owner: büro\n")
    cluster.inventory({"w1": {}}, node_patch_reboot="never")
    first = cluster.play("upgrade", "-e", "@campaign.yml")
    assert (first.states(), cluster.cordoned()) == ({"w1": "done"}, []), first.output
    cluster.control("DELETE", "requests")
    second = cluster.play("upgrade", "-e", "@campaign.yml")
    assert second.states() == {"w1": "skipped"}, second.output
    assert cluster.changes() == []
