# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty nodes with thirty pods each, five at once, under budgets that let one pod in three go.

What the budgets allow is reckoned as follows. An app of three pods with maxUnavailable 1 lets the next pod go when
the last one's replacement is Ready, START seconds after the eviction, as the replacement is made at once. A pod is
gone TERM seconds after its eviction. A node is drained when its last pod is gone; then the next node's turn comes.
No request, no answer and no controller takes any time in this reckoning.
"""

from __future__ import annotations

import heapq

import pytest

from kubesim import builders
from kubesim.objects import Object
from stage import ConcurrentScene

START, TERM = 5.0, 3.0
NODES = [f"w{number:02d}" for number in range(20)]
PARALLEL = 5
PODS = 600
# Which nodes the three pods of each of the 200 apps run on.
TOGETHER = {f"app-{n:03d}": [NODES[n // 10]] * 3 for n in range(200)}
APART = {f"app-{n:03d}": [NODES[(n + step) % 20] for step in (0, 7, 13)] for n in range(200)}


def allowed(places: dict[str, list[str]]) -> float:
    """Return how many seconds the budgets demand of a drain of all nodes that wastes no time."""
    free_at = dict.fromkeys(places, 0.0)
    slots = [0.0] * PARALLEL
    for node in NODES:
        began = last = heapq.heappop(slots)
        for app in [app for app, nodes in places.items() for other in nodes if other == node]:
            evicted = max(began, free_at[app])
            free_at[app] = evicted + START
            last = max(last, evicted + TERM)
        heapq.heappush(slots, last)
    return max(slots)


def app(name: str, nodes: list[str], start: float = START) -> list[Object]:
    owner = builders.replica_set(name, 3, start=start, term=TERM)
    return [owner, *builders.pods_of(owner, nodes), builders.budget(name, max_unavailable=1)]


@pytest.mark.parametrize("places", [TOGETHER, APART], ids=["together", "apart"])
def test_twenty_nodes_take_little_longer_than_their_budgets_demand_and_few_requests(
    places: dict[str, list[str]],
) -> None:
    objects = [obj for name, nodes in places.items() for obj in app(name, nodes)]
    scene = ConcurrentScene(*objects, nodes=(*NODES, *(f"spare-{n}" for n in range(10))))
    result = scene.run(name=NODES, max_parallel=PARALLEL)
    gone = sum(len(node["evicted"]) for node in result["nodes"])
    print(f"{scene.seconds} s of {allowed(places)} s, {len(scene.cluster.requests)} requests")
    assert (result["failed"], gone, scene.cluster.controllers.violations) == (False, PODS, [])
    assert scene.seconds <= 1.2 * allowed(places)
    assert len(scene.cluster.requests) <= 2 * PODS


def test_slow_replacements_cost_time_but_no_requests() -> None:
    scene = ConcurrentScene(*[obj for n in range(20) for obj in app(f"app-{n:02d}", ["w1"] * 3, start=60)])
    result = scene.run()
    print(f"{scene.seconds} s, {len(scene.cluster.requests)} requests")
    assert (result["failed"], len(result["nodes"][0]["evicted"])) == (False, 60)
    assert scene.seconds <= 1.2 * (2 * 60 + TERM)
    assert len(scene.cluster.requests) <= 2 * 60
