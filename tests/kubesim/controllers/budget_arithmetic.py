# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many healthy pods a budget wants, as the disruption controller reckons it."""

from __future__ import annotations

from dataclasses import dataclass

from ..objects import Object, controller_of
from .amounts import resolve
from .deployment_scale import replicas_of
from .world import World

_SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")


class UnknownScale(Exception):
    """A pod's controller does not say how many pods there should be."""


@dataclass(frozen=True)
class Demand:
    """How many pods there should be, and how many of them must be healthy."""

    expected: int
    desired: int


def demand_of(world: World, budget: Object, members: list[Object]) -> Demand:
    """Return what a budget wants of the pods it selects; all but a number for minAvailable needs their scale."""
    spec = budget.get("spec") or {}
    if spec.get("maxUnavailable") is not None:
        expected = _scale(world, members)
        # percentages are rounded up: in favour of the budget for minAvailable, of the eviction for this one
        return Demand(expected, max(expected - resolve(spec["maxUnavailable"], expected, round_up=True), 0))
    minimum = spec.get("minAvailable")
    if minimum is None:
        return Demand(len(members), 0)
    if isinstance(minimum, int):
        return Demand(len(members), minimum)
    expected = _scale(world, members)
    return Demand(expected, resolve(minimum, expected, round_up=True))


def _scale(world: World, members: list[Object]) -> int:
    """Return the sum of the scales of the pods' controllers; pods without one count nothing."""
    owners: set[str] = set()
    scales: dict[str, int] = {}
    for pod in members:
        owner = controller_of(pod)
        if owner is None or owner["uid"] in owners:
            continue
        owners.add(owner["uid"])
        scaled = _scaled(world, pod, owner)
        scales[scaled["metadata"]["uid"]] = replicas_of(scaled)  # ReplicaSets of one Deployment count once
    return sum(scales.values())


def _scaled(world: World, pod: Object, owner: Object) -> Object:
    """Return the object whose spec.replicas counts for the pod: a ReplicaSet's Deployment before the ReplicaSet."""
    namespace = pod["metadata"]["namespace"]
    if owner["kind"] not in _SCALED:
        if owner["kind"] in ("DaemonSet", "Job", "Node"):
            raise UnknownScale(f"{_plural(owner['kind'])} does not implement the scale subresource")
        raise UnknownScale(f'found no controllers for pod "{pod["metadata"]["name"]}"')
    found = world.store.get(owner["kind"], namespace, owner["name"])
    if found is None or found["metadata"]["uid"] != owner["uid"]:
        raise UnknownScale(f'found no controllers for pod "{pod["metadata"]["name"]}"')
    above = controller_of(found)
    if above is not None and above["kind"] == "Deployment":
        deployment = world.store.get("Deployment", namespace, above["name"])
        if deployment is not None and deployment["metadata"]["uid"] == above["uid"]:
            return deployment
    return found


def _plural(kind: str) -> str:
    return {"DaemonSet": "daemonsets.apps", "Job": "jobs.batch", "Node": "nodes"}[kind]
