# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain that does not end: what happens to the node and to the others is a policy, and never implied."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from patched_cluster import NEW_KUBELET, OLD_KUBELET, PatchedCluster, Played, hosts

from kubesim import builders


class Try(NamedTuple):
    played: Played
    kubelets: dict[str, str]
    cordoned: list[str]


def tried(cluster: PatchedCluster, *arguments: str) -> Try:
    played = cluster.play("upgrade", *arguments)
    return Try(played, {name: cluster.kubelets()[name] for name in ("w1", "w2")}, cluster.cordoned())


@pytest.fixture(scope="module")
def tries(cluster: PatchedCluster) -> dict[str, Try]:
    """Patch two of three nodes, of which the first has a pod that its budget never releases: skipping that node, then
    patching it anyway."""
    held = {"labels": {"app": "db"}}
    cluster.fill(
        builders.pod("db-0", "shop", node_name="w1", owner="ReplicaSet/db", **held),
        builders.budget("db", "shop", max_unavailable=0),
        workers=3,
    )
    cluster.inventory({"w1": {"node_drain_timeout": 3}, "w2": {}}, node_patch_heal="off")
    return {
        "skip": tried(cluster, "-e", "node_patch_after_failure=skip"),
        "go_on": tried(cluster, "-e", "node_patch_drain_failure=go_on"),
    }


def test_a_node_that_is_not_drained_is_neither_patched_nor_let_in(tries: dict[str, Try]) -> None:
    played, kubelets, cordoned = tries["skip"]
    assert (played.records["w1"]["state"], played.records["w1"]["step"]) == ("failed", "drain")
    assert (kubelets["w1"], cordoned) == (OLD_KUBELET, ["w1"])


def test_the_pod_that_holds_it_is_named(tries: dict[str, Try]) -> None:
    assert "shop/db-0" in tries["skip"].played.records["w1"]["message"]


def test_skip_gives_up_that_node_alone_and_fails_in_the_end(tries: dict[str, Try]) -> None:
    played, kubelets, _cordoned = tries["skip"]
    assert played.status == 2, played.output
    assert played.states() == {"w1": "failed", "w2": "done"}
    assert kubelets["w2"] == NEW_KUBELET


def test_go_on_patches_the_node_although_pods_are_left(tries: dict[str, Try]) -> None:
    played, kubelets, cordoned = tries["go_on"]
    assert played.status == 0, played.output
    assert played.states() == {"w1": "done", "w2": "skipped"}
    assert (kubelets, cordoned) == ({"w1": NEW_KUBELET, "w2": NEW_KUBELET}, [])


def test_a_node_that_may_not_be_let_in_is_a_failure(cluster: PatchedCluster) -> None:
    cluster.fill()
    # The cordon and the mark of a patched node use the same method; only the uncordon removes something.
    refusal = {"method": "PATCH", "path": "/api/v1/nodes/w1", "body": '"op": ?"remove"', "status": 403}
    cluster.control("POST", "faults", {"faults": [refusal]})
    cluster.inventory(hosts("w1"))
    played = cluster.play("upgrade")
    cluster.control("DELETE", "faults")
    assert played.status == 2
    assert (played.states(), cluster.cordoned()) == ({"w1": "failed"}, ["w1"])
    assert played.records["w1"]["step"] == "uncordon"
