# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What prevents a patch is reported before anything is changed."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from patched_cluster import LOCK, PatchedCluster, Played, hosts

from kubesim import builders

FOREIGN = json.dumps({"disk-exchange": {"since": "2026-11-30T10:00:00Z", "prior_unschedulable": False}})
# Each of these hosts of one run is refused.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "hook": (
        {"node_patch_node": "w1", "node_patch_pre_hooks": ["hooks/nowhere.yml"]},
        "There is no task file hooks/nowhere.yml in /",
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
    "down": (
        {
            "node_patch_node": "w7",
            "ansible_connection": "ssh",
            "ansible_host": "127.0.0.1",
            "ansible_port": 1,
            "node_patch_reach_timeout": 1,
        },
        "Host down cannot be reached: ssh: connect to host 127.0.0.1 port 1: Connection refused.",
    ),
    "without-python": (
        {"node_patch_node": "w8", "ansible_python_interpreter": "/nowhere/python"},
        "Host without-python can be reached, but its Python does not work: ",
    ),
    "without-sudo": (
        # Packages are upgraded as root.
        {
            "node_patch_node": "w9",
            "node_patch_tasks": "",
            "ansible_become_exe": "{{ inventory_dir }}/sudo.sh",
            "ansible_become_user": "nobody",
        },
        "Host without-sudo can be reached, but its user cannot become another one (become): "
        "sudo: a password is required.",
    ),
    "malformed": (
        {"node_patch_node": "w10", "node_patch_post_hooks": ["malformed.yml"]},
        "malformed.yml cannot be run: there is no module ansible.builtin.pong, or its collection is not installed.",
    ),
    "hasty": (
        {"node_patch_node": "w11", "node_patch_soak": 60},
        "The variable node_patch_soak (60) is a part of node_patch_ready_timeout (60), so it must be shorter.",
    ),
    "strange": (
        {
            "node_patch_node": "w12",
            "node_patch_tasks": "",
            "node_patch_become": False,
            "ansible_python_interpreter": "{{ inventory_dir }}/python.sh",
        },
        "The packages of strange are managed by zypper, which this role cannot upgrade.",
    ),
    "misspelt": (
        {"node_patch_node": "w14", "node_patch_window": [{"days": ["tue"], "timezone": "Europe/Berln"}]},
        "The variable node_patch_window[0].timezone: there is no time zone 'Europe/Berln'",
    ),
    "misnamed": (
        {
            "node_patch_node": "w15",
            "node_patch_gate_workloads": [
                {"kind": "Deployment", "namespace": "shop", "name": name} for name in ("web", "wbe")
            ],
        },
        "There is no Deployment 'wbe' in namespace shop; did you mean web?",
    ),
    "itself": (
        {"node_patch_node": "w13", "node_patch_reboot_tasks": "", "node_patch_become": False},
        "Ansible does not reboot the machine that it runs on, and itself has a local connection.",
    ),
}
MALFORMED = "- ansible.builtin.ping:\n- ansible.builtin.pong:\n"
# A machine with another package manager.
PYTHON = f"""#!/bin/sh
case $1 in
    *_setup.py) echo '{{"ansible_facts": {{"ansible_pkg_mgr": "zypper"}}}}' ;;
    *) exec {sys.executable} "$@" ;;
esac
"""
SUDO = "#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n"
OTHERS = "others: {hosts: {bastion: }}\n"
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
    cluster.fill(lonely, owned, *(builders.node(f"w{number}") for number in range(6, 16)), workers=4)
    cluster.write("sudo.sh", SUDO).chmod(0o755)
    cluster.write("python.sh", PYTHON).chmod(0o755)
    cluster.write("malformed.yml", MALFORMED)
    cluster.inventory({name: variables for name, (variables, _says) in WRONG.items()})
    played = cluster.play("upgrade")
    return played, cluster.changes()


def test_nothing_is_changed(refused: tuple[Played, list[str]]) -> None:
    played, changes = refused
    assert played.status == 2
    assert changes == []
    assert "Nothing was changed, because 14 of 14 nodes cannot be patched now." in played.output


@pytest.mark.parametrize("host", WRONG)
def test_the_reason_is_said(refused: tuple[Played, list[str]], host: str) -> None:
    records = {record["host"]: record for record in refused[0].records.values()}
    assert records[host]["state"] == "refused"
    assert WRONG[host][1] in records[host]["message"]


