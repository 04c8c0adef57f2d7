# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the drain put on nodes, answer to evictions, and read from results."""

from __future__ import annotations

from typing import Any

from kubesim import builders

EVICTION = {"method": "POST", "path": "/eviction$"}
BUDGET_TEXT = "The disruption budget db-pdb needs 1 healthy pods and has 1 currently"


def status(code: int, message: str, reason: str = "", **details: Any) -> dict[str, Any]:
    """Return a Status as the API server answers it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }


def no_budget(text: str = BUDGET_TEXT, **details: Any) -> dict[str, Any]:
    """Return a budget's refusal."""
    causes = [{"reason": "DisruptionBudget", "message": text}]
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return status(429, message, "TooManyRequests", causes=causes, **details)


def app(name: str, node: str = "w1", **options: Any) -> list[dict[str, Any]]:
    """Return a ReplicaSet of one pod, and its pod <name>-0 on a node."""
    owner = builders.replica_set(name, 1)
    return [owner, *builders.pods_of(owner, [node], **options)]


def guarded(count: int) -> list[dict[str, Any]]:
    """Return a ReplicaSet db, so many pods of it on w1, and a budget db-pdb that lets none of them go."""
    owner = builders.replica_set("db", count)
    budget = builders.budget("db-pdb", selector={"app": "db"}, min_available=count)
    return [owner, *builders.pods_of(owner, ["w1"] * count), budget]


def agent(**options: Any) -> list[dict[str, Any]]:
    """Return a DaemonSet, whose controller puts a pod on every node."""
    return [builders.daemon_set("agent", **options)]


def reasons(result: dict[str, Any]) -> dict[str, str]:
    """Return the reason of each pod that is left; pods of a DaemonSet go by its name."""
    return {_known_as(pod): pod["reason"] for pod in result["pending_pods"]}


def skips(result: dict[str, Any]) -> dict[str, str]:
    """Return the reason of each pod that was left on purpose; pods of a DaemonSet go by its name."""
    return {_known_as(pod): pod["reason"] for node in result["nodes"] for pod in node["skipped"]}


def _known_as(pod: dict[str, Any]) -> str:
    # Names that a controller makes up differ from run to run.
    return pod["owner"] if pod["owner"].startswith("DaemonSet/") else pod["name"]
