# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many pods each ReplicaSet of a Deployment gets."""

from __future__ import annotations

from typing import Any

from ..objects import Object
from .amounts import resolve
from .templates import same_template
from .world import World

REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"


def revision_of(obj: Object) -> int:
    """Return the revision annotation as a number, 0 without one."""
    text = (obj["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def replicas_of(obj: Object) -> int:
    """Return spec.replicas, whose default is 1."""
    value = obj["spec"].get("replicas")
    return 1 if value is None else int(value)


def _status(obj: Object, key: str) -> int:
    return int((obj.get("status") or {}).get(key) or 0)


def _age(replica_set: Object) -> tuple[str, str]:
    return replica_set["metadata"]["creationTimestamp"], replica_set["metadata"]["name"]


class ReplicaSetsOf:
    """The ReplicaSets of one Deployment, read from the store at each question."""

    def __init__(self, world: World, deployment: Object) -> None:
        self._world = world
        self._key = (deployment["metadata"]["namespace"], deployment["metadata"]["name"])
        self._last = deployment

    @property
    def deployment(self) -> Object:
        """The Deployment as it is stored now."""
        self._last = self._world.store.get("Deployment", *self._key) or self._last
        return self._last

    def all(self) -> list[Object]:
        """Return all of them, oldest first."""
        return sorted(self._world.index.owned(self._last["metadata"]["uid"], "ReplicaSet"), key=_age)

    def new(self) -> Object | None:
        """Return the one whose template is the Deployment's, the oldest where several are."""
        template = self.deployment["spec"]["template"]
        return next((found for found in self.all() if same_template(found["spec"]["template"], template)), None)

    def old(self) -> list[Object]:
        """Return all but the new one, oldest first."""
        new = self.new()
        return [found for found in self.all() if new is None or found["metadata"]["uid"] != new["metadata"]["uid"]]

    def active(self) -> list[Object]:
        """Return those that ask for pods."""
        return [found for found in self.all() if replicas_of(found) > 0]

    def is_scaling(self) -> bool:
        """Return whether spec.replicas of the Deployment changed since its ReplicaSets were last scaled."""
        wanted = str(replicas_of(self.deployment))
        for found in self.active():
            recorded = (found["metadata"].get("annotations") or {}).get(DESIRED)
            if recorded is not None and recorded != wanted:
                return True
        return False

    def set_replicas(self, replica_set: Object, count: int) -> bool:
        """Scale one of them; False when it has that size and says so already."""
        deployment = self.deployment
        notes = {DESIRED: str(replicas_of(deployment)), MAXIMUM: str(replicas_of(deployment) + surge(deployment))}
        resized = replicas_of(replica_set) != count

        def resize(obj: Object) -> None:
            obj["spec"]["replicas"] = count
            obj["metadata"].setdefault("annotations", {}).update(notes)

        self._world.change(replica_set, resize)
        if resized:
            self.say_scaled(replica_set, replicas_of(replica_set), count)
        return resized

    def say_scaled(self, replica_set: Object, before: int, after: int) -> None:
        """Record that a ReplicaSet was scaled."""
        way, name = "up" if after > before else "down", replica_set["metadata"]["name"]
        words = f"Scaled {way} replica set {name} from {before} to {after}"
        self._world.record(self.deployment, "ScalingReplicaSet", words, "deployment-controller")


def _fence_posts(deployment: Object) -> tuple[int, int]:
    """Return maxSurge (rounded up) and maxUnavailable (rounded down); never both 0."""
    rolling: dict[str, Any] = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    total = replicas_of(deployment)
    more = resolve(rolling.get("maxSurge", "25%"), total, round_up=True)
    fewer = resolve(rolling.get("maxUnavailable", "25%"), total, round_up=False)
    return more, 1 if not more and not fewer else fewer


def is_rolling(deployment: Object) -> bool:
    """Return whether the strategy is RollingUpdate, which is the default."""
    return bool((deployment["spec"].get("strategy") or {}).get("type", "RollingUpdate") == "RollingUpdate")


def surge(deployment: Object) -> int:
    """Return how many pods above spec.replicas there may be."""
    return _fence_posts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    """Return how many of spec.replicas may be unavailable."""
    if not is_rolling(deployment) or not replicas_of(deployment):
        return 0
    return min(_fence_posts(deployment)[1], replicas_of(deployment))


def new_size(sets: ReplicaSetsOf, current: int) -> int:
    """Return the size that the new ReplicaSet may grow to, given its present one."""
    deployment = sets.deployment
    wanted = replicas_of(deployment)
    if not is_rolling(deployment):
        return wanted
    room = wanted + surge(deployment) - sum(replicas_of(found) for found in sets.all())
    return current + min(max(room, 0), max(wanted - current, 0))


def grow_new(sets: ReplicaSetsOf) -> bool:
    """Scale the new ReplicaSet towards spec.replicas; return whether it changed."""
    new = sets.new()
    if new is None:
        return False
    current, wanted = replicas_of(new), replicas_of(sets.deployment)
    if current == wanted:
        return False
    if current > wanted:
        return sets.set_replicas(new, wanted)
    return sets.set_replicas(new, new_size(sets, current))


def shrink_old(sets: ReplicaSetsOf) -> bool:
    """Scale old ReplicaSets down as far as availability allows, unhealthy pods first; return whether any changed."""
    old = sets.old()
    if not sum(replicas_of(found) for found in old):
        return False
    deployment, new = sets.deployment, sets.new()
    minimum = replicas_of(deployment) - max_unavailable(deployment)
    total = sum(replicas_of(found) for found in sets.all())
    new_unavailable = max(replicas_of(new) - _status(new, "availableReplicas"), 0) if new else 0
    room = total - minimum - new_unavailable
    if room <= 0:
        return False
    changed = False
    for found in old:
        unhealthy = replicas_of(found) - _status(found, "availableReplicas")
        step = min(room, max(unhealthy, 0), replicas_of(found))
        if step > 0:
            changed = sets.set_replicas(found, replicas_of(found) - step) or changed
            room -= step
    surplus = sum(_status(found, "availableReplicas") for found in sets.all()) - minimum
    for found in sets.old():
        step = min(max(surplus, 0), replicas_of(found))
        if step > 0:
            changed = sets.set_replicas(found, replicas_of(found) - step) or changed
            surplus -= step
    return changed


def stop_old(sets: ReplicaSetsOf) -> bool:
    """Scale all old ReplicaSets to 0; return whether any changed."""
    running = [found for found in sets.old() if replicas_of(found)]
    for found in running:
        sets.set_replicas(found, 0)
    return bool(running)


def rescale(sets: ReplicaSetsOf) -> None:
    """Follow a changed spec.replicas: the only active ReplicaSet takes it all, several share it in proportion."""
    active, new = sets.active(), sets.new()
    wanted = replicas_of(sets.deployment)
    if len(active) <= 1:
        only = active[0] if active else new or next(reversed(sets.all()), None)
        if only is not None:
            sets.set_replicas(only, wanted)
        return
    if new is not None and replicas_of(new) == wanted == _status(new, "availableReplicas"):
        stop_old(sets)
        return
    if is_rolling(sets.deployment):
        _share(sets, active)


def _share(sets: ReplicaSetsOf, active: list[Object]) -> None:
    wanted = replicas_of(sets.deployment)
    allowed = wanted + surge(sets.deployment) if wanted else 0
    total = sum(replicas_of(found) for found in active)
    left = allowed - total
    biggest_first = sorted(active, key=lambda found: (-replicas_of(found), _age(found)), reverse=False)
    if left > 0:
        biggest_first.sort(key=lambda found: (-replicas_of(found), tuple(reversed(_age(found)))))
    sizes = {}
    for found in biggest_first:
        size = replicas_of(found)
        recorded = (found["metadata"].get("annotations") or {}).get(MAXIMUM, str(total))
        fair = round(size * allowed / max(int(recorded), 1)) - size
        step = max(min(fair, left), 0) if left > 0 else min(max(fair, left), 0)
        sizes[found["metadata"]["name"]] = size + step
        left -= step
    first = biggest_first[0]["metadata"]["name"]
    sizes[first] = max(sizes[first] + left, 0)
    for found in biggest_first:
        sets.set_replicas(found, sizes[found["metadata"]["name"]])
