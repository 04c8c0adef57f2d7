# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read PodDisruptionBudgets: how many disruptions each allows, and how results report it.

https://kubernetes.io/docs/tasks/run-application/configure-pdb/
"""

from __future__ import annotations

from typing import Any

from ..api.list_watch import Changed, Listed
from ..objects import Obj, int_field, is_terminating, labels_of, mapping_at, name_of, version_of
from ..selectors import selects


class NamespaceBudgets:
    """The budgets of one namespace, kept up to date by a watch.

    live: the watch delivers events; polled: only periodic lists come, which are too old to time evictions by.
    """

    def __init__(self) -> None:
        self._budgets: dict[str, Obj] = {}
        self.live = False
        self.polled = False

    def apply(self, update: Listed | Changed) -> None:
        """Apply a list or a watch event."""
        if isinstance(update, Listed):
            self._budgets = {name_of(budget): budget for budget in update.items}
        elif update.type == "DELETED":
            self._budgets.pop(name_of(update.obj), None)
        else:
            self._budgets[name_of(update.obj)] = update.obj

    def get(self, name: str) -> Obj | None:
        """Return the budget of that name, None if it does not exist."""
        return self._budgets.get(name)

    def version(self, name: str) -> str:
        """Return a text that changes whenever the budget is changed or deleted."""
        return version_of(self._budgets[name]) if name in self._budgets else "none"

    def of(self, pod: Obj) -> list[Obj]:
        """Return the budgets that select a pod of this namespace."""
        return [b for b in self._budgets.values() if selects(mapping_at(b, "spec").get("selector"), labels_of(pod))]


def disruptions_allowed(budget: Obj) -> int:
    """Return status.disruptionsAllowed; 0 while the disruption controller has not observed the latest generation."""
    status = mapping_at(budget, "status")
    if int_field(status.get("observedGeneration")) < int_field(mapping_at(budget, "metadata").get("generation")):
        return 0
    return max(0, int_field(status.get("disruptionsAllowed")))


def exempts_unready(budget: Obj) -> bool:
    """Return whether the budget lets pods that are not Ready be evicted even when it allows no disruption.

    https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
    """
    status = mapping_at(budget, "status")
    desired = int_field(status.get("desiredHealthy"))
    healthy_enough = int_field(status.get("currentHealthy")) >= desired > 0
    return mapping_at(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or healthy_enough


def is_subject_to_budgets(pod: Obj) -> bool:
    """Return whether budgets apply to the pod's eviction: not if it is pending, finished or terminating.

    The opposite of canIgnorePDB in kubernetes registry/core/pod/storage/eviction.go.
    """
    return mapping_at(pod, "status").get("phase") not in ("Pending", "Succeeded", "Failed") and not is_terminating(pod)


def is_counted(budget: Obj, pod_name: str) -> bool:
    """Return whether disruptedPods lists the pod, so that disruptionsAllowed already counts its eviction."""
    return pod_name in mapping_at(budget, "status", "disruptedPods")


def is_deadlocked(budget: Obj) -> bool:
    """Return whether waiting cannot help: all pods of the budget are healthy and it still allows no disruption.

    Somebody has to apply remedy_for, or delete a pod by hand.
    """
    status = mapping_at(budget, "status")
    expected = int_field(status.get("expectedPods"))
    return (
        int_field(status.get("observedGeneration")) >= int_field(mapping_at(budget, "metadata").get("generation"))
        and int_field(status.get("disruptionsAllowed")) == 0
        and expected > 0
        and not mapping_at(status, "disruptedPods")
        and int_field(status.get("currentHealthy")) >= expected
    )


def remedy_for(budget: Obj) -> str:
    """Return how to fix a deadlocked budget. Another replica does not help one that sets maxUnavailable."""
    if mapping_at(budget, "spec").get("maxUnavailable") is not None:
        return "raise its maxUnavailable"
    return "add a replica or lower its minAvailable"


def remedies_for(budget: Obj) -> str:
    """Return remedy_for, and a way out for users who may not change the workload or its budget."""
    return f"{remedy_for(budget)}, or set delete_options.disable_eviction to bypass it"


def budget_facts(budget: Obj) -> dict[str, Any]:
    """Return a budget as results report it."""
    status = mapping_at(budget, "status")
    return {
        "name": name_of(budget),
        "disruptions_allowed": int_field(status.get("disruptionsAllowed")),
        "current_healthy": int_field(status.get("currentHealthy")),
        "desired_healthy": int_field(status.get("desiredHealthy")),
        "expected_pods": int_field(status.get("expectedPods")),
        "unhealthy_pod_eviction_policy": mapping_at(budget, "spec").get("unhealthyPodEvictionPolicy")
        or "IfHealthyBudget",
        "deadlock": is_deadlocked(budget),
    }


def unread_budget_facts(name: str) -> dict[str, Any]:
    """Return the same keys for a budget of which only the name is known."""
    return {**dict.fromkeys(budget_facts({})), "name": name}
