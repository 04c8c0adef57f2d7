# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ResourceQuotas: what of them is used."""

from __future__ import annotations

from .. import admission, quantities
from ..objects import Object
from .pods import is_finished
from .workqueue import WorkQueue
from .world import World

Key = tuple[str, str]


class Quotas:
    """Keep status.hard and status.used of quotas; admission itself counts again for each pod."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)

    def observe(self, event: str, quota: Object, old: Object | None) -> None:
        """Handle a change of a quota."""
        self._queue.add((quota["metadata"]["namespace"], quota["metadata"]["name"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a pod that was added, ended or was deleted."""
        if event == "MODIFIED" and old is not None and is_finished(pod) == is_finished(old):
            return
        for quota in self._world.index.of_kind_in(pod["metadata"]["namespace"], "ResourceQuota"):
            self.observe("MODIFIED", quota, None)

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        quota = self._world.store.get("ResourceQuota", *key)
        if quota is None:
            return
        used = admission.used(quota, self._world.index.pods_in(key[0]))
        hard = quota["spec"].get("hard") or {}
        counted = {resource: quantities.written(value, resource) for resource, value in used.items()}
        self._world.report(quota, {"hard": dict(hard), "used": {**dict.fromkeys(hard, "0"), **counted}})
