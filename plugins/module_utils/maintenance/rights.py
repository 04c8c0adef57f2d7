# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List the rights that the steps of a node's maintenance need, and write them as RBAC rules.

This is the one list: the gate asks for these rights beforehand, and the ClusterRole for an account is made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..cluster.access import Right

_APPS, _POLICY, _STORAGE, _LEASES = "apps", "policy", "storage.k8s.io", "coordination.k8s.io"
_WORKLOADS = ("deployments", "daemonsets", "statefulsets")

# What a step does, and what it needs for that. {lock_namespace} stands for the namespace of the lock.
STEPS: Mapping[str, tuple[Right, ...]] = {
    "look": (Right("get", "nodes"), Right("list", "nodes"), Right("list", "pods")),
    "cordon": (Right("get", "nodes"), Right("patch", "nodes")),
    "drain": (
        Right("get", "nodes"),
        Right("patch", "nodes"),
        Right("list", "pods"),
        Right("watch", "pods"),
        Right("create", "pods", "eviction"),
        Right("get", "daemonsets", group=_APPS),
        Right("list", "poddisruptionbudgets", group=_POLICY),
        Right("watch", "poddisruptionbudgets", group=_POLICY),
    ),
    "delete_pods": (Right("delete", "pods"),),
    "volumes": (
        Right("list", "volumeattachments", group=_STORAGE),
        Right("watch", "volumeattachments", group=_STORAGE),
        Right("get", "persistentvolumes"),
    ),
    "csi_drivers": (Right("get", "csinodes", group=_STORAGE),),
    "healing": tuple(Right(verb, kind, group=_APPS) for kind in _WORKLOADS for verb in ("get", "list", "watch")),
    "diagnosis": (
        Right("list", "pods"),
        Right("watch", "pods"),
        Right("get", "pods", "log"),
        Right("get", "replicasets", group=_APPS),
        Right("list", "controllerrevisions", group=_APPS),
        Right("list", "events"),
    ),
    "lock": tuple(
        Right(verb, "leases", group=_LEASES, namespace="{lock_namespace}")
        for verb in ("get", "create", "patch", "delete")
    ),
}
# Without these a step still works, only less well: slower, or with less to report.
_OPTIONAL = {"diagnosis"}
# A pod is either evicted or deleted.
_REPLACED = {"delete_pods": Right("create", "pods", "eviction")}


def rights_for(steps: Iterable[str], lock_namespace: str = "kube-system") -> list[Right]:
    """Return the rights that these steps need, each once, in the order of STEPS."""
    wanted = set(steps)
    dropped = {_REPLACED[step] for step in wanted if step in _REPLACED}
    found = [right for step, rights in STEPS.items() if step in wanted for right in rights if right not in dropped]
    placed = [r._replace(namespace=lock_namespace) if r.namespace == "{lock_namespace}" else r for r in found]
    return list(dict.fromkeys(placed))


def needed_for(steps: Iterable[str], lock_namespace: str = "kube-system") -> list[Right]:
    """Return those of rights_for() without which a step fails."""
    return rights_for([step for step in steps if step not in _OPTIONAL], lock_namespace)


def step_of(right: Right) -> str:
    """Return the first step that needs the right, for a sentence."""
    bare = right._replace(namespace="")
    for step, rights in STEPS.items():
        if any(other._replace(namespace="") == bare for other in rights):
            return step
    return ""


def rules_of(rights: Iterable[Right]) -> list[dict[str, Any]]:
    """Return rights of one scope as rules of a ClusterRole or Role, resources with the same verbs together."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in rights:
        resource = "/".join(word for word in (right.resource, right.subresource) if word)
        verbs.setdefault((right.group, resource), []).append(right.verb)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), known in verbs.items():
        together.setdefault((group, tuple(known)), []).append(resource)
    return [
        {"apiGroups": [group], "resources": resources, "verbs": list(known)}
        for (group, known), resources in together.items()
    ]
