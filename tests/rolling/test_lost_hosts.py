# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that cannot be reached any more in the middle of its patch stops the run after its batch."""

from __future__ import annotations

import json
import sys
from typing import NamedTuple

import pytest
from patched_cluster import OLD_KUBELET, PatchedCluster, Played, hosts

MARK = "kubeops.maintenance/node-patch"
# Stands for ssh: the other host is this machine, and the file lost ends its sessions.
SSH = """#!/bin/sh
for argument; do
    case $argument in
        -O) exit 0 ;;
        *@w1 | w1) [ -e lost ] && { echo "ssh: connect to host w1 port 22: Connection timed out" >&2; exit 255; } ;;
    esac
    command=$argument
done
exec /bin/sh -c "$command"
"""
PATCH = """---
- name: Lose the first host
  ansible.builtin.copy:
    content: ""
    dest: "{{ inventory_dir }}/lost"
    mode: "0644"
  delegate_to: localhost
  when: inventory_hostname == 'w1'

- name: Go on
  ansible.builtin.ping:
"""


class Loss(NamedTuple):
    played: Played
    cordoned: list[str]
    kubelets: dict[str, str]
    locks: list[str]
    marks: list[str]


@pytest.fixture(scope="module")
def loss(cluster: PatchedCluster) -> Loss:
    """Patch three nodes, two at once; the host of the first is lost meanwhile."""
    cluster.fill(workers=3)
    cluster.write("lost.yml", PATCH)
    ssh = cluster.write("ssh.sh", SSH)
    ssh.chmod(0o755)
    machines = hosts("w1", "w2", "w3")
    machines["w1"] = {
        "ansible_connection": "ssh",
        "ansible_host": "w1",
        "ansible_ssh_executable": str(ssh),
        "ansible_ssh_args": "",
        "ansible_ssh_transfer_method": "piped",
        "ansible_ssh_pipelining": True,
        "ansible_python_interpreter": sys.executable,
    }
    cluster.inventory(machines, upgrade_serial=2, node_patch_lock=True)
    played = cluster.play("upgrade", "-e", "node_patch_tasks=lost.yml")
    written = [node["metadata"].get("annotations", {}).get(MARK, "{}") for node in cluster.nodes().values()]
    marks = [json.loads(text).get("state", "") for text in written]
    return Loss(played, cluster.cordoned(), cluster.kubelets(), cluster.locks(), marks)


def test_the_run_fails_and_names_the_lost_host(loss: Loss) -> None:
    assert loss.played.status != 0
    said = "No further batch will be started, because the host of w1 became unreachable."
    assert said in loss.played.output


def test_the_next_batch_is_not_touched(loss: Loss) -> None:
    assert loss.kubelets["w3"] == OLD_KUBELET
    assert "[w3] Drained" not in loss.played.output


def test_the_table_shows_the_state_of_every_node(loss: Loss) -> None:
    assert loss.played.states() == {"w1": "failed", "w2": "done", "w3": "ready"}
    assert loss.played.records["w1"]["message"] == "The host became unreachable (step patch)."


def test_its_node_carries_the_mark_from_which_the_next_run_continues(loss: Loss) -> None:
    assert loss.marks == ["draining", "done", ""]


def test_its_node_stays_cordoned_and_the_lock_is_released(loss: Loss) -> None:
    assert (loss.cordoned, loss.locks) == (["w1"], [])
