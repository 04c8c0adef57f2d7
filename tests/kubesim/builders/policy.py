# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets and quotas."""

from __future__ import annotations

from ..objects import Object
from .metadata import metadata


def budget(
    name: str,
    namespace: str = "default",
    *,
    selector: dict[str, str] | Object | None = None,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
    policy: str | None = None,
    status: Object | None = None,
    labels: dict[str, str] | None = None,
    uid: str | None = None,
) -> Object:
    """Return a PodDisruptionBudget; `selector` is labels (default: app=<name>) or a whole LabelSelector.

    Without `status` it has none yet: the disruption controller computes it, as for a budget just made.
    """
    if selector is None:
        selector = {"app": name}
    if not {"matchLabels", "matchExpressions"} & selector.keys():
        selector = {"matchLabels": dict(selector)} if selector else {}
    spec: Object = {"selector": selector}
    optional = {
        "minAvailable": min_available,
        "maxUnavailable": max_unavailable,
        "unhealthyPodEvictionPolicy": policy,
    }
    spec.update({key: value for key, value in optional.items() if value is not None})
    meta = metadata("PodDisruptionBudget", name, namespace, labels=labels, uid=uid)
    made: Object = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}
    if status is not None:
        made["status"] = dict(status)
    return made


def quota(name: str, namespace: str = "default", *, hard: dict[str, str]) -> Object:
    """Return a ResourceQuota."""
    meta = metadata("ResourceQuota", name, namespace)
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": dict(hard)}}
