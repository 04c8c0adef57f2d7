# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain cordoned nodes: send what is due, hear what happens, until every node is empty, stuck, or out of time.

One thread decides; requests and watches run beside it and only report (see workers.py). Each step looks at the whole
state anew, so the order in which news come does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from ..api.list_watch import Changed, Listed, Unwatched, list_and_watch
from ..api.rest import Rest
from ..api.retry import retry_delay
from ..cluster.cluster import Cluster
from ..cluster.eviction import outcome_of
from ..errors import MaintenanceError
from ..objects import identity_of
from ..runtime.clock import Clock, Deadline, LastLook
from ..runtime.progress import Progress
from ..runtime.workers import Message, Pause, Workers
from .budget_queue import BudgetQueue
from .final_check import NodeCheck
from .node import CHECKING, DRAINING, FAILED, WAITING, NodeState
from .options import DrainTask
from .pod import DUE, PAUSED, PodState
from .pod_cache import ListToken
from .volume_detach import VolumeDetach


class DrainLoop:
    """Drain some nodes at once, under one deadline and one limit of evictions under way.

    close_again: cordons a node from which somebody lifted the cordon.
    """

    def __init__(
        self,
        cluster: Cluster,
        rest: Rest,
        crew: Workers,
        clock: Clock,
        deadline: Deadline,
        task: DrainTask,
        budgets: BudgetQueue,
        close_again: Callable[[NodeState], None],
        progress: Progress,
    ) -> None:
        self._progress = progress
        self._cluster = cluster
        self._rest = rest
        self._crew = crew
        self._clock = clock
        self._deadline = deadline
        self._task = task
        self._budgets = budgets
        detaching = VolumeDetach(cluster, rest, crew) if task.wait_volume_detach else None
        self._checks = NodeCheck(cluster, crew, detaching, self._pod_news, close_again, self._end)
        self._nodes: dict[str, NodeState] = {}
        self._under_way = 0
        self._looking: set[str] = set()
        self._look_at: dict[str, float] = {}
        self._asked_for: set[tuple[str, str]] = set()
        self._last_look = LastLook(deadline)

    def run(self, nodes: list[NodeState]) -> None:
        """Drain the nodes, each in its place; their phases say how it ended."""
        self._nodes = {node.name: node for node in nodes}
        while True:
            self._start_nodes()
            self._act()
            self._progress.step()
            if all(node.over for node in nodes) or self._deadline.expired():
                return
            for message in self._crew.receive(self._next_wake()):
                self._take(message)
            if self._task.choices.skip_wait_for_delete_timeout:
                self._review()

    def _review(self) -> None:
        for node in self._active():
            node.review(self._clock.monotonic(), self._clock.wall())

    def _active(self) -> list[NodeState]:
        return [node for node in self._nodes.values() if node.phase in (DRAINING, CHECKING)]

    def _pods(self) -> list[PodState]:
        return [drain for node in self._active() for drain in node.pods.values()]

    def _start_nodes(self) -> None:
        room = self._task.max_parallel - sum(
            1 for node in self._nodes.values() if not node.over and node.phase != WAITING
        )
        for node in [node for node in self._nodes.values() if node.phase == WAITING][: max(0, room)]:
            node.begin(self._clock.monotonic())
            self._follow(node)

    def _act(self) -> None:
        self._look_up()
        now = self._clock.monotonic()
        for drain in self._pods():
            if drain.state == DUE and not drain.weighed and self._task.evict:
                self._budgets.hold(drain, now)
        chosen = {identity_of(drain.pod) for drain in self._budgets.to_ask(self._pods(), now)}
        for node in self._active():
            for drain in node.pods.values():
                if identity_of(drain.pod) in chosen or (drain.state == PAUSED and drain.retry_at <= now):
                    drain.make_due()
        self._evict(now)
        for namespace in self._budgets.missing(self._pods()):
            what = self._cluster.budgets_collection(namespace)
            self._crew.follow(("budgets", namespace), list_and_watch(self._rest, what))
        last = self._last_look.due()
        for node in self._active():
            self._checks.step(node, now, list(self._task.pod_selectors))
            self._look_again(node, now, last)

    def _look_up(self) -> None:
        for node in self._active():
            for key in node.lookups() - self._asked_for:
                self._asked_for.add(key)
                self._crew.start(("daemonset", key), partial(self._cluster.daemonset_exists, *key))

    def _evict(self, now: float) -> None:
        for node in self._active():
            for drain in node.due():
                if self._under_way >= self._task.eviction_concurrency:
                    return
                self._under_way += 1
                drain.sent(now, self._budgets.version_for(drain))
                removal = partial(self._cluster.remove_pod, drain.pod, self._task.grace, self._task.evict)
                self._crew.start(("evict", node.name, identity_of(drain.pod)), removal)

    def _look_again(self, node: NodeState, now: float, last: bool) -> None:
        due = self._look_at.get(node.name)
        if node.name not in self._looking and (last or (due is not None and due <= now)):
            self._look_at.pop(node.name, None)
            self._look(node)

    def _look(self, node: NodeState) -> None:
        self._looking.add(node.name)
        selectors = list(self._task.pod_selectors)
        look = partial(self._cluster.pods_and_node, node.name, selectors)
        self._crew.start(("look", node.name, node.cache.mark), look)

    def _next_wake(self) -> float:
        now, wall = self._clock.monotonic(), self._clock.wall()
        times = [self._deadline.remaining(), self._progress.due(), *self._last_look.wakes()]
        # A look that is due while one is under way follows when that has come back.
        waiting = {node.name for node in self._active()} & set(self._look_at) - self._looking
        times += [self._look_at[name] - now for name in waiting]
        times += [node.check_at - now for node in self._active() if node.check_at is not None]
        times += [left for left in (node.next_skip(wall) for node in self._active()) if left is not None]
        ask = self._budgets.next_ask(self._pods(), now)
        if ask is not None and self._under_way < self._task.eviction_concurrency:
            times.append(ask)
        return max(0.0, min(times))

    def _take(self, message: Message) -> None:
        kind, name = message.tag[0], message.tag[1]
        if kind == "evict":
            self._answered(self._nodes[name], message)
        elif kind == "daemonset":
            for node in self._nodes.values():
                node.daemonsets[name] = message.value
            self._review()
        elif kind == "budgets":
            self._budget_news(name, message)
        elif kind in NodeCheck.KINDS:
            self._checks.hear(kind, message, self._nodes, self._clock.monotonic(), self._clock.wall())
        elif self._nodes[name].over:
            return
        elif kind == "look":
            self._looking.discard(name)
            self._looked(self._nodes[name], message)
        elif message.error is not None:
            self._unfollowed(self._nodes[name], message.error)
        else:
            self._pod_news(self._nodes[name], message.value)

    def _unfollowed(self, node: NodeState, error: MaintenanceError) -> None:
        """Follow the pods of a node anew after a passing error: they have been listed before the cordon."""
        node.doubts += 1
        pause = retry_delay(error, node.doubts)
        if pause is None:
            self._end(node, FAILED, error)
        else:
            # If time is up before the next list, this is why.
            node.error = error
            node.cache.begin()
            self._follow(node, Pause(pause))

    def _follow(self, node: NodeState, *before: Pause) -> None:
        what = self._cluster.pods_collection(node.name, list(self._task.pod_selectors))
        self._crew.follow(("pods", node.name), chain(before, list_and_watch(self._rest, what)))

    def _looked(self, node: NodeState, message: Message) -> None:
        if message.error is None:
            pods, fresh = message.value
            # Whether it is Ready is part of why its pods do not end.
            node.node = fresh or node.node
            self._pod_news(node, pods, message.tag[2])

    def _pod_news(self, node: NodeState, news: Any, mark: ListToken | None = None) -> None:
        if isinstance(news, Unwatched):
            node.warnings.append(
                "pods of %s cannot be watched (%s), so they are listed every %g s"
                % (node.name, news.message, self._task.wait_sleep)
            )
        elif isinstance(news, (Listed, Changed)):
            if mark is None and isinstance(news, Listed):
                node.doubts, node.error = 0, None
            node.take(news, self._clock.monotonic(), self._clock.wall(), mark)

    def _budget_news(self, namespace: str, message: Message) -> None:
        if message.error is not None or isinstance(message.value, Unwatched):
            self._budgets.blind(namespace)
        else:
            self._budgets.apply(namespace, message.value, self._pods())

    def _answered(self, node: NodeState, message: Message) -> None:
        self._under_way -= 1
        now = self._clock.monotonic()
        outcome = outcome_of(message.error)
        node.answered(message.tag[2], outcome, now, self._task.wait_sleep, self._clock.jitter())
        drain = node.pods.get(message.tag[2])
        if drain is not None and outcome.budget:
            self._budgets.refused(drain, now)
        if outcome.stale:
            # What is known of the pod is out of date; the watch may be late, so look, but not for each pod at once.
            self._look_at.setdefault(node.name, now + 0.5)

    def _end(self, node: NodeState, phase: str, error: MaintenanceError | None) -> None:
        node.phase, node.error, node.ended_at = phase, error, self._clock.monotonic()
        # What would have been tried again fails for want of time.
        node.timed_out = error is not None and self._deadline.expired() and self._rest.is_retryable(error)
        self._look_at.pop(node.name, None)
        self._crew.drop(("pods", node.name))
