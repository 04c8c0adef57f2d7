# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster tells of its nodes as a whole, for those who patch one after the other."""

from __future__ import annotations

from urllib.parse import quote

from .errors import Forbidden, NotFound
from .node_parts import csi_drivers
from .objects import Obj, name_of
from .pods import trimmed
from .rest import Rest
from .rights import REVIEWS, Right, is_allowed, review_of

NODES = "/api/v1/nodes"
CSI_NODES = "/apis/storage.k8s.io/v1/csinodes"
_PAGE = 500


class Fleet:
    """The nodes of a cluster and what runs on them. Pods come trimmed."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def nodes(self) -> list[Obj]:
        """Return all nodes, by name."""
        return sorted(self._rest.list(NODES, {}, _PAGE).items, key=name_of)

    def node(self, name: str) -> Obj | None:
        """Return a node, None if there is none of that name."""
        try:
            return self._rest.get("%s/%s" % (NODES, quote(name, safe="")))
        except NotFound:
            return None

    def pods_on(self, node: str) -> list[Obj]:
        """Return the node's pods."""
        return self._rest.list("/api/v1/pods", {"fieldSelector": "spec.nodeName=" + node}, _PAGE, trimmed).items

    def csi_drivers(self, node: str) -> list[str]:
        """Return the names of the storage drivers that are registered on the node; none if no driver ever was."""
        try:
            return csi_drivers(self._rest.get("%s/%s" % (CSI_NODES, quote(node, safe=""))))
        except NotFound:
            return []

    def annotate(self, name: str, patch: Obj, dry_run: bool = False) -> Obj:
        """Apply a merge patch that names the node's resourceVersion; Conflict if it is outdated."""
        query = {"dryRun": "All"} if dry_run else None
        return self._rest.patch("%s/%s" % (NODES, quote(name, safe="")), patch, query, versioned=True)

    def may(self, right: Right) -> bool | None:
        """Tell whether the account has a right; None if the API server does not say."""
        try:
            return is_allowed(self._rest.request("POST", REVIEWS, None, review_of(right)))
        except (Forbidden, NotFound):
            return None
