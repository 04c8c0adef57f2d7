# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until the volumes of drained pods are detached from their nodes."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..api.list_watch import Changed, Listed, Subscription
from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..cluster.volumes import Volume
from ..errors import MaintenanceError
from ..objects import identity_of
from ..runtime.workers import Workers
from .node import NodeState, Phase


class VolumeDetach:
    """The cluster's VolumeAttachments, watched from the first node on that has volumes to be detached."""

    def __init__(self, cluster: Cluster, rest: Rest, workers: Workers) -> None:
        self._cluster = cluster

        self._workers = workers
        self._attached: set[str] | None = None  # None: the watch has not been started
        self._watch = Subscription(workers, ("attachments", ""), rest, cluster.attachments_collection())

    def start(self, node: NodeState) -> None:
        """List the volumes that the drained pods of a node have left attached."""
        node.enter(Phase.DETACHING)
        self._workers.start(("volumes", node.name), partial(self._cluster.volumes_left_on, node.name))

    def on_volumes_listed(self, node: NodeState, volumes: list[Volume]) -> None:
        """Store a node's volumes; start the watch if they are the first ones."""
        node.volumes = volumes
        if volumes and self._attached is None:
            self._attached = {volume.uid for volume in volumes}
            self._watch.start()

    def on_watch_error(self, error: MaintenanceError) -> bool:
        """Watch again after a delay, return whether the error allows that."""
        return self._watch.retry(error)

    def on_watch_event(self, event: Any, nodes: list[NodeState]) -> None:
        """Apply a list of attachments or a change to the volumes of all nodes."""
        if isinstance(event, Listed):
            self._attached = {identity_of(attachment) for attachment in event.items}
        elif isinstance(event, Changed) and self._attached is not None:
            change = self._attached.discard if event.type == "DELETED" else self._attached.add
            change(identity_of(event.obj))
        for volume in [volume for node in nodes for volume in node.volumes or []]:
            volume.detached = self._attached is not None and volume.uid not in self._attached

    @staticmethod
    def is_done(node: NodeState) -> bool:
        """Return whether none of the node's volumes is attached any more."""
        return node.volumes is not None and all(volume.detached for volume in node.volumes)
