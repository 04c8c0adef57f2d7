# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests about nodes, pods, budgets and volumes. Each method is one request or a paged list unless it says more."""

from __future__ import annotations

import difflib
from typing import Any

from ..api.list_watch import Collection, Listed
from ..api.responses import is_absent, selector_fault
from ..api.rest import Rest
from ..errors import ApiError, Forbidden, InvalidOptions, MaintenanceError, NotFound, UnexpectedResponse
from ..objects import Obj, controller_of, identity_of, is_finished, is_mirror, mapping_at, name_of, namespace_of
from ..text import abbreviate
from .access import REVIEWS, Right, is_allowed, review_of
from .budgets import NamespaceBudgets
from .eviction import deletion_body, eviction_body
from .json_patch import Operation
from .nodes import csi_drivers
from .paths import item_path, namespaced_path
from .pods import trimmed
from .volumes import Claim, Volume, claim_of, claims_of, volume_on

NODES = "/api/v1/nodes"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
CSI_NODES = "/apis/storage.k8s.io/v1/csinodes"
BUDGETS = "/apis/policy/v1/poddisruptionbudgets"
# Kinds of response when an eviction or deletion was accepted.
REMOVED = ("Status", "Pod", "Eviction")
# Statuses when rights cannot be reviewed: the API is disabled, or a proxy blocks it.
UNREVIEWED = (400, 403, 404, 405, 422)


