# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account with just the rights of the manifest patches a cluster; one that lacks a right fails in the preflight."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from patched_cluster import PatchedCluster, Played, Rule, hosts, rules_of

from kubesim import builders
from places import ROOT


@pytest.fixture(scope="module")
def manifest(cluster: PatchedCluster) -> list[dict[str, Any]]:
    """Return the objects that the playbook rbac writes for a run with a lock."""
    path = cluster.place / "rbac.yml"
    cluster.inventory({})
    played = cluster.play("rbac", "-e", "node_patch_lock=true", "-e", f"node_patch_rbac_file={path}")
    assert played.status == 0, played.output
    return list(yaml.safe_load(path.read_text(encoding="utf-8"))["items"])


def checked_at(cluster: PatchedCluster, rules: list[Rule]) -> Played:
    """Begin to patch two nodes as an account with these rights."""
    cluster.fill()
    cluster.inventory(hosts("w1", "w2"), node_patch_connection=cluster.account(rules), node_patch_lock=True)
    return cluster.play("upgrade")


def without(kind: str) -> Callable[[list[Rule]], list[Rule]]:
    def change(rules: list[Rule]) -> list[Rule]:
        return [{**rule, "resources": [name for name in rule["resources"] if name != kind]} for rule in rules]

    return change


def test_the_manifest_in_the_documentation_is_the_one_that_is_made(manifest: list[dict[str, Any]]) -> None:
    documented = Path(ROOT, "docs", "rbac", "node-patch.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(documented)["items"] == manifest


@pytest.mark.parametrize("kind", ["csinodes", "leases", "pods/eviction"])
def test_a_missing_right_is_named_before_anything_is_touched(
    cluster: PatchedCluster, manifest: list[dict[str, Any]], kind: str
) -> None:
    played = checked_at(cluster, without(kind)(rules_of(manifest)))
    assert played.status == 2
    assert kind.partition("/")[0] in played.output
    assert "forbidden" in played.output or "may not" in played.output
    assert cluster.changes() == []


def test_an_inventory_is_made_of_the_nodes(cluster: PatchedCluster) -> None:
    cluster.fill(control_plane=1)
    cluster.inventory({})
    connection = '{"node_patch_connection": {"kubeconfig": "%s"}}' % cluster.kubeconfig
    played = cluster.play("inventory", "-e", "inventory_file=made.yml", "-e", connection)
    assert played.status == 0, played.output
    made = DataLoader().load_from_file(str(cluster.place / "made.yml"))["nodes"]["children"]
    assert made["workers"]["hosts"]["w1"] == {"node_patch_node": "w1", "ansible_host": "w1"}
    assert list(made["control_plane"]["hosts"]) == ["cp1"]
    assert f"3 nodes are in {cluster.place / 'made.yml'}" in played.output


def test_what_a_kubelet_says_of_its_address_is_never_run(cluster: PatchedCluster) -> None:
    marker = cluster.place / "executed"
    hostile = builders.node("w3")
    hostile["status"]["addresses"] = [
        {"type": "InternalIP", "address": "{{ lookup('pipe', 'touch %s') }}127.0.0.1" % marker},
    ]
    cluster.fill(hostile)
    cluster.inventory({})
    connection = '{"node_patch_connection": {"kubeconfig": "%s"}}' % cluster.kubeconfig
    played = cluster.play("inventory", "-e", "inventory_file=made.yml", "-e", connection)
    assert played.status == 0, played.output
    assert "The node w3 was left out" in played.output
    checked = cluster.play("upgrade", "-i", "made.yml", "--check", "-e", connection, "-e", "upgrade_hosts=nodes")
    assert (set(checked.records), marker.exists()) == ({"w1", "w2"}, False), checked.output


def test_an_inventory_is_kept_where_no_node_is_found(cluster: PatchedCluster) -> None:
    cluster.fill()
    cluster.inventory({})
    cluster.write("made.yml", "nodes: {}")
    options = json.dumps(
        {
            "node_patch_connection": {"kubeconfig": str(cluster.kubeconfig)},
            "inventory_file": "made.yml",
            "inventory_selectors": ["pool=none"],
        }
    )
    played = cluster.play("inventory", "-e", options)
    assert "so it is not changed. Correct inventory_selectors, or the labels of the nodes." in played.output
    assert (played.status, (cluster.place / "made.yml").read_text(encoding="utf-8")) == (2, "nodes: {}")


def test_the_inventory_in_use_is_not_written_over(cluster: PatchedCluster) -> None:
    cluster.fill()
    # Ansible gives hosts of an inventory the variable inventory_file.
    cluster.inventory({"localhost": {}, **hosts("w1")})
    before = (cluster.place / "inventory.json").read_text(encoding="utf-8")
    assert cluster.play("inventory").status == 0
    assert (cluster.place / "inventory.json").read_text(encoding="utf-8") == before
    assert "w2" in (cluster.place / "nodes.yml").read_text(encoding="utf-8")
