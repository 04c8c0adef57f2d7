# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters to begin with: lists of objects for `store.load`, come to rest before they are handed out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import builders
from .agenda import Agenda
from .controllers.wiring import Controllers
from .objects import Object
from .store import Store

# The objects look as if they had been there for a while.
AGE_SECONDS = 600.0
# Time enough for controllers to make pods after a change, and too little for any pod to start.
BEGUN_SECONDS = 0.1
_MADE_BY_EVERY_CLUSTER = ("default", "kube-node-lease", "kube-public", "kube-system")
_STATIC_PODS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_EVERYWHERE: list[Object] = [{"operator": "Exists"}]
# A Job whose pods are evicted by a drain goes on as if nothing had happened.
_IGNORE_EVICTIONS: Object = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}


def scenario(name: str, now: float | None = None) -> list[Object]:
    """Return a scenario by its name; `now` is the clock of the cluster it is for.

    Numbers may be given after it: `deployments:count=2000,start_seconds=5`. ValueError for what there is not.
    """
    name, _colon, given = name.partition(":")
    if name not in SCENARIOS:
        raise ValueError(f"no scenario {name!r}; there are {', '.join(sorted(SCENARIOS))}")
    numbers: dict[str, Any] = {}
    for pair in filter(None, given.split(",")):
        key, _equals, value = pair.partition("=")
        numbers[key] = float(value) if "." in value else int(value)
    try:
        return SCENARIOS[name](now=now, **numbers)
    except TypeError:
        raise ValueError(f"scenario {name!r} has no number among {', '.join(numbers)}") from None


def settled(
    objects: list[Object], now: float | None = None, disturb: Callable[[Store], None] | None = None
) -> list[Object]:
    """Let controllers and kubelets work on the objects until they rest, and return everything there is then.

    `disturb` changes something at the very end: controllers have just begun to follow.
    """
    now = time.time() if now is None else now
    agenda = Agenda(now - AGE_SECONDS)
    # a seed of its own: the cluster that loads the objects must not draw the same uids again
    store = Store(agenda, seed=2)
    controllers = Controllers(store, agenda)
    store.load(objects)
    if disturb is not None:
        agenda.advance_to(now - BEGUN_SECONDS)
        disturb(store)
    agenda.advance_to(now)
    controllers.stop()
    everything = [obj for kind in store.kinds() for obj in store.list(kind) if kind != "Event"]
    return [
        obj for obj in everything if obj["kind"] != "Namespace" or obj["metadata"]["name"] not in _MADE_BY_EVERY_CLUSTER
    ]


def workers(count: int, pods: int = 110) -> list[Object]:
    """Return nodes worker-1, worker-2..."""
    return [
        builders.node(f"worker-{number}", address=f"10.0.0.{10 + number}", pods=pods) for number in range(1, count + 1)
    ]


def demo(now: float | None = None) -> list[Object]:
    """A small company: a control plane, four workers, a shop, its data, a nightly report; 40 pods."""
    control = builders.node("control-1", control_plane=True, address="10.0.0.10")
    static = [
        builders.pod(f"{name}-control-1", "kube-system", node_name="control-1", mirror=True) for name in _STATIC_PODS
    ]
    pace: dict[str, Any] = {"start": 1, "term": 2}
    return settled(
        [
            control,
            *workers(4),
            *static,
            builders.daemon_set("node-agent", "kube-system", tolerations=_EVERYWHERE, start=0.5, term=1),
            builders.deployment("web", 14, "shop", **pace),
            builders.budget("web", "shop", max_unavailable=3),
            builders.deployment("api", 10, "shop", **pace),
            builders.budget("api", "shop", min_available="80%"),
            builders.stateful_set("orders", 5, "data", **pace),
            builders.budget("orders", "data", max_unavailable=1),
            builders.job("report", "data", failure_policy=_IGNORE_EVICTIONS, **pace),
            builders.pod("migration", "shop", node_name="worker-2", phase="Succeeded", restart_policy="Never"),
        ],
        now,
    )


def bench_full_node(pods: int = 110, term_seconds: float = 2.0, now: float | None = None) -> list[Object]:
    """One Deployment whose pods are all on worker-1, gone `term_seconds` after their eviction; three empty workers."""
    load = builders.deployment("load", pods, "bench", term=term_seconds)
    return _on_first_worker([load], pods, now)


def bench_budget(pods: int = 30, allowed: int = 3, term_seconds: float = 2.0, now: float | None = None) -> list[Object]:
    """One Deployment on worker-1 behind a budget that lets `allowed` of its pods go at a time; three empty workers."""
    guarded = builders.deployment("guarded", pods, "bench", term=term_seconds)
    budget = builders.budget("guarded", "bench", max_unavailable=allowed)
    return _on_first_worker([guarded, budget], pods, now)


def bench_deployments(count: int = 200, start_seconds: float = 1.0, now: float | None = None) -> list[Object]:
    """Many Deployments of one pod in one namespace, on four workers, all labelled bench=rollout.

    A new image rolls out in `start_seconds`.
    """
    return settled(_deployments(count, start_seconds), now)


def bench_rolling(count: int = 200, finish_seconds: float = 5.0, now: float | None = None) -> list[Object]:
    """The same Deployments, all in the middle of a rollout that ends `finish_seconds` after they are loaded."""

    def roll(store: Store) -> None:
        for deployment in store.list("Deployment", "bench"):
            store.mutate("Deployment", "bench", deployment["metadata"]["name"], _set_image)

    return settled(_deployments(count, finish_seconds), now, roll)


def _deployments(count: int, start_seconds: float) -> list[Object]:
    made = []
    for number in range(count):
        labels = {"app": f"app-{number:03}", "bench": "rollout"}
        made.append(builders.deployment(f"app-{number:03}", 1, "bench", labels=labels, start=start_seconds, term=0.5))
    return [*workers(4, pods=2 * count + 50), *made]


def _set_image(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/app:2"


def bench_drained(now: float | None = None) -> list[Object]:
    """Nothing left to do: worker-1 is cordoned and only runs its agent."""
    drained = builders.node("worker-1", unschedulable=True, address="10.0.0.11")
    agent = builders.daemon_set("node-agent", "kube-system", tolerations=_EVERYWHERE)
    return settled([*workers(4), drained, agent, builders.deployment("web", 12, "shop")], now)


def _on_first_worker(objects: list[Object], pods: int, now: float | None) -> list[Object]:
    """Settle objects while there is only worker-1, then add workers 2 to 4."""
    first, *others = workers(4, pods=pods + 50)
    drivers = [builders.csi_node(other["metadata"]["name"]) for other in others]
    return [*others, *drivers, *settled([first, *objects], now)]


SCENARIOS: dict[str, Callable[..., list[Object]]] = {
    "demo": demo,
    "full-node": bench_full_node,
    "budget": bench_budget,
    "deployments": bench_deployments,
    "rolling": bench_rolling,
    "drained": bench_drained,
}