class Cluster:
    """A Kubernetes cluster. page_size, pause: of lists, see list_watch.Collection."""

    def __init__(self, rest: Rest, page_size: int = 500, pause: float = 5.0) -> None:
        self._rest = rest
        self._page_size = page_size
        self._pause = pause

    def node(self, name: str) -> Obj:
        """Return a node; InvalidOptions, with similar names, if it does not exist."""
        try:
            return self._node(name)
        except NotFound as exc:
            raise InvalidOptions(f"there is no node {name!r} in this cluster{self._likely(name)}") from exc

    def node_now(self, name: str) -> Obj | None:
        """Return a node, None if it does not exist."""
        try:
            return self._node(name)
        except NotFound as exc:
            if is_absent(exc):
                return None
            raise

    def _node(self, name: str) -> Obj:
        if name in (".", ".."):
            # In a path they would address something else.
            raise NotFound(f"no node can have the name {name!r}", 404, about={"name": name})
        found = self._rest.get(item_path(NODES, name))
        if name_of(found) != name:
            # A node named "" would select the pods that are not scheduled yet.
            text = f"the response for node {name} is another object, so it is not from a Kubernetes API server"
            raise UnexpectedResponse(f"{text}: correct the address", status=200)
        return found

    def nodes(self, selectors: list[str], option: str = "node_selectors") -> list[Obj]:
        """Return the nodes that match all label selectors, by name. option: named in errors."""
        query = _labels(selectors)
        try:
            items = self._rest.list(NODES, query, self._page_size).items
        except ApiError as exc:
            raise selector_fault(exc, option, selectors) from exc
        return sorted(filter(name_of, items), key=name_of)

    def set_unschedulable(self, name: str, value: bool, dry_run: bool = False) -> Obj:
        """Cordon or uncordon a node and return it. Uncordoning removes the field, as kubectl does."""
        body = {"spec": {"unschedulable": True if value else None}}
        return self._rest.patch(item_path(NODES, name), body, {"dryRun": "All"} if dry_run else None)

    def patch_node(self, name: str, patch: Obj, dry_run: bool = False) -> Obj:
        """Apply a merge patch that contains a resourceVersion and return the node; Conflict if that is outdated."""
        return self._rest.patch(item_path(NODES, name), patch, {"dryRun": "All"} if dry_run else None, versioned=True)

    def change_node(self, name: str, operations: list[Operation], dry_run: bool = False) -> Obj:
        """Apply a JSON patch and return the node; Conflict if what it rests on has changed."""
        return self._rest.patch(
            item_path(NODES, name), operations, {"dryRun": "All"} if dry_run else None, versioned=True
        )

    def may(self, right: Right) -> bool | None:
        """Return whether the account has a right; None if that cannot be reviewed."""
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
        """Return the pods of a node, and the node, None if it does not exist."""
        return self.pods_on(name, selectors), self.node_now(name)

    def pods_left(self, node: str, wanted: frozenset[str]) -> list[Obj]:
        """Return the pods on a node with these identities (uids), whatever their labels."""
        if not wanted:
            return []
        return [pod for pod in self.pods_on(node, []).items if identity_of(pod) in wanted]

    def pods_besides(self, node: str, chosen: frozenset[str]) -> int:
        """Count the pods on a node with other identities, without those that every drain skips."""
        others = [pod for pod in self.pods_on(node, []).items if identity_of(pod) not in chosen]
        return sum(not is_mirror(pod) and mapping_at(controller_of(pod)).get("kind") != "DaemonSet" for pod in others)

    def pods_collection(self, node: str, selectors: list[str]) -> Collection:
        """Return the collection of the node's pods, to watch."""
        query = dict({"fieldSelector": "spec.nodeName=" + node}, **_labels(selectors))

        def keep(pod: Obj) -> Obj:
            # A proxy that drops the query would return the pods of all nodes.
            return trimmed(pod) if mapping_at(pod, "spec").get("nodeName") == node else {}

        return Collection("/api/v1/pods", query, self._page_size, self._pause, keep)

    def budgets_collection(self, namespace: str) -> Collection:
        """Return the collection of a namespace's budgets, to watch."""
        path = namespaced_path("policy/v1", namespace, "poddisruptionbudgets")
        return Collection(path, {}, self._page_size, self._pause, without_managed_fields)

    def budgets_in(self, namespaces: list[str]) -> tuple[dict[str, NamespaceBudgets], str]:
        """Return the budgets of these namespaces, and why some could not be read ("" if all could).

        Where it is allowed this is one list of all namespaces: one large response is cheaper than many requests.
        """
        budgets = {namespace: NamespaceBudgets() for namespace in namespaces}
        try:
            listing = self._rest.list(BUDGETS, {}, self._page_size, without_managed_fields)
            for namespace, found in budgets.items():
                found.apply(Listed([budget for budget in listing.items if namespace_of(budget) == namespace]))
            return budgets, ""
        except Forbidden:
            return self._budgets_one_by_one(budgets)

    def _budgets_one_by_one(self, budgets: dict[str, NamespaceBudgets]) -> tuple[dict[str, NamespaceBudgets], str]:
        denied = ""
        for namespace in list(budgets):
            what = self.budgets_collection(namespace)
            try:
                budgets[namespace].apply(Listed(self._rest.list(what.path, {}, what.page_size, what.keep).items))
            except Forbidden as exc:
                del budgets[namespace]
                denied = exc.message
        return budgets, denied

    def attachments_collection(self) -> Collection:
        """Return the collection of all VolumeAttachments, to watch; the API cannot select them by node."""
        return Collection(ATTACHMENTS, {}, self._page_size, self._pause, without_managed_fields)

    def volumes_left_on(self, node: str) -> list[Volume]:
        """Return the volumes that are attached to a node and that none of its pods uses."""
        pods = self._rest.list("/api/v1/pods", {"fieldSelector": "spec.nodeName=" + node}, self._page_size, trimmed)
        used = {claim for pod in pods.items if not is_finished(pod) for claim in claims_of(pod)}
        attachments = self._rest.list(ATTACHMENTS, {}, self._page_size, without_managed_fields).items
        volumes = [volume for volume in (volume_on(item, node) for item in attachments) if volume is not None]
        for volume in volumes:
            volume.claim = self._claim_on(volume.persistent_volume)
        return [volume for volume in volumes if volume.claim is None or volume.claim not in used]

    def _claim_on(self, volume: str) -> Claim | None:
        try:
            return claim_of(self._rest.get(item_path("/api/v1/persistentvolumes", volume)))
        except (Forbidden, NotFound):
            return None

    def csi_drivers(self, node: str) -> list[str]:
        """Return the names of the CSI drivers that are registered on the node."""
        try:
            return csi_drivers(self._rest.get(item_path(CSI_NODES, node)))
        except NotFound:
            return []

    def daemonset_exists(self, namespace: str, name: str) -> bool | None:
        """Return whether a DaemonSet exists; None if the account may not get it."""
        try:
            self._rest.get(namespaced_path("apps/v1", namespace, "daemonsets", name))
        except NotFound as exc:
            return False if is_absent(exc) else None
        except Forbidden:
            return None
        return True

    def remove_pod(self, pod: Obj, grace: int | None, evict: bool, dry_run: bool = False) -> None:
        """Evict a pod, or delete it, which bypasses budgets. Sent once: the drain decides about retries."""
        path = namespaced_path("v1", namespace_of(pod), "pods", name_of(pod))
        if evict:
            body = eviction_body(pod, grace, dry_run)
            response = self._rest.request("POST", path + "/eviction", None, body, leave=(MaintenanceError,))
        else:
            body = deletion_body(pod, grace, dry_run)
            response = self._rest.request("DELETE", path, None, body, leave=(MaintenanceError,))
        if response.get("kind") not in REMOVED:
            # The pod would never terminate if something else accepted the request.
            raise UnexpectedResponse("the response to an eviction is not from a Kubernetes API server", status=200)

    def _likely(self, name: str) -> str:
        try:
            known = [name_of(node) for node in self.nodes([])]
        except MaintenanceError:
            return ""
        # The usual mistake is a short host name instead of the full one, which no edit distance finds.
        short = [other for other in known if other.split(".")[0] == name.split(".")[0].lower()]
        near = short or difflib.get_close_matches(name, known, n=3)
        if near:
            return f"; did you mean {', '.join(near)}?"
        return f"; its nodes are {abbreviate(known)}" if known else ""


def _labels(selectors: list[str]) -> dict[str, Any]:
    return {"labelSelector": ",".join(selectors)} if selectors else {}


def without_managed_fields(obj: Obj) -> Obj:
    mapping_at(obj, "metadata").pop("managedFields", None)
    return obj
