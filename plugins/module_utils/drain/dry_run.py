# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go through a drain without changing anything: each eviction is sent as a server-side dry run, once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..cluster.cluster import Cluster
from ..cluster.eviction import ACCEPTED, GONE, RETRY, outcome_of
from ..objects import identity_of
from ..runtime.clock import Clock, Deadline
from ..runtime.workers import Workers
from .node import DRAINED, FAILED, Evicted, NodeState
from .options import DrainTask
from .pod import BLOCKED, LOST, PodState

# A passing fault must not make a forecast wrong, and a forecast must not wait long.
TRIES = 3


def rehearse(
    cluster: Cluster, crew: Workers, clock: Clock, deadline: Deadline, task: DrainTask, nodes: list[NodeState]
) -> None:
    """Ask for every eviction as a dry run and note in the nodes what would go and what would be held.

    The server books nothing in a dry run, so several pods of one budget may all be let through here.
    """
    waiting = _all_due(nodes)
    under_way: dict[str, tuple[NodeState, PodState]] = {}
    while not deadline.expired():
        while len(under_way) < task.eviction_concurrency:
            following = next(waiting, None)
            if following is None:
                break
            node, drain = following
            under_way[identity_of(drain.pod)] = following
            drain.sent(clock.monotonic(), "")
            removal = partial(cluster.remove_pod, drain.pod, task.grace, task.evict, dry_run=True)
            crew.start(("dry", identity_of(drain.pod)), removal)
        if not under_way:
            break
        for message in crew.receive(deadline.remaining()):
            node, drain = under_way[message.tag[1]]
            drain.answered(outcome_of(message.error), clock.monotonic(), task.wait_sleep, 1.0)
            if drain.outcome is not None and drain.outcome.kind == RETRY and drain.attempts < TRIES:
                drain.sent(clock.monotonic(), "")
                crew.start(message.tag, partial(cluster.remove_pod, drain.pod, task.grace, task.evict, dry_run=True))
                continue
            del under_way[message.tag[1]]
            _note(node, drain)
    for node in nodes:
        node.phase = FAILED if node.sorted_pods(LOST, BLOCKED) else DRAINED


def _all_due(nodes: list[NodeState]) -> Iterator[tuple[NodeState, PodState]]:
    for node in nodes:
        for drain in list(node.due()):
            yield node, drain


def _note(node: NodeState, drain: PodState) -> None:
    if drain.outcome is not None and drain.outcome.kind in (ACCEPTED, GONE):
        node.pods.pop(identity_of(drain.pod), None)
        if drain.outcome.kind == ACCEPTED:
            node.evicted.append(Evicted(drain, 0.0))
