# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send the evictions that are due, as many at once as the task allows, and watch the budgets that refuse some."""

from __future__ import annotations

from functools import partial

from ..api.list_watch import Unwatched, list_and_watch
from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..cluster.eviction import outcome_of
from ..runtime.workers import Message, Workers
from .budget_queue import BudgetQueue
from .node import NodeState
from .options import DrainTask
from .pod import PodState, State

# After a response that shows that a pod's object is outdated, the node's pods are listed: not at once for each pod.
RELIST_DELAY = 0.5


class Evictions:
    """The evictions of all nodes, under one limit (eviction_concurrency)."""

    def __init__(self, cluster: Cluster, rest: Rest, workers: Workers, task: DrainTask, budgets: BudgetQueue) -> None:
        self._cluster = cluster
        self._rest = rest
        self._workers = workers
        self._task = task
        self._budgets = budgets
        self._in_flight = 0

    def send_due(self, nodes: list[NodeState], now: float) -> None:
        """Send what is due now, and watch the budgets that hold pods."""
        pods = _pods_of(nodes)
        for pod in pods:
            if pod.state == State.DUE and not pod.budget_checked and self._task.evict:
                self._budgets.hold(pod, now)
        chosen = {pod.uid for pod in self._budgets.choose(pods, now)}
        for pod in pods:
            if pod.uid in chosen or (pod.state == State.PAUSED and pod.retry_at <= now):
                pod.make_due()
        self._send(nodes, now)
        for namespace in self._budgets.unwatched(pods):
            self._budgets.on_watch_started(namespace)
            collection = self._cluster.budgets_collection(namespace)
            self._workers.follow(("budgets", namespace), list_and_watch(self._rest, collection))

    def _send(self, nodes: list[NodeState], now: float) -> None:
        for node in nodes:
            for pod in node.due():
                if self._in_flight >= self._task.eviction_concurrency:
                    return
                self._in_flight += 1
                pod.record_attempt(now, self._budgets.version_for(pod))
                removal = partial(self._cluster.remove_pod, pod.obj, self._task.grace, self._task.evict)
                self._workers.start(("evict", node.name, pod.uid), removal)

    def next_due(self, nodes: list[NodeState], now: float) -> float | None:
        """Return in how many seconds an eviction is due if no message comes, None if none is."""
        seconds = self._budgets.next_retry(_pods_of(nodes), now)
        return seconds if self._in_flight < self._task.eviction_concurrency else None

    def on_eviction_response(self, node: NodeState, message: Message, now: float, jitter: float) -> None:
        """Apply the response to an eviction to its pod, which may have gone, and to its budget."""
        self._in_flight -= 1
        uid, outcome = message.tag[2], outcome_of(message.error)
        node.on_eviction_response(uid, outcome, now, self._task.wait_sleep, jitter)
        if uid in node.pods and outcome.budget:
            self._budgets.on_refusal(node.pods[uid], now)
        if outcome.stale and node.relist_at is None:
            node.relist_at = now + RELIST_DELAY

    def on_budgets_event(self, message: Message, nodes: list[NodeState]) -> None:
        """Apply an event of a namespace's budgets."""
        if message.error is not None or isinstance(message.value, Unwatched):
            self._budgets.on_watch_error(message.tag[1])
        else:
            self._budgets.on_watch_event(message.tag[1], message.value, _pods_of(nodes))


def _pods_of(nodes: list[NodeState]) -> list[PodState]:
    return [pod for node in nodes for pod in node.pods.values()]
