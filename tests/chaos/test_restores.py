# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores of etcd, lost labels, broken watches and refused lists, all in one drain whose answers overtake each other.

Each case is drawn from a seed, which a failure names.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from drain.situations import app
from kubesim import builders
from stage import ConcurrentScene

NAMES = "abcde"
LIST = r"/api/v1/pods\?(?!.*watch)"


def labelled(draw: random.Random) -> list[dict[str, Any]]:
    """Return pods a-0 to e-0 with the label tier=a, which end sooner or later, and a budget that holds the first."""
    objects = [obj for name in NAMES for obj in app(name, term=draw.choice([1, 5, 20]))]
    for obj in objects:
        if obj["kind"] == "Pod":
            obj["metadata"]["labels"]["tier"] = "a"
    return [*objects, builders.budget("b", selector={"app": "a"}, min_available=1)]


def unlabel(scene: ConcurrentScene, name: str) -> None:
    """Take the label from a pod if there still is one."""
    if scene.store.get("Pod", "default", name) is not None:
        scene.store.mutate("Pod", "default", name, lambda pod: pod["metadata"]["labels"].pop("tier", None))


def trouble(scene: ConcurrentScene, draw: random.Random) -> None:
    """Plan what goes wrong."""
    for name in NAMES:
        if draw.random() < 0.5:
            scene.agenda.after(draw.uniform(0, 15), partial(unlabel, scene, name + "-0"))
    for _restore in range(draw.choice([0, 1, 2])):
        scene.agenda.after(draw.uniform(0.1, 25), partial(scene.cluster.restore, draw.choice([50, 300])))
    watch = draw.choice(["expire", "silent", "end:2", "drop:1", ""])
    scene.faults.add({"path": "watch=true", "watch": watch, "times": draw.choice([1, 3])})
    status = draw.choice([403, 404, 500, 503])
    scene.faults.add({"method": "GET", "path": LIST, "after": 2, "times": draw.choice([1, 2]), "status": status})
    scene.agenda.after(12, partial(scene.store.delete, "PodDisruptionBudget", "default", "b"))


@pytest.mark.parametrize("seed", range(30))
def test_a_drain_ends_with_nothing_that_still_goes(seed: int) -> None:
    draw = random.Random(seed)
    scene = ConcurrentScene(*labelled(draw), seed=seed)
    trouble(scene, draw)
    result = scene.run(pod_selectors=draw.choice([None, ["tier=a"]]), delete_options={"wait_timeout": 200})
    going = [pod for pod in scene.store.list("Pod") if pod["metadata"].get("deletionTimestamp")]
    assert (result["failed"], going, result["pending_pods"]) == (False, [], [])
