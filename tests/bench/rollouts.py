# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how rollouts are followed, beside kubectl."""

from __future__ import annotations

import clients
import rollout_trials as trials
import scenes
from report import Account, Goal, show_rollouts

from embedded_cluster import EmbeddedCluster

DEPLOYMENTS = 200
MANY_DEPLOYMENTS = 2000


class Rollouts:
    """Measurements of rollouts, on one cluster."""

    def __init__(self, cluster: EmbeddedCluster, account: Account) -> None:
        self._cluster = cluster
        self._account = account
        self._all = clients.rollouts(cluster.kubeconfig, label_selectors=[scenes.ROLLING])
        self._strict = clients.rollouts(cluster.kubeconfig, name=scenes.REFUSED, fail_early="strict")
        self._kubectl = clients.kubectl_rollouts(cluster.kubeconfig, scenes.ROLLING)

    def together(self) -> None:
        """Many Deployments that all roll, and are complete at the same time."""
        title = f"{DEPLOYMENTS} Deployments that roll, from the end of the last rollout on"
        found = {}
        for client in (self._all, self._kubectl):
            if client is not None:
                self._account.say(title, client.name)
                objects = scenes.rolling(DEPLOYMENTS)
                found[client.name] = trials.follow_all(self._cluster, client, objects, DEPLOYMENTS)
        show_rollouts(title, found)
        self._account.results["rollouts"] = {name: one.figures() for name, one in found.items()}
        mine = found[self._all.name]
        self._account.demand(
            Goal(f"{DEPLOYMENTS} rollouts: time after the last", mine.after, 1.0, "s", True, mine.problem),
            Goal(f"{DEPLOYMENTS} rollouts: requests per kind", mine.per_kind, 4, "", False, mine.problem),
            Goal(f"{DEPLOYMENTS} rollouts: requests repeated", mine.repeated, 0, "", False, mine.problem),
        )

    def refused_image(self) -> None:
        """An image that the registry does not have, in one of many Deployments of a namespace."""
        title = f"an image that is not there in 1 of {MANY_DEPLOYMENTS} Deployments, from the kubelet's report on"
        self._account.say(title, self._strict.name)
        found = trials.fail_early(self._cluster, self._strict, scenes.refused_image(MANY_DEPLOYMENTS - 1))
        show_rollouts(title, {self._strict.name: found})
        self._account.results["refused_image"] = {self._strict.name: found.figures()}
        what = f"{MANY_DEPLOYMENTS} Deployments, 1 followed: peak memory"
        self._account.demand(
            Goal("image that is not there: time to fail", found.after, 2.0, "s", False, found.problem),
            Goal(what, found.peak, 80, "MiB", True, found.problem),
        )
