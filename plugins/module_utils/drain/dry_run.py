# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go through a drain without changing anything: each eviction is sent as a server-side dry run, once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..cluster.cluster import Cluster
from ..cluster.eviction import ACCEPTED, AGAIN, GONE, outcome_of
from ..runtime.clock import Clock, Deadline
from ..runtime.workers import Workers
from .node import NodeState, Phase
from .options import DrainTask
from .pod import Evicted, PodState, State

# A transient error must not make the prediction wrong, and check mode must not take long.
MAX_ATTEMPTS = 3


def dry_run(
    cluster: Cluster, workers: Workers, clock: Clock, deadline: Deadline, task: DrainTask, nodes: list[NodeState]
) -> None:
    """Send every eviction as a dry run and record in the nodes which pods would be evicted and which would not.

    A dry run is not counted in disruptedPods, so several pods of one budget may all be accepted here.
    """
    due = _due_pods(nodes)
    in_flight: dict[str, tuple[NodeState, PodState]] = {}
    while not deadline.expired():
        while len(in_flight) < task.eviction_concurrency:
            entry = next(due, None)
            if entry is None:
                break
            node, pod = entry
            in_flight[pod.uid] = entry
            pod.record_attempt(clock.monotonic(), "")
            removal = partial(cluster.remove_pod, pod.obj, task.grace, task.evict, dry_run=True)
            workers.start(("dry", pod.uid), removal)
        if not in_flight:
            break
        for message in workers.receive(deadline.remaining()):
            node, pod = in_flight[message.tag[1]]
            pod.on_eviction_response(outcome_of(message.error), clock.monotonic(), task.wait_sleep, 1.0)
            if pod.outcome is not None and pod.outcome.kind == AGAIN and pod.attempts < MAX_ATTEMPTS:
                pod.record_attempt(clock.monotonic(), "")
                workers.start(message.tag, partial(cluster.remove_pod, pod.obj, task.grace, task.evict, dry_run=True))
                continue
            del in_flight[message.tag[1]]
            _record(node, pod)
    for node in nodes:
        node.enter(Phase.FAILED if node.sorted_pods(State.LOST, State.BLOCKED) else Phase.DRAINED)


def _due_pods(nodes: list[NodeState]) -> Iterator[tuple[NodeState, PodState]]:
    for node in nodes:
        for pod in list(node.due()):
            yield node, pod


def _record(node: NodeState, pod: PodState) -> None:
    if pod.outcome is not None and pod.outcome.kind in (ACCEPTED, GONE):
        node.pods.pop(pod.uid, None)
        if pod.outcome.kind == ACCEPTED:
            node.evicted.append(Evicted(pod, 0.0))
