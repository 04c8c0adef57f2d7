# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sixty pods on one node, of every kind that a drain meets, and room for them elsewhere."""

from __future__ import annotations

from typing import Any

from kubesim import builders
from kubesim.agenda import TEST_EPOCH, timestamp
from kubesim.objects import Object

NODE = "w1"
ELSEWHERE = ("w2", "w3", "w4")

# What no budget guards: others may take such pods away without breaking one.
UNGUARDED = ("cache", "queue", "scratch")

OPTIONS: dict[str, Any] = {"force": True, "ignore_daemonsets": True, "delete_emptydir_data": True}


def first() -> list[Object]:
    """Return what makes pods; to be settled while there is no other node."""
    return [
        builders.deployment("web", 14, start=1, term=2),
        builders.deployment("api", 12, start=2, term=1),
        builders.deployment("cache", 8, term=4),
        builders.deployment("scratch", 3, emptydir=True),
        builders.deployment("broken", 2, never_ready=True),
        builders.stateful_set("db", 5, start=1, term=2, claims=["data"]),
        builders.stateful_set("queue", 5, policy="Parallel"),
        builders.replica_set("batch", 6, start=3),
        builders.daemon_set("agent"),
        builders.pod("done", node_name=NODE, phase="Succeeded"),
        builders.pod("crashed", node_name=NODE, phase="Failed"),
        builders.pod("bare", node_name=NODE, term=3),
        builders.pod("apiserver", node_name=NODE, mirror=True),
        builders.pod("leaving", node_name=NODE, owner="Widget/leaving", term=8, deleted=timestamp(TEST_EPOCH + 30)),
    ]


def budgets() -> list[Object]:
    """Return the budgets, each of another kind."""
    return [
        builders.budget("web", max_unavailable=3),
        builders.budget("api", min_available="75%"),
        builders.budget("db", max_unavailable=1),
        builders.budget("batch", min_available=3, selector={"app": "batch"}),
        builders.budget("broken", max_unavailable=1, policy="AlwaysAllow"),
    ]


def others() -> list[Object]:
    """Return the nodes that take in what is evicted."""
    return [builders.node(name) for name in ELSEWHERE]


def latecomer(number: int) -> Object:
    """Return a pod that somebody puts on the node without asking the scheduler."""
    return builders.pod(f"late-{number}", node_name=NODE, owner="Widget/late", term=1 + number % 3)


def volumes() -> list[Object]:
    """Return a volume that is attached to the node and held by the pods of the StatefulSet db."""
    claim = {"namespace": "default", "name": "data"}
    spec = {"csi": {"driver": "csi.example", "volumeHandle": "pv"}, "claimRef": claim}
    persistent = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}
    return [persistent, builders.volume_attachment("va", NODE, "pv")]
