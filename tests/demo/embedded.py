# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo on the embedded cluster: every worker gets a newer kubelet and a reboot, under load and behind budgets."""

from __future__ import annotations

import shutil

import ending
from health import Health, Node
from play import FOLDER, HERE, upgrade

from embedded_cluster import EmbeddedCluster

NEW_KUBELET = "v1.36.3"
DOWN_SECONDS = 3
# Pods that were evicted last may still be starting when the playbook has ended.
_SETTLE_SECONDS = 30.0


def run() -> int:
    """Play it; 0 only if every node is back with the new kubelet, every workload available, no budget violated."""
    with EmbeddedCluster(FOLDER, "demo", lifetime=900.0) as cluster:
        health = Health(cluster.kubeconfig)
        before = {node.name: node for node in health.nodes() if node.worker}
        workloads = health.workloads()
        _announce(before, len(cluster.call("GET", "/api/v1/pods")["items"]))
        played, records = upgrade(list(before), cluster.kubeconfig, **_variables(cluster))
        complaints = [] if played else ["the playbook failed"]
        missing = health.wait_for_workloads(workloads, _SETTLE_SECONDS)
        complaints += missing
        after = {node.name: node for node in health.nodes()}
        complaints += [text for name in before for text in _faults_of(before[name], after.get(name))]
        violations = cluster.control("GET", "violations")
        complaints += [
            "budget {namespace}/{budget} was violated: {healthy} of {desired} pods were healthy".format(**violation)
            for violation in violations
        ]
        requests = cluster.control("GET", "requests")
    left = [node.name for node in after.values() if not node.schedulable]
    print("What the cluster saw:")
    ending.show(
        {
            "disruption budgets": f"{_times(len(violations))} violated; checked at every change of a pod",
            "evictions": ending.evictions(requests),
            "cordoned": f"{ending.cordons(records)}; now {', '.join(left) or 'none'}",
            "workloads": _whole(len(workloads), len(missing)),
        }
    )
    status = ending.verdict(complaints, f"All {len(before)} workers are back and Ready with the kubelet {NEW_KUBELET}.")
    print("Next, playbooks of your own on such a cluster: see Try it in README.md.")
    return status


def _announce(workers: dict[str, Node], pods: int) -> None:
    old = ", ".join(sorted({node.kubelet for node in workers.values()}))
    print(f"A simulated cluster with {len(workers)} workers and {pods} pods gets a newer kubelet, node by node.")
    print(f"Its API server is a program on this machine, its nodes reboot in {DOWN_SECONDS} s: {old} -> {NEW_KUBELET}.")
    print("Only what changes is shown, and a task's heading together with its result, below its lines of progress.")


def _whole(workloads: int, missing: int) -> str:
    return f"{missing} of {workloads} lack a pod" if missing else f"all {workloads} complete"


def _times(number: int) -> str:
    return f"{number} times" if number else "never"


def _variables(cluster: EmbeddedCluster) -> dict[str, object]:
    """Return the variables for the playbook, with a task file for the patch and one for the reboot."""
    disks = FOLDER / "disks"
    shutil.rmtree(disks, ignore_errors=True)
    disks.mkdir(parents=True)
    return {
        "node_patch_tasks": str(HERE / "patch.yml"),
        "node_patch_reboot_tasks": str(HERE / "reboot.yml"),
        "node_patch_kubelet_version": NEW_KUBELET,
        "demo_url": cluster.url,
        "demo_ca": str(cluster.ca),
        "demo_disks": str(disks),
        "demo_down": DOWN_SECONDS,
        "demo_version": NEW_KUBELET,
    }


def _faults_of(before: Node, after: Node | None) -> list[str]:
    if after is None:
        return [f"{before.name} is gone"]
    faults = {
        f"is {after.state}": not (after.ready and after.schedulable),
        f"has the kubelet {after.kubelet} and not {NEW_KUBELET}": after.kubelet != NEW_KUBELET,
        "was not rebooted": after.boot_id == before.boot_id,
    }
    return [f"{before.name} {fault}" for fault, is_so in faults.items() if is_so]
