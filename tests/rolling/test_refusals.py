# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What speaks against a patch is said before anything is touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from patched_cluster import LOCK, PatchedCluster, Played, hosts

from kubesim import builders

FOREIGN = json.dumps({"disk-exchange": {"since": "2026-11-30T10:00:00Z", "prior_unschedulable": False}})
# Each of these hosts of one run has something against it.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "hook": (
        {"node_patch_node": "w1", "node_patch_pre_hooks": ["hooks/nowhere.yml"]},
        "There is no task file hooks/nowhere.yml, neither in ",
    ),
    "window": (
        {"node_patch_node": "w2", "node_patch_window": [{"not_after": "2020-01-01"}]},
        "The maintenance window ended 2020-01-01 00:00 UTC.",
    ),
    "w3.example.org": ({}, "There is no node 'w3.example.org' in this cluster; did you mean w3?"),
    "lonely": ({"node_patch_node": "w4"}, "shop/lonely"),
    "owned": (
        {"node_patch_node": "w6"},
        "Node w5 is under maintenance by another owner (disk-exchange since 2026-11-30T10:00:00Z)",
    ),
}
TWO_AT_ONCE = """---
- name: Patch two nodes of the control plane at once
  hosts: nodes
  serial: 2
  max_fail_percentage: 0
  gather_facts: false
  tasks:
    - name: Patch
      ansible.builtin.import_role:
        name: kubeops.maintenance.node_patch
"""


@pytest.fixture(scope="module")
def refused(cluster: PatchedCluster) -> tuple[Played, list[str]]:
    """Run once with all that is wrong; the changes that it made come with it."""
    lonely = builders.pod("lonely", "shop", node_name="w4")
    owned = builders.node("w5", annotations={"kubeops.maintenance/cordon-owners": FOREIGN}, unschedulable=True)
    cluster.fill(lonely, builders.node("w6"), owned, workers=4)
    cluster.inventory({name: variables for name, (variables, _says) in WRONG.items()})
    played = cluster.play("upgrade")
    return played, cluster.changes()


def test_nothing_is_touched(refused: tuple[Played, list[str]]) -> None:
    played, changes = refused
    assert played.status == 2
    assert changes == []
    assert "Nothing was touched, because 5 of 5 nodes cannot be patched now." in played.output


@pytest.mark.parametrize("host", WRONG)
def test_the_reason_is_said(refused: tuple[Played, list[str]], host: str) -> None:
    records = {record["host"]: record for record in refused[0].records.values()}
    assert records[host]["state"] == "refused"
    assert WRONG[host][1] in records[host]["message"]


def test_nothing_of_it_is_an_error_of_python(refused: tuple[Played, list[str]]) -> None:
    assert "Traceback" not in refused[0].output


def test_a_lock_held_elsewhere_is_said_first(cluster: PatchedCluster) -> None:
    cluster.fill()
    spec = {
        "holderIdentity": "night-job", "leaseDurationSeconds": 3600,
        "acquireTime": "2999-01-01T00:00:00.000000Z", "renewTime": "2999-01-01T00:00:00.000000Z",
    }
    meta = {"name": "kubeops-maintenance", "namespace": "kube-system"}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
    cluster.call("POST", LOCK, lease)
    cluster.inventory(hosts("w1", "w2"), node_patch_lock=True)
    played = cluster.play("upgrade")
    assert played.status == 2
    assert "is held by night-job since 2999-01-01T00:00:00Z" in played.output
    assert (cluster.changes(), cluster.locks()) == ([], ["night-job"])


def test_two_nodes_of_the_control_plane_in_one_batch_are_refused(cluster: PatchedCluster) -> None:
    cluster.fill(control_plane=3)
    cluster.inventory(hosts("cp1", "cp2"))
    cluster.write("two.yml", TWO_AT_ONCE)
    played = cluster.play("two.yml")
    assert played.status == 2
    assert "2 nodes of the control plane are in one batch (cp1, cp2)" in played.output
    assert cluster.changes() == []


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"upgrade_serial": "many"}, "serial is 'many', but must be a number or a percentage"),
        ({"node_patch_reboot": "perhaps"}, "value of node_patch_reboot must be one of: auto, always, never"),
    ],
    ids=["serial", "reboot"],
)
def test_a_variable_that_cannot_be_meant_stops_the_run(
    cluster: PatchedCluster, variables: dict[str, Any], says: str
) -> None:
    cluster.fill()
    # One host alone has it wrong.
    cluster.inventory({"w1": variables, "w2": {}})
    played = cluster.play("upgrade")
    assert played.status == 2
    assert says in played.output
    assert cluster.changes() == []
