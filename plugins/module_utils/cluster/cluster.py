# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nouns and verbs of a cluster that maintenance needs, each one request or a paged list."""

from __future__ import annotations

import difflib
from typing import Any
from urllib.parse import quote

from ..api.list_watch import Collection, Listed
from ..api.responses import is_absent, selector_fault
from ..api.rest import Rest
from ..errors import ApiError, Forbidden, InvalidOptions, MaintenanceError, NotFound, UnexpectedResponse
from ..objects import Obj, controller_of, identity_of, is_finished, is_mirror, mapping_at, name_of, namespace_of
from ..text import abbreviate
from .access import REVIEWS, Right, is_allowed, review_of
from .budgets import BudgetBook
from .eviction import deletion_of, eviction_of
from .json_patch import Operation
from .nodes import csi_drivers
from .pods import trimmed
from .volumes import Claim, Volume, claim_of, claims_of, volume_on

NODES = "/api/v1/nodes"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
CSI_NODES = "/apis/storage.k8s.io/v1/csinodes"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
# What an API server answers when it has taken an eviction or a deletion.
REMOVED = ("Status", "Pod", "Eviction")
# Statuses that mean that rights cannot be reviewed: the API is switched off, or a proxy does not let it through.
UNREVIEWED = (400, 403, 404, 405, 422)


