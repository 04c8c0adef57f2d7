# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name a right as RBAC does, and ask for it as the API does.

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
        """Return the right in words, such as "create pods/eviction in namespace shop"."""
        what = "/".join(word for word in (self.resource, self.subresource) if word)
        where = " in namespace %s" % self.namespace if self.namespace else ""
        return "%s %s%s%s" % (self.verb, what, " %r" % self.name if self.name else "", where)


CORDON = Right("patch", "nodes")
EVICT = Right("create", "pods", "eviction")
DETACH = Right("list", "volumeattachments", group="storage.k8s.io")
DELETE = Right("delete", "pods")


def review_of(right: Right) -> Obj:
    """Return the SelfSubjectAccessReview that asks for the right."""
    attributes = {key: value for key, value in right._asdict().items() if value or key == "group"}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }


def is_allowed(review: Obj) -> bool:
    """Tell what an answered review says."""
    return mapping_at(review, "status").get("allowed") is True
