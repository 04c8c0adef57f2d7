# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Know the disruption budgets of a namespace: how much room each has, and how it is to be reported.

https://kubernetes.io/docs/tasks/run-application/configure-pdb/
"""

from __future__ import annotations

from typing import Any

from ..api.list_watch import Changed, Listed
from ..objects import Obj, int_field, is_terminating, labels_of, mapping_at, name_of, version_of
from ..selectors import selects


class BudgetBook:
    """The budgets of one namespace, kept up to date by what a watch tells."""

    def __init__(self) -> None:
        self._budgets: dict[str, Obj] = {}
        # Whether news come by themselves; lists now and then (polled) are too old to send evictions by.
        self.live = False
        self.polled = False

    def apply(self, news: Listed | Changed) -> None:
        """Take in a list or a change."""
        if isinstance(news, Listed):
            self._budgets = {name_of(budget): budget for budget in news.items}
        elif news.type == "DELETED":
            self._budgets.pop(name_of(news.obj), None)
        else:
            self._budgets[name_of(news.obj)] = news.obj

    def get(self, name: str) -> Obj | None:
        """Return a budget, None if there is none of that name."""
        return self._budgets.get(name)

    def version(self, name: str) -> str:
        """Return what changes whenever the budget does, and when it goes."""
        return version_of(self._budgets[name]) if name in self._budgets else "none"

    def of(self, pod: Obj) -> list[Obj]:
        """Return the budgets that select a pod of this namespace."""
        return [b for b in self._budgets.values() if selects(mapping_at(b, "spec").get("selector"), labels_of(pod))]


def room_in(budget: Obj) -> int:
    """Return how many pods may be evicted now: none while the budget's controller has not seen its latest form."""
    status = mapping_at(budget, "status")
    if int_field(status.get("observedGeneration")) < int_field(mapping_at(budget, "metadata").get("generation")):
        return 0
    return max(0, int_field(status.get("disruptionsAllowed")))


def lets_unready_go(budget: Obj) -> bool:
    """Tell whether a pod that is not Ready may go although the budget has no room.

    https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
    """
    status = mapping_at(budget, "status")
    desired = int_field(status.get("desiredHealthy"))
    healthy_enough = int_field(status.get("currentHealthy")) >= desired > 0
    return mapping_at(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or healthy_enough


def is_consulted(pod: Obj) -> bool:
    """Tell whether the API server asks budgets before it evicts the pod: not if it never ran, has ended, or is going.

    kubernetes registry/core/pod/storage/eviction.go, canIgnorePDB
    """
    return mapping_at(pod, "status").get("phase") not in ("Pending", "Succeeded", "Failed") and not is_terminating(pod)


def is_booked(budget: Obj, pod_name: str) -> bool:
    """Tell whether the budget has the pod's eviction in its books, so that its room already counts it."""
    return pod_name in mapping_at(budget, "status", "disruptedPods")


def is_deadlocked(budget: Obj) -> bool:
    """Tell whether no wait gives the budget room: all its pods are healthy and still none may go.

    Somebody has to act, see remedy_for, or delete a pod by hand.
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
    """Return what gives a deadlocked budget room. One that counts the unavailable gets none from another replica."""
    if mapping_at(budget, "spec").get("maxUnavailable") is not None:
        return "raise its maxUnavailable"
    return "add a replica or lower its minAvailable"


def ways_out_of(budget: Obj) -> str:
    """Return remedy_for, and what helps if nobody may change the workload or its budget."""
    return "%s, or set delete_options.disable_eviction to bypass it" % remedy_for(budget)


def budget_facts(budget: Obj) -> dict[str, Any]:
    """Return what a result says of a budget."""
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


def unread_facts(name: str) -> dict[str, Any]:
    """Return the same for a budget of which nothing but the name is known."""
    return {**dict.fromkeys(budget_facts({})), "name": name}
