# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo on the user's own cluster: each worker is drained and uncordoned, after a question."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ending
from health import Health, Node
from play import HERE, upgrade

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError

_SETTLE_SECONDS = 300.0


def run(kubeconfig: Path) -> int:
    """Play it; 0 only if every node is back, and every workload that was available still is."""
    try:
        health = Health(kubeconfig)
        nodes = health.nodes()
        workloads = {name: found for name, found in health.workloads().items() if not found.missing}
    except MaintenanceError as problem:
        print(f"Nothing was changed: {problem.message}")
        return 1
    chosen = {node.name: node for node in nodes if node.worker and node.ready and node.schedulable}
    _announce(health.where, chosen, [node for node in nodes if node.name not in chosen])
    if not chosen:
        print("There is no worker to drain.")
        return 1
    if not _agreed():
        return 1
    played, _records = upgrade(
        list(chosen),
        kubeconfig,
        node_patch_tasks=str(HERE / "no_patch.yml"),
        node_patch_reboot="never",
        # A patch of these nodes must not find that they were done today.
        node_patch_campaign="demo",
        node_patch_done_hours=0,
    )
    complaints = [] if played else ["the playbook failed"]
    complaints += health.wait_for_workloads(workloads, _SETTLE_SECONDS)
    after = {node.name: node for node in health.nodes()}
    for name in chosen:
        now = after.get(name)
        if now is None or not (now.ready and now.schedulable):
            complaints.append(f"{name} is {now.state if now else 'gone'}")
    return ending.verdict(
        complaints, f"All nodes are back, and all {len(workloads)} workloads that were available still are."
    )


def _announce(where: str, chosen: dict[str, Node], others: list[Node]) -> None:
    print(f"Cluster: {where}")
    print("To be drained and let in again, one after the other:")
    for node in chosen.values():
        print(f"    {node.name}  {node.kubelet}")
    for node in others:
        print(f"    ({node.name} is left alone: {'control plane' if not node.worker else node.state})")
    print("Their pods are evicted as disruption budgets allow, and lose the data in emptyDir volumes.")
    print("Nothing is patched or rebooted.")


def _agreed() -> bool:
    """Ask; anything but yes from a person at a terminal is no."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        print("Nothing was changed: CI is set, and only a person may say yes to this. Run it on a terminal without CI.")
        return False
    if not sys.stdin.isatty():
        print("Nothing was changed: there is no terminal to ask on. Run it on one, and answer yes.")
        return False
    try:
        answer = input("Go ahead? (yes) ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        answer = ""
    if answer == "yes":
        return True
    print("Nothing was changed. To go ahead, run it again and answer yes.")
    return False
