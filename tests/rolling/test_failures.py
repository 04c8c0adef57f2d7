# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that fails stops the run, with a table; the next run continues from there."""

from __future__ import annotations

import pytest
from patched_cluster import NEW_KUBELET, PatchedCluster, Played, hosts

BROKEN = """---
- name: Write to the disk
  ansible.builtin.fail:
    msg: The disk is full.
  when: node_patch_node == 'w2'
"""
# Settings of ansible.cfg that would change how failures are dealt with.
SETTINGS = "[defaults]\nstrategy = free\nany_errors_fatal = true\n"
FAILS_FIRST = """---
- name: Fail
  ansible.builtin.fail:
    msg: not yet
  when: run == 'first'

- name: Tell
  ansible.builtin.debug:
    msg: the hook of {{ node_patch_node }} runs
"""
# As a patch does that finds its work done the second time.
ASKS_FIRST = """---
- name: Ask for a reboot
  ansible.builtin.set_fact:
    node_patch_reboot_needed: true
  when: run == 'first'

- name: Let somebody else cordon the node
  ansible.builtin.uri:
    url: "{{ cluster_url }}/api/v1/nodes/{{ node_patch_node }}"
    ca_path: "{{ cluster_ca }}"
    use_proxy: false
    method: PATCH
    headers: {Authorization: Bearer admintoken, Content-Type: application/merge-patch+json}
    body_format: json
    body:
      metadata:
        annotations:
          kubeops.maintenance/cordon-owners: "{{ {'node-patch': entry, 'disk-exchange': entry} | to_json }}"
  vars:
    entry: {since: "2026-11-30T10:00:00Z", prior_unschedulable: false}
  when: run == 'second'
"""
Batch = tuple[Played, list[str], Played]
ENDS = """---
- name: Leave
  ansible.builtin.meta: end_host
"""


@pytest.fixture(scope="module")
def failed(cluster: PatchedCluster) -> tuple[Played, list[str], Played, list[str]]:
    """Patch three nodes, of which the second fails; then patch again with the fault fixed."""
    cluster.fill(workers=3)
    cluster.write("ansible.cfg", SETTINGS)
    cluster.write("broken.yml", BROKEN)
    cluster.inventory(hosts("w1", "w2", "w3"), node_patch_lock=True, node_patch_kubelet_version=NEW_KUBELET)
    first = cluster.play("upgrade", "-e", "node_patch_tasks=broken.yml")
    left = [*cluster.cordoned(), *cluster.locks()]
    second = cluster.play("upgrade")
    return first, left, second, [*cluster.cordoned(), *cluster.locks()]


def test_the_run_fails_and_says_why(failed: tuple[Played, list[str], Played, list[str]]) -> None:
    assert failed[0].status == 2
    said = (
        "w2 failed; no further batch will be started. Write to the disk: The disk is full. "
        "w2 stays cordoned. Fix the cause and start the same command again."
    )
    assert said in failed[0].output


def test_the_table_shows_the_state_of_every_node(failed: tuple[Played, list[str], Played, list[str]]) -> None:
    assert failed[0].states() == {"w1": "done", "w2": "failed", "w3": "ready"}
    assert failed[0].records["w2"]["step"] == "patch"


def test_the_failed_node_stays_cordoned_and_the_lock_is_released(
    failed: tuple[Played, list[str], Played, list[str]],
) -> None:
    assert failed[1] == ["w2"]


def test_the_next_run_continues_from_there(failed: tuple[Played, list[str], Played, list[str]]) -> None:
    assert failed[2].status == 0, failed[2].output
    assert failed[2].states() == {"w1": "skipped", "w2": "done", "w3": "done"}
    assert failed[3] == []


@pytest.fixture(scope="module")
def batch(cluster: PatchedCluster) -> Batch:
    """Patch two nodes at once: w1 is not rebooted, the cordon of w2, whose hook fails, is not to stay. Then again."""
    cluster.fill(workers=4)
    cluster.write("ansible.cfg", SETTINGS)
    cluster.write("fails.yml", FAILS_FIRST)
    cluster.write("asks.yml", ASKS_FIRST)
    machines = {
        "w1": {
            "node_patch_tasks": "asks.yml",
            "node_patch_reboot": "auto",
            "node_patch_ready_timeout": 3,
            "node_patch_reboot_tasks": "{{ 'nothing.yml' if run == 'first' else 'reboot.yml' }}",
        },
        "w2": {"node_patch_post_hooks": ["fails.yml"], "node_patch_on_failure": "uncordon"},
    }
    cluster.inventory(machines, upgrade_serial=2)
    first = cluster.play("upgrade", "-e", "run=first")
    cordoned = cluster.cordoned()
    return first, cordoned, cluster.play("upgrade", "-e", "run=second")


def test_a_reboot_that_did_not_happen_is_no_success(batch: Batch) -> None:
    assert batch[0].status == 2
    assert batch[0].states()["w1"] == "failed"
    assert "Node w1 is not ready after 3 s: it has not been rebooted yet." in batch[0].records["w1"]["message"]


def test_a_cordon_is_lifted_after_a_failure_only_where_that_is_wanted(batch: Batch) -> None:
    assert batch[0].states()["w2"] == "failed"
    assert batch[1] == ["w1"]
    again = "Fix the cause and start the same command again."
    assert batch[0].records["w1"]["next"] == f"w1 stays cordoned. {again}"
    assert batch[0].records["w2"]["next"] == f"w2 is not cordoned any more. {again}"


def test_a_reboot_that_was_meant_is_done_by_the_next_run(batch: Batch) -> None:
    assert batch[2].status == 0, batch[2].output
    assert batch[2].records["w1"]["rebooted"] is True


def test_a_cordon_of_somebody_else_in_the_meantime_stays_and_is_reported(batch: Batch) -> None:
    said = "Node w1 stays cordoned, by cordon owner disk-exchange since 2026-11-30T10:00:00Z"
    assert batch[2].records["w1"]["message"] == said


def test_a_node_that_a_failure_let_in_is_not_taken_for_one_that_came_back(batch: Batch) -> None:
    assert batch[2].states()["w2"] == "done"
    assert "the hook of w2 runs" in batch[2].output


def test_a_node_that_a_task_file_left_midway_stops_the_run(cluster: PatchedCluster) -> None:
    cluster.fill()
    cluster.write("ends.yml", ENDS)
    cluster.inventory({"w1": {"node_patch_tasks": "ends.yml"}, "w2": {}}, node_patch_lock=True)
    played = cluster.play("upgrade")
    assert played.status == 2
    said = "An earlier batch left w1 in the middle of its patch, so no further node is patched."
    assert said in played.records["w2"]["message"]
    assert (cluster.cordoned(), cluster.locks()) == (["w1"], [])
