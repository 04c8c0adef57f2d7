# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name a permission as RBAC does, and review it as C(kubectl auth can-i) does.

https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
"""

from __future__ import annotations

from typing import NamedTuple

from ..objects import Obj, mapping_at

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Right(NamedTuple):
    """What an account may do. No namespace: in all of them; no name: to every object."""

    verb: str
    resource: str
    subresource: str = ""
    group: str = ""
    namespace: str = ""
    name: str = ""

    def text(self) -> str:
        """Return the right as text, such as "create pods/eviction in namespace shop"."""
        resource = "/".join(word for word in (self.resource, self.subresource) if word)
        name = f" {self.name!r}" if self.name else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {resource}{name}{where}"


CORDON = Right("patch", "nodes")
EVICT = Right("create", "pods", "eviction")
DETACH = Right("list", "volumeattachments", group="storage.k8s.io")
DELETE = Right("delete", "pods")


def review_of(right: Right) -> Obj:
    """Return the SelfSubjectAccessReview for the right."""
    attributes = {key: value for key, value in right._asdict().items() if value or key == "group"}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }


def is_allowed(review: Obj) -> bool:
    """Return whether the API server's response to a review grants the right."""
    return mapping_at(review, "status").get("allowed") is True
