# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo on the embedded cluster: every worker gets a newer kubelet and a reboot, under load and behind budgets."""

from __future__ import annotations

import table
from health import Health, Node
from play import FOLDER, HERE, upgrade

from embedded_cluster import EmbeddedCluster

NEW_KUBELET = "v1.36.3"
DOWN_SECONDS = 3
# Pods that were evicted last may still be starting when the playbook has ended.
_SETTLE_SECONDS = 30.0


def run() -> int:
    """Play it; 0 only if every node is back with the new kubelet, every workload available, no budget violated."""
    with EmbeddedCluster(FOLDER, "demo", lifetime=300.0) as cluster:
        health = Health(cluster.kubeconfig)
        before = {node.name: node for node in health.nodes() if node.worker}
        workloads = health.workloads()
        pods = len(cluster.call("GET", "/api/v1/pods")["items"])
        print(f"The embedded cluster at {cluster.url} has {len(before)} workers and {pods} pods.", flush=True)
        played, records = upgrade(
            list(before),
            cluster.kubeconfig,
            node_patch_tasks=str(HERE / "no_patch.yml"),
            node_patch_reboot="always",
            node_patch_reboot_tasks=str(HERE / "reboot.yml"),
            node_patch_kubelet_version=NEW_KUBELET,
            demo_url=cluster.url,
            demo_ca=str(cluster.ca),
            demo_down=DOWN_SECONDS,
            demo_version=NEW_KUBELET,
        )
        complaints = [] if played else ["the playbook failed"]
        complaints += health.wait_for_workloads(workloads, _SETTLE_SECONDS)
        after = {node.name: node for node in health.nodes()}
        complaints += [text for name in before for text in _faults_of(before[name], after.get(name))]
        complaints += [
            "budget {namespace}/{budget} was violated: {healthy} of {desired} pods were healthy".format(**violation)
            for violation in cluster.control("GET", "violations")
        ]
    print()
    table.show(before, after, records)
    return table.verdict(complaints, f"{len(workloads)} workloads available, no disruption budget violated")


def _faults_of(before: Node, after: Node | None) -> list[str]:
    if after is None:
        return [f"{before.name} is gone"]
    faults = {
        f"is {after.state}": not (after.ready and after.schedulable),
        f"has the kubelet {after.kubelet} and not {NEW_KUBELET}": after.kubelet != NEW_KUBELET,
        "was not rebooted": after.boot_id == before.boot_id,
    }
    return [f"{before.name} {fault}" for fault, is_so in faults.items() if is_so]