class Cluster:
    """A Kubernetes cluster, spoken to in its own terms."""

    def __init__(self, rest: Rest, page_size: int = 500, pause: float = 5.0) -> None:
        self._rest = rest
        self._page_size = page_size
        self._pause = pause

    def node(self, name: str) -> Obj:
        """Return a node. An unknown name is the user's mistake, so the names most like it are given."""
        try:
            return self._node(name)
        except NotFound as exc:
            raise InvalidOptions("there is no node %r in this cluster%s" % (name, self._likely(name))) from exc

    def node_now(self, name: str) -> Obj | None:
        """Return a node as it is now, None if it left the cluster."""
        try:
            return self._node(name)
        except NotFound as exc:
            if is_absent(exc):
                return None
            raise

    def _node(self, name: str) -> Obj:
        if name in (".", ".."):
            # As part of a path these lead to another place.
            raise NotFound("no node can have the name %r" % name, 404, about={"name": name})
        found = self._rest.get(_path(NODES, name))
        if name_of(found) != name:
            # Else the node "" would be drained, and the pods with that node name are those that wait for a node.
            text = f"the response for node {name} is not that node, so it is not from a Kubernetes API server"
            raise UnexpectedResponse(f"{text}: correct the address", status=200)
        return found

    def nodes(self, selectors: list[str], option: str = "node_selectors") -> list[Obj]:
        """Return the nodes that match all label selectors, by name. option: where the selectors come from."""
        query = _labels(selectors)
        try:
            items = self._rest.list(NODES, query, self._page_size).items
        except ApiError as exc:
            raise selector_fault(exc, option, selectors) from exc
        return sorted(filter(name_of, items), key=name_of)

    def set_unschedulable(self, name: str, value: bool, dry_run: bool = False) -> Obj:
        """Cordon or uncordon a node and return it. null lifts the field, as kubectl does."""
        body = {"spec": {"unschedulable": True if value else None}}
        return self._rest.patch(_path(NODES, name), body, {"dryRun": "All"} if dry_run else None)

    def patch_node(self, name: str, patch: Obj, dry_run: bool = False) -> Obj:
        """Apply a merge patch that names the node's resourceVersion and return the node; Conflict if it is outdated."""
        return self._rest.patch(_path(NODES, name), patch, {"dryRun": "All"} if dry_run else None, versioned=True)

    def change_node(self, name: str, operations: list[Operation], dry_run: bool = False) -> Obj:
        """Apply a JSON patch and return the node; Conflict if what it rests on has changed."""
        return self._rest.patch(_path(NODES, name), operations, {"dryRun": "All"} if dry_run else None, versioned=True)

    def may(self, right: Right) -> bool | None:
        """Tell whether the account has a right; None if the API server does not say."""
        try:
            return is_allowed(self._rest.request("POST", REVIEWS, None, review_of(right)))
        except ApiError as exc:
            if exc.status not in UNREVIEWED:
                raise
            return None

    def pods_on(self, node: str, selectors: list[str]) -> Listed:
        """Return the node's pods, trimmed, that match all label selectors."""
        what = self.pods_collection(node, selectors)
        try:
            return Listed(*self._rest.list(what.path, what.query, what.page_size, what.keep))
        except ApiError as exc:
            raise selector_fault(exc, "pod_selectors", selectors) from exc

    def pods_and_node(self, name: str, selectors: list[str]) -> tuple[Listed, Obj | None]:
        """Return what is on a node and the node itself, None if it left the cluster."""
        return self.pods_on(name, selectors), self.node_now(name)

    def pods_left(self, node: str, wanted: frozenset[str]) -> list[Obj]:
        """Return those pods on a node, whatever their labels, that are of these identities."""
        if not wanted:
            return []
        return [pod for pod in self.pods_on(node, []).items if identity_of(pod) in wanted]

    def pods_besides(self, node: str, chosen: frozenset[str]) -> int:
        """Return how many pods on a node are not of these identities, without those that every drain leaves there."""
        others = [pod for pod in self.pods_on(node, []).items if identity_of(pod) not in chosen]
        return sum(not is_mirror(pod) and mapping_at(controller_of(pod)).get("kind") != "DaemonSet" for pod in others)

    def pods_collection(self, node: str, selectors: list[str]) -> Collection:
        """Return what to follow to know the node's pods."""
        query = dict({"fieldSelector": "spec.nodeName=" + node}, **_labels(selectors))

        def keep(pod: Obj) -> Obj:
            # If something on the way drops the query, the list holds the pods of all nodes.
            return trimmed(pod) if mapping_at(pod, "spec").get("nodeName") == node else {}

        return Collection("/api/v1/pods", query, self._page_size, self._pause, keep)

    def budgets_collection(self, namespace: str) -> Collection:
        """Return what to follow to know the disruption budgets of a namespace."""
        path = "/apis/policy/v1/namespaces/%s/poddisruptionbudgets" % quote(namespace, safe="")
        return Collection(path, {}, self._page_size, self._pause, without_managed_fields)

    def budget_books(self, namespaces: list[str]) -> tuple[dict[str, BudgetBook], str]:
        """Return the budgets of these namespaces, and why some could not be read ("" if all could).

        One list of all namespaces where that is allowed: few requests matter more than a few budgets too many.
        """
        books = {namespace: BudgetBook() for namespace in namespaces}
        try:
            listing = self._rest.list(BUDGETS, {}, self._page_size, without_managed_fields)
            for namespace, book in books.items():
                book.apply(Listed([budget for budget in listing.items if namespace_of(budget) == namespace]))
            return books, ""
        except Forbidden:
            return self._budget_books_one_by_one(books)

    def _budget_books_one_by_one(self, books: dict[str, BudgetBook]) -> tuple[dict[str, BudgetBook], str]:
        refused = ""
        for namespace in list(books):
            what = self.budgets_collection(namespace)
            try:
                books[namespace].apply(Listed(self._rest.list(what.path, {}, what.page_size, what.keep).items))
            except Forbidden as exc:
                del books[namespace]
                refused = exc.message
        return books, refused

    def attachments_collection(self) -> Collection:
        """Return what to follow to know which volumes are attached; the API cannot choose them by node."""
        return Collection(ATTACHMENTS, {}, self._page_size, self._pause, without_managed_fields)

    def volumes_left_on(self, node: str) -> list[Volume]:
        """Return the volumes that are attached to a node and that no pod which stays there uses."""
        pods = self._rest.list("/api/v1/pods", {"fieldSelector": "spec.nodeName=" + node}, self._page_size, trimmed)
        used = {claim for pod in pods.items if not is_finished(pod) for claim in claims_of(pod)}
        attachments = self._rest.list(ATTACHMENTS, {}, self._page_size, without_managed_fields).items
        volumes = [volume for volume in (volume_on(item, node) for item in attachments) if volume is not None]
        for volume in volumes:
            volume.claim = self._claim_on(volume.persistent_volume)
        return [volume for volume in volumes if volume.claim is None or volume.claim not in used]

    def _claim_on(self, volume: str) -> Claim | None:
        try:
            return claim_of(self._rest.get(_path("/api/v1/persistentvolumes", volume)))
        except (Forbidden, NotFound):
            return None

    def csi_drivers(self, node: str) -> list[str]:
        """Return the names of the storage drivers that are registered on the node; none if no driver ever was."""
        try:
            return csi_drivers(self._rest.get(_path(CSI_NODES, node)))
        except NotFound:
            return []

    def daemonset_exists(self, namespace: str, name: str) -> bool | None:
        """Tell whether a DaemonSet exists; None if the account may not know."""
        path = "/apis/apps/v1/namespaces/%s/daemonsets" % quote(namespace, safe="")
        try:
            self._rest.get(_path(path, name))
        except NotFound as exc:
            return False if is_absent(exc) else None
        except Forbidden:
            return None
        return True

    def remove_pod(self, pod: Obj, grace: int | None, evict: bool, dry_run: bool = False) -> None:
        """Evict a pod, or delete it past its budgets. Tried once: a refusal is raised for the drain to weigh."""
        path = _path("/api/v1/namespaces/%s/pods" % quote(namespace_of(pod), safe=""), name_of(pod))
        if evict:
            body = eviction_of(pod, grace, dry_run)
            answer = self._rest.request("POST", path + "/eviction", None, body, leave=(MaintenanceError,))
        else:
            body = deletion_of(pod, grace, dry_run)
            answer = self._rest.request("DELETE", path, None, body, leave=(MaintenanceError,))
        if answer.get("kind") not in REMOVED:
            # A pod of which something else said yes would be waited for in vain.
            raise UnexpectedResponse("the response to an eviction is not from a Kubernetes API server", status=200)

    def _likely(self, name: str) -> str:
        try:
            known = [name_of(node) for node in self.nodes([])]
        except MaintenanceError:
            return ""
        # A host's short name against a node's full one is the usual slip, and no edit distance finds it.
        short = [other for other in known if other.split(".")[0] == name.split(".")[0].lower()]
        near = short or difflib.get_close_matches(name, known, n=3)
        if near:
            return "; did you mean %s?" % ", ".join(near)
        return "; its nodes are %s" % abbreviate(known) if known else ""


def _path(collection: str, name: str) -> str:
    return "%s/%s" % (collection, quote(name, safe=""))


def _labels(selectors: list[str]) -> dict[str, Any]:
    return {"labelSelector": ",".join(selectors)} if selectors else {}


def without_managed_fields(obj: Obj) -> Obj:
    mapping_at(obj, "metadata").pop("managedFields", None)
    return obj
