# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain cordoned nodes: evict what is due and handle events until every node is drained, failed or timed out.

One thread decides; requests and watches run beside it and only post messages (see workers.py). Each step looks at the
whole state, so the order in which messages come does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain

from ..api.list_watch import Changed, Listed, Unwatched, list_and_watch
from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..errors import MaintenanceError
from ..runtime.clock import Clock, Deadline, LastLook
from ..runtime.progress import Progress
from ..runtime.workers import Message, Pause, Workers
from .budget_queue import BudgetQueue
from .cordon import Cordon
from .evictions import Evictions
from .final_check import FinalCheck
from .final_check_state import Again, Decision, Done, Fail, Recordon
from .node import NodeState, Phase
from .options import DrainTask


class DrainLoop:
    """Drain some nodes at once, under one deadline and one limit of evictions in flight."""

    def __init__(
        self,
        cluster: Cluster,
        rest: Rest,
        workers: Workers,
        clock: Clock,
        deadline: Deadline,
        task: DrainTask,
        budgets: BudgetQueue,
        cordon: Cordon,
        progress: Progress,
    ) -> None:
        self._cluster = cluster
        self._rest = rest
        self._workers = workers
        self._clock = clock
        self._deadline = deadline
        self._task = task
        self._cordon = cordon
        self._progress = progress
        self._check = FinalCheck(cluster, rest, workers, task)
        self._evictions = Evictions(cluster, rest, workers, task, budgets)
        self._nodes: dict[str, NodeState] = {}
        self._daemonsets_read: set[tuple[str, str]] = set()
        self._last_list = LastLook(deadline)
        # By kind, the first part of a message's tag; the second one is the name of a node, or what stands beside:
        self._handlers: dict[str, Callable[[Message], None]] = {
            "evict": self._on_eviction_response,  # a node's name; the third part is the pod's uid
            "daemonset": self._on_daemonset_read,  # a DaemonSetKey
            "budgets": self._on_budgets_event,  # a namespace
            "attachments": self._on_attachments_event,  # nothing
        }
        self._node_handlers: dict[str, Callable[[NodeState, Message], None]] = {
            "pods": self._on_pods_event,
            "list": self._on_pods_listed,
            "check": self._on_node_checked,
            "recheck_cordon": self._on_cordon_rechecked,
            "recordon": self._on_recordoned,
            "volumes": self._on_volumes_listed,
        }

    def run(self, nodes: list[NodeState]) -> None:
        """Drain the nodes; their phases tell how it ended."""
        self._nodes = {node.name: node for node in nodes}
        while True:
            self._start_nodes()
            self._send_due()
            self._progress.step()
            if all(node.over for node in nodes) or self._deadline.expired():
                return
            for message in self._workers.receive(self._next_wake()):
                self._dispatch(message)
            if self._task.choices.skip_wait_for_delete_timeout:
                self._review()

    def _review(self) -> None:
        for node in self._active():
            node.review(self._clock.monotonic(), self._clock.wall())

    def _active(self) -> list[NodeState]:
        return [node for node in self._nodes.values() if node.phase in (Phase.DRAINING, Phase.CHECKING)]

    def _start_nodes(self) -> None:
        waiting = [node for node in self._nodes.values() if node.phase == Phase.WAITING]
        started = sum(1 for node in self._nodes.values() if not node.over) - len(waiting)
        for node in waiting[: max(0, self._task.max_parallel - started)]:
            node.start(self._clock.monotonic())
            self._watch_pods(node)

    def _send_due(self) -> None:
        self._read_daemonsets()
        now = self._clock.monotonic()
        self._evictions.send_due(self._active(), now)
        last = self._last_list.due()
        for node in self._active():
            self._check.start_due(node, now)
            if not node.relisting and (last or (node.relist_at is not None and node.relist_at <= now)):
                node.relist_at, node.relisting = None, True
                read = partial(self._cluster.pods_and_node, node.name, list(self._task.pod_selectors))
                self._workers.start(("list", node.name, node.cache.token), read)

    def _read_daemonsets(self) -> None:
        for node in self._active():
            for key in node.lookups() - self._daemonsets_read:
                self._daemonsets_read.add(key)
                self._workers.start(("daemonset", key), partial(self._cluster.daemonset_exists, *key))

    def _next_wake(self) -> float:
        now, wall = self._clock.monotonic(), self._clock.wall()
        times = [self._deadline.remaining(), self._progress.due(), *self._last_list.wakes()]
        for node in self._active():
            # A list that is due while one is in flight is requested when that has come.
            moments = (None if node.relisting else node.relist_at, node.check.check_at)
            times += [moment - now for moment in moments if moment is not None]
            skip = node.next_skip(wall)
            times += [skip] if skip is not None else []
        eviction = self._evictions.next_due(self._active(), now)
        times += [eviction] if eviction is not None else []
        return max(0.0, min(times))

    def _dispatch(self, message: Message) -> None:
        kind, about = message.tag[:2]
        if kind in self._handlers:
            self._handlers[kind](message)
        elif not self._nodes[about].over:
            self._node_handlers[kind](self._nodes[about], message)

    def _watch_pods(self, node: NodeState, *before: Pause) -> None:
        collection = self._cluster.pods_collection(node.name, list(self._task.pod_selectors))
        self._workers.follow(("pods", node.name), chain(before, list_and_watch(self._rest, collection)))

    def _on_pods_event(self, node: NodeState, message: Message) -> None:
        event = message.value
        if message.error is not None:
            self._on_watch_error(node, message.error)
        elif isinstance(event, Unwatched):
            node.warnings.append(
                f"pods of {node.name} cannot be watched ({event.message}),"
                f" so they are listed every {self._task.wait_sleep:g} s"
            )
        elif isinstance(event, (Listed, Changed)):
            if isinstance(event, Listed):
                node.retries.reset()
                node.error = None
            node.update(event, self._clock.monotonic(), self._clock.wall())

    def _on_watch_error(self, node: NodeState, error: MaintenanceError) -> None:
        """Watch the pods again if the error may be transient: they could be listed before the cordon."""
        delay = node.retries.delay_after(error)
        if delay is None:
            self._end(node, Phase.FAILED, error)
            return
        # If time is up before the next list, this is why.
        node.error = error
        node.cache.expect_watch()
        self._watch_pods(node, Pause(delay))

    def _on_pods_listed(self, node: NodeState, message: Message) -> None:
        node.relisting = False
        if message.error is None:
            listed, fresh = message.value
            # Whether it is Ready is part of why its pods do not end.
            node.obj = fresh or node.obj
            node.update(listed, self._clock.monotonic(), self._clock.wall(), message.tag[2])

    def _on_eviction_response(self, message: Message) -> None:
        node, now = self._nodes[message.tag[1]], self._clock.monotonic()
        self._evictions.on_eviction_response(node, message, now, self._clock.jitter())

    def _on_daemonset_read(self, message: Message) -> None:
        for node in self._nodes.values():
            node.daemonsets[message.tag[1]] = message.value
        self._review()

    def _on_budgets_event(self, message: Message) -> None:
        self._evictions.on_budgets_event(message, self._active())

    def _on_node_checked(self, node: NodeState, message: Message) -> None:
        now, wall = self._clock.monotonic(), self._clock.wall()
        self._follow(node, self._check.on_node_checked(node, message, now, wall))

    def _on_cordon_rechecked(self, node: NodeState, message: Message) -> None:
        self._follow(node, self._check.on_cordon_rechecked(node, message))

    def _on_recordoned(self, node: NodeState, message: Message) -> None:
        if message.error is not None:
            self._end(node, Phase.FAILED, message.error)
        else:
            node.enter(Phase.DRAINING)

    def _on_volumes_listed(self, node: NodeState, message: Message) -> None:
        self._follow(node, self._check.on_volumes_listed(node, message, self._clock.monotonic()))

    def _on_attachments_event(self, message: Message) -> None:
        for node, decision in self._check.on_attachments_event(message, list(self._nodes.values())):
            self._follow(node, decision)

    def _follow(self, node: NodeState, decision: Decision) -> None:
        """Do what the final check of a node has decided."""
        if isinstance(decision, Done):
            self._end(node, Phase.DRAINED, None)
        elif isinstance(decision, Fail):
            self._end(node, Phase.FAILED, decision.error)
        elif isinstance(decision, Recordon):
            node.record_recordon()
            node.enter(Phase.CHECKING)
            self._workers.start(("recordon", node.name), partial(self._cordon.recordon, node))
        elif isinstance(decision, Again):
            node.enter(Phase.DRAINING)
            # If time is up before the next check, this is why.
            node.check.check_at, node.error = decision.at, decision.error or node.error

    def _end(self, node: NodeState, phase: Phase, error: MaintenanceError | None) -> None:
        # A retryable error at the deadline counts as a timeout.
        timed_out = error is not None and self._deadline.expired() and self._rest.is_retryable(error)
        node.end(phase, error, self._clock.monotonic(), timed_out)
        self._workers.drop(("pods", node.name))
