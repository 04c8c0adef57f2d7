# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until the volumes of drained pods are off their nodes."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

from ..api.list_watch import Changed, Listed, list_and_watch
from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..cluster.volumes import Volume
from ..objects import identity_of
from ..runtime.workers import Pause, Workers
from .node import DETACHING, NodeState


class VolumeDetach:
    """The VolumeAttachments of the cluster, followed from the first node on that has volumes to be detached."""

    def __init__(self, cluster: Cluster, rest: Rest, crew: Workers) -> None:
        self._cluster = cluster
        self._rest = rest
        self._crew = crew
        self._attached: set[str] | None = None

    def begin(self, node: NodeState) -> None:
        """Ask which volumes the drained pods of a node have left attached."""
        node.phase = DETACHING
        self._crew.start(("volumes", node.name), partial(self._cluster.volumes_left_on, node.name))

    def found(self, node: NodeState, volumes: list[Volume]) -> None:
        """Take in a node's volumes."""
        node.volumes = volumes
        if volumes and self._attached is None:
            self._attached = {volume.uid for volume in volumes}
            self.follow()

    def follow(self, *before: Pause) -> None:
        """Follow the attachments, after a pause if one is given."""
        what = self._cluster.attachments_collection()
        self._crew.follow(("attachments", ""), chain(before, list_and_watch(self._rest, what)))

    def apply(self, news: Any, nodes: list[NodeState]) -> None:
        """Take in a list of attachments or a change."""
        if isinstance(news, Listed):
            self._attached = {identity_of(attachment) for attachment in news.items}
        elif isinstance(news, Changed) and self._attached is not None:
            change = self._attached.discard if news.type == "DELETED" else self._attached.add
            change(identity_of(news.obj))
        for volume in [volume for node in nodes for volume in node.volumes or []]:
            volume.detached = self._attached is not None and volume.uid not in self._attached

    @staticmethod
    def done(node: NodeState) -> bool:
        """Tell whether no volume is left that is waited for."""
        return node.volumes is not None and all(volume.detached for volume in node.volumes)