def test_only_the_variable_that_names_a_missing_file_is_said(refused: tuple[Played, list[str]]) -> None:
    message = refused[0].records["w1"]["message"]
    assert re.findall(r"; see (\w+)\.", message) == ["node_patch_pre_hooks"]


def test_what_is_found_is_reported_only_at_the_end(refused: tuple[Played, list[str]]) -> None:
    # Ansible itself reports failed connections and failed become.
    failures = set(re.findall(r"fatal: \[([\w.-]+)", refused[0].output)) - {"down", "without-sudo"}
    assert failures == {"hook"}
    closing = next(line for line in refused[0].output.splitlines() if line.startswith("fatal: [hook]"))
    assert closing.count("is under maintenance by another owner") == 1


def test_nothing_of_it_is_an_error_of_python(refused: tuple[Played, list[str]]) -> None:
    assert "Traceback" not in refused[0].output


def test_a_host_that_never_answered_is_not_tried_again(refused: tuple[Played, list[str]]) -> None:
    assert refused[0].output.count("fatal: [down]: UNREACHABLE!") == 1


def test_a_lock_held_elsewhere_is_said_first(cluster: PatchedCluster) -> None:
    cluster.fill()
    spec = {
        "holderIdentity": "night-job",
        "leaseDurationSeconds": 3600,
        "acquireTime": "2999-01-01T00:00:00.000000Z",
        "renewTime": "2999-01-01T00:00:00.000000Z",
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
        (
            {"upgrade_serial": "many", "node_patch_reboot": "perhaps"},
            "The variable node_patch_reboot is 'perhaps', but must be one of auto, always, never. "
            "The variable upgrade_serial is 'many', but must be a number or a percentage such as 10%.",
        ),
        (
            {"upgrade_seriall": 2, "node_drain_timout": 9},
            "Unknown variables: node_drain_timout (did you mean node_drain_timeout?), "
            "upgrade_seriall (did you mean upgrade_serial?).",
        ),
        (
            {"node_patch_node": "nowhere", "node_patch_lock": True},
            "Nothing was changed, because 1 of 2 nodes cannot be patched now. There is no node 'nowhere' in ",
        ),
    ],
    ids=["types", "unknown", "node"],
)
def test_what_one_host_alone_has_wrong_stops_the_run(
    cluster: PatchedCluster, variables: dict[str, Any], says: str
) -> None:
    cluster.fill()
    cluster.inventory({"w1": variables, "w2": {}})
    played = cluster.play("upgrade")
    assert played.status == 2
    assert says in played.output
    assert (cluster.changes(), cluster.locks()) == ([], [])
    assert "PLAY [Patch the nodes batch by batch]" not in played.output


@pytest.mark.parametrize(
    ("playbook", "arguments", "says"),
    [
        ("upgrade", ["--limit", "bastion"], "upgrade_hosts=nodes with --limit bastion; without the limit there is w1."),
        ("drain", ["-e", "drain_hosts=workers"], "drain_hosts=workers. Put the machines into the group nodes, or name"),
        ("uncordon", ["--limit", "@bastion"], "uncordon_hosts=nodes with --limit @bastion; without the limit there"),
    ],
)
def test_a_run_without_hosts_fails(cluster: PatchedCluster, playbook: str, arguments: list[str], says: str) -> None:
    cluster.inventory(hosts("w1"))
    cluster.write("others.yml", OTHERS)
    cluster.write("bastion", "bastion\n")
    played = cluster.play(playbook, "-i", "others.yml", *arguments)
    assert played.status == 2
    assert f"No host matches {says}" in played.output


def test_all_nodes_are_drained_only_if_that_is_asked_for(cluster: PatchedCluster) -> None:
    cluster.fill()
    cluster.inventory({"w1": {}, "second": {"node_patch_node": "w2"}})
    refused = cluster.play("drain", "--tags", "drain")
    assert refused.status == 2
    assert "The playbook has no tags, because each step needs those before it" in refused.output
    assert "This would drain all 2 nodes of the group nodes and leave them cordoned." in refused.output
    asked = cluster.play("drain", "--check", "-e", "drain_hosts=nodes")
    assert asked.status == 0, asked.output
    assert "no node is left for the pods of w1, w2" in " ".join(asked.output.split())
