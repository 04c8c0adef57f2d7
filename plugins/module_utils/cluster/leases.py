# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write one Lease."""

from __future__ import annotations

from ..api.responses import is_absent
from ..api.rest import Rest
from ..errors import Conflict, InvalidOptions, NotFound
from ..objects import Obj, uid_of, version_of
from .paths import item_path, namespaced_path


class LeaseStore:
    """One Lease. Writes carry the resourceVersion that was read, and raise Conflict if it is outdated."""

    def __init__(self, rest: Rest, namespace: str, name: str, check_mode: bool = False) -> None:
        self._rest = rest
        self._namespace = namespace
        self._collection = namespaced_path("coordination.k8s.io/v1", namespace, "leases")
        self._path = item_path(self._collection, name)
        self._query = {"dryRun": "All"} if check_mode else None
        self._check_mode = check_mode

    def get(self) -> Obj | None:
        """Return the Lease, None if it does not exist."""
        try:
            return self._rest.get(self._path)
        except NotFound as exc:
            if is_absent(exc):
                return None
            raise

    def create(self, lease: Obj) -> Obj:
        """Create the Lease; Conflict if it exists already."""
        try:
            return self._rest.request("POST", self._collection, self._query, lease, leave=(Conflict,))
        except NotFound as exc:
            if not is_absent(exc):
                raise
            raise InvalidOptions(f"there is no namespace {self._namespace} for the lock") from exc

    def change(self, patch: Obj) -> Obj:
        """Apply a merge patch."""
        return self._rest.patch(self._path, patch, self._query, versioned=True)

    def delete(self, lease: Obj) -> None:
        """Delete the Lease that was read; Conflict if it was changed or replaced since."""
        body: Obj = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid_of(lease), "resourceVersion": version_of(lease)},
        }
        if self._check_mode:
            body["dryRun"] = ["All"]
        try:
            self._rest.request("DELETE", self._path, None, body, leave=(Conflict,))
        except NotFound as exc:
            if not is_absent(exc):
                raise
