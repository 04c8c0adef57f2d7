# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of the cluster that drains and rollouts begin with."""

from __future__ import annotations

from typing import Any

from kubesim import builders, scenarios
from kubesim.store import Store

NODE = "worker-1"
ROLLING = "bench=rollout"  # label of the Deployments that all roll
REFUSED, REFUSED_IMAGE = "refused", "registry.example/shop:missing"
# Rollouts end so late that each client watches by then.
FINISH_SECONDS = 10.0
Objects = list[dict[str, Any]]


def full_node(pods: int) -> Objects:
    """Pods of a Deployment, all on NODE, each gone 2 s after its eviction; three empty workers."""
    return scenarios.bench_full_node(pods=pods, term_seconds=2.0)


def behind_a_budget() -> Objects:
    """30 pods on NODE behind a budget of 3 at a time; others take their place on other nodes within a second."""
    return scenarios.bench_budget(pods=30, allowed=3, term_seconds=2.0)


def drained() -> Objects:
    """NODE is cordoned, and only the pod of a DaemonSet is left there."""
    return scenarios.bench_drained()


def locked(pods: int) -> Objects:
    """Pods on NODE behind a budget without room, whose replacements never become ready."""
    closed = builders.replica_set("locked", pods, "bench", never_ready=True)
    budget = builders.budget("locked", "bench", min_available=pods)
    running = builders.pods_of(closed, [NODE] * pods, term=0.5, annotations={"fake/noready": ""})
    return [*scenarios.workers(2), closed, budget, *running]


def rolling(count: int) -> Objects:
    """Deployments of one pod that all roll and are complete at about the same time, when everybody watches."""
    return scenarios.bench_rolling(count, FINISH_SECONDS)


def refused_image(others: int) -> Objects:
    """The Deployment REFUSED rolls to an image that is not there; other Deployments in its namespace are at rest.

    An init container keeps the kubelet from pulling until everybody watches.
    """
    pace = {"fake/exec.wait": f"{FINISH_SECONDS:g}"}
    refused = builders.deployment(REFUSED, 1, "bench", init=["wait"], annotations=pace)
    return scenarios.settled([*scenarios.bench_deployments(others), refused], disturb=_set_refused_image)


def _set_refused_image(store: Store) -> None:
    store.mutate("Deployment", "bench", REFUSED, _take_refused_image)


def _take_refused_image(deployment: dict[str, Any]) -> None:
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = REFUSED_IMAGE
