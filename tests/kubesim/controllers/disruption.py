# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disruption controller: what each PodDisruptionBudget allows at the moment."""

from __future__ import annotations

from ..agenda import seconds_of
from ..label_selectors import matches_selector
from ..objects import Object, is_pod_ready, is_terminating
from .budget_arithmetic import Demand, UnknownScale, demand_of
from .workqueue import WorkQueue
from .world import World

# A budget's status is this far behind its pods, as on a real cluster: an eviction may meet a stale one.
PROCESSING_SECONDS = 0.01
# An eviction that was allowed and whose pod is still there counts as not happened after this long.
DISRUPTION_SECONDS = 120.0
Key = tuple[str, str]


class Disruptions:
    """Keep the status of budgets, and note every moment at which one was violated."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile, PROCESSING_SECONDS)
        self._members: dict[Key, dict[str, Object]] = {}  # the pods that a budget selects, by name
        self._disturbed: set[Key] = (
            set()
        )  # budgets that lost a healthy pod to somebody's wish since they were last satisfied
        self._satisfied: set[Key] = set()
        self.violations: list[dict[str, object]] = []

    def observe(self, event: str, budget: Object, old: Object | None) -> None:
        """Handle a change of a budget."""
        key = (budget["metadata"]["namespace"], budget["metadata"]["name"])
        if event == "DELETED":
            self._queue.discard(key)
            for kept in (self._satisfied, self._disturbed):
                kept.discard(key)
            self._members.pop(key, None)
            return
        if old is None or old.get("spec") != budget.get("spec") or key not in self._members:
            pods = self._world.index.pods_in(key[0])
            self._members[key] = {pod["metadata"]["name"]: pod for pod in pods if _selects(budget, pod)}
        self._queue.add(key)

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        taken = _was_taken(event, pod, old)
        for budget in self._world.index.of_kind_in(namespace, "PodDisruptionBudget"):
            key = (namespace, budget["metadata"]["name"])
            members = self._members.setdefault(key, {})
            was_member = name in members
            if event != "DELETED" and _selects(budget, pod):
                members[name] = pod
            elif was_member:
                del members[name]
            else:
                continue
            if taken:
                self._disturbed.add(key)
            self._queue.add(key)

    def observe_workload(self, event: str, workload: Object, old: Object | None) -> None:
        """Handle a change of something that has a scale: budgets in percent count it."""
        if old is not None and event != "DELETED" and old.get("spec") == workload.get("spec"):
            return
        namespace = workload["metadata"]["namespace"]
        for budget in self._world.index.of_kind_in(namespace, "PodDisruptionBudget"):
            self._queue.add((namespace, budget["metadata"]["name"]))

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        budget = self._world.store.get("PodDisruptionBudget", *key)
        if budget is None:
            return
        members = list(self._members.get(key, {}).values())
        try:
            demand = demand_of(self._world, budget, members)
        except UnknownScale as problem:
            self._world.report(budget, _failed(budget, str(problem), self._world.stamp()))
            return
        disrupted = self._still_disrupted(key, budget, members)
        healthy = sum(
            is_pod_ready(pod) and not is_terminating(pod) and pod["metadata"]["name"] not in disrupted
            for pod in members
        )
        self._judge(key, healthy, demand)
        self._world.report(budget, _status(budget, demand, healthy, disrupted, self._world.stamp()))

    def _still_disrupted(self, key: Key, budget: Object, members: list[Object]) -> dict[str, str]:
        """Return the allowed evictions whose pods have not begun to go, and come back when one expires."""
        recorded = (budget.get("status") or {}).get("disruptedPods") or {}
        waiting = {pod["metadata"]["name"] for pod in members if not is_terminating(pod)}
        kept = {}
        for name, since in recorded.items():
            left = seconds_of(since) + DISRUPTION_SECONDS - self._world.now
            if name in waiting and left > 0:
                kept[name] = since
                self._queue.add(key, left)
        return kept

    def _judge(self, key: Key, healthy: int, demand: Demand) -> None:
        if healthy >= demand.desired:
            self._satisfied.add(key)
            self._disturbed.discard(key)
        elif key in self._satisfied and key in self._disturbed:
            self._satisfied.discard(key)
            self.violations.append(
                {
                    "at": self._world.now,
                    "namespace": key[0],
                    "budget": key[1],
                    "healthy": healthy,
                    "desired": demand.desired,
                }
            )


def _selects(budget: Object, pod: Object) -> bool:
    return matches_selector((budget.get("spec") or {}).get("selector"), pod["metadata"].get("labels"))


def _was_taken(event: str, pod: Object, old: Object | None) -> bool:
    """Return whether a healthy pod was deleted or evicted just now."""
    if old is None or is_terminating(old) or not is_pod_ready(old):
        return False
    return event == "DELETED" or is_terminating(pod)


def _status(budget: Object, demand: Demand, healthy: int, disrupted: dict[str, str], stamp: str) -> Object:
    allowed = max(healthy - demand.desired, 0) if demand.expected > 0 else 0
    generation = budget["metadata"].get("generation", 1)
    status: Object = {"observedGeneration": generation}
    if disrupted:
        status["disruptedPods"] = disrupted
    status.update(
        disruptionsAllowed=allowed, currentHealthy=healthy, desiredHealthy=demand.desired, expectedPods=demand.expected
    )
    reason = "SufficientPods" if allowed else "InsufficientPods"
    status["conditions"] = [_condition(budget, bool(allowed), generation, reason, "", stamp)]
    return status


def _failed(budget: Object, message: str, stamp: str) -> Object:
    """Return the status of a budget that cannot be computed: it allows nothing."""
    status = {**(budget.get("status") or {}), "disruptionsAllowed": 0}
    for count in ("currentHealthy", "desiredHealthy", "expectedPods"):
        status.setdefault(count, 0)
    generation = budget["metadata"].get("generation", 1)
    status["observedGeneration"] = generation
    status["conditions"] = [_condition(budget, False, generation, "SyncFailed", message, stamp)]
    return status


def _condition(budget: Object, allowed: bool, generation: int, reason: str, message: str, stamp: str) -> Object:
    for found in (budget.get("status") or {}).get("conditions") or ():
        if found["type"] == "DisruptionAllowed" and found["status"] == str(allowed):
            stamp = found.get("lastTransitionTime", stamp)
    return {
        "type": "DisruptionAllowed",
        "status": str(allowed),
        "observedGeneration": generation,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }
