# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""POST, PUT, PATCH and DELETE of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors, lifecycle
from ..objects import Object, copied
from ..resources import KINDS, Resource
from ..store import Store
from . import bodies, defaults, patches, validation
from .bodies import DeleteOptions
from .messages import Request, Response, json_response
from .paths import Target
from .views import View

_LOCK_REQUIRED = ("PodDisruptionBudget", "Lease")  # kinds whose PUT needs a resourceVersion
_KEPT_NAMESPACES = ("default", "kube-public", "kube-system")
APPLY = "application/apply-patch+yaml"
_PATCHES: dict[str, Callable[[Object, Any], Object]] = {
    "application/json-patch+json": patches.json_patch,
    "application/merge-patch+json": patches.merge_patch,
    "application/strategic-merge-patch+json": patches.strategic_patch,
    APPLY: patches.strategic_patch,  # ownership of fields is not kept: what is sent is laid over what is there
}


class Writes:
    """Answer writing requests; the store keeps versions, generations and deletions right."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        """Store a new object: 201."""
        dry_run = bodies.is_dry_run(request)
        obj = bodies.object_of(request, resource.kind, target.api_version)
        return json_response(201, view.one(self._created(obj, target, resource, dry_run)))

    def update(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        """Replace an object, or its status."""
        obj = bodies.object_of(request, resource.kind, target.api_version)
        old = self._existing(target, resource)
        meta = obj["metadata"]
        if not meta.get("resourceVersion") and resource.kind in _LOCK_REQUIRED:
            problem = (
                "metadata.resourceVersion",
                "FieldValueInvalid",
                "Invalid value: 0: must be specified for an update",
            )
            raise errors.invalid(resource.kind, target.name, [problem], resource.group)
        validation.check_sent(obj)
        return self._replaced(request, obj, old, target, resource, view)

    def patch(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        """Change an object, or its status, by one of the patch formats."""
        media = request.headers.get("content-type", "").partition(";")[0].strip()
        apply = _PATCHES.get(media)
        if apply is None:
            raise errors.ApiStatus(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
        content = bodies.decoded(request)
        if media != "application/json-patch+json" and not isinstance(content, dict):
            raise errors.bad_request(
                "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
            )
        found = self._store.get(resource.kind, target.namespace, target.name)
        if media == APPLY and found is None and not target.subresource:
            meta = {**(content.get("metadata") or {}), "name": target.name}
            obj = {**content, "kind": resource.kind, "apiVersion": target.api_version, "metadata": meta}
            return json_response(201, view.one(self._created(obj, target, resource, bodies.is_dry_run(request))))
        old = self._existing(target, resource)
        obj = apply(copied(old), content)
        if not isinstance(obj.get("metadata"), dict):
            raise errors.unprocessable()
        validation.check_patched(obj, old)
        return self._replaced(request, obj, old, target, resource, view)

    def delete(self, request: Request, target: Target, resource: Resource, view: View) -> Response:
        """Begin or finish a deletion."""
        options = bodies.delete_options(request)
        old = self._existing(target, resource)
        if resource.kind == "Namespace" and target.name in _KEPT_NAMESPACES:
            raise errors.forbidden("namespaces", target.name, "this namespace may not be deleted")
        left, gone = self.deleted(old, options)
        if gone and resource.kind not in ("Pod", "Namespace"):
            details = {
                "name": target.name,
                "group": resource.group,
                "kind": resource.plural,
                "uid": left["metadata"]["uid"],
            }
            status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
            return json_response(200, {**status, "details": {key: value for key, value in details.items() if value}})
        return json_response(200, view.one(left))

    def delete_all(self, request: Request, chosen: list[Object], view: View) -> Response:
        """Delete what the selectors chose."""
        options = bodies.delete_options(request)
        left = [self.deleted(obj, options)[0] for obj in chosen]
        return json_response(200, view.many(left, {"resourceVersion": str(self._store.resource_version)}))

    def deleted(self, old: Object, options: DeleteOptions) -> tuple[Object, bool]:
        """Delete an object by the options; return it as it was left and whether it is gone.

        ApiStatus 409 for preconditions.
        """
        check_preconditions(old, options)
        meta = old["metadata"]
        foreground = options.propagation == "Foreground"
        if options.dry_run:
            return lifecycle.deleted(old, options.grace, self._store.agenda.now, not foreground)
        if options.propagation == "Orphan":
            self._orphan(meta["uid"])
        kind, namespace, name = old["kind"], meta.get("namespace"), meta["name"]
        left = self._store.delete(kind, namespace, name, options.grace, background=not foreground)
        return left or old, self._store.get(kind, namespace, name) is None

    def admit(self, target: Target, resource: Resource, name: str) -> None:
        """Refuse what is created in a namespace that does not exist (404) or that is going away (403)."""
        if not target.namespace:
            return
        namespace = self._store.get("Namespace", None, target.namespace)
        if namespace is None:
            raise errors.not_found("namespaces", target.namespace)
        if namespace["metadata"].get("deletionTimestamp"):
            raise errors.terminating_namespace(resource.plural, name, target.namespace, resource.group)

    def _created(self, obj: Object, target: Target, resource: Resource, dry_run: bool) -> Object:
        meta = obj["metadata"] = dict(obj.get("metadata") or {})
        if meta.get("namespace") and meta["namespace"] != target.namespace:
            raise errors.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        if resource.namespaced:
            meta["namespace"] = target.namespace
        if meta.get("resourceVersion"):
            raise errors.ApiStatus(500, None, "resourceVersion should not be set on objects to be created")
        validation.check_sent(obj)
        self.admit(target, resource, meta.get("name", ""))
        obj = copied(obj)
        defaults.fill(obj)
        validation.check_new(obj, resource)
        return self._store.prepare_new(obj) if dry_run else self._store.create(obj)

    def _existing(self, target: Target, resource: Resource) -> Object:
        old = self._store.get(resource.kind, target.namespace, target.name)
        if old is None:
            raise errors.not_found(resource.plural, target.name, resource.group)
        return old

    def _replaced(
        self, request: Request, obj: Object, old: Object, target: Target, resource: Resource, view: View
    ) -> Response:
        dry_run = bodies.is_dry_run(request, options="UpdateOptions")
        meta, was = obj["metadata"], old["metadata"]
        if meta.get("name", target.name) != target.name:
            message = f"the name of the object ({meta['name']}) does not match the name on the URL ({target.name})"
            raise errors.bad_request(message)
        if meta.get("namespace", target.namespace) != target.namespace:
            raise errors.bad_request(
                "the namespace of the provided object does not match the namespace sent on the request"
            )
        if meta.get("uid") and meta["uid"] != was["uid"]:
            why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {was['uid']}"
            raise errors.conflict(resource.plural, target.name, why, resource.group)
        if meta.get("resourceVersion") and meta["resourceVersion"] != was["resourceVersion"]:
            raise errors.modified(resource.plural, target.name, resource.group)
        obj = _merged(obj, old, target, resource)
        _check_finalizers(obj, old, resource)
        validation.check_update(obj, old, resource)
        new = self._store.prepared(obj, old) if dry_run else self._store.update(obj)
        return json_response(200, view.one(new))

    def _orphan(self, uid: str) -> None:
        for kind in self._store.kinds():
            for obj in self._store.list(kind):
                owners = obj["metadata"].get("ownerReferences") or []
                if any(owner.get("uid") == uid for owner in owners):
                    changed = copied(obj)
                    changed["metadata"]["ownerReferences"] = [owner for owner in owners if owner.get("uid") != uid]
                    self._store.update(changed)


def check_preconditions(obj: Object, options: DeleteOptions) -> None:
    """Raise ApiStatus 409 when the object is not the one that the client meant.

    The API names the kind in this refusal, where others name the resource.
    """
    meta, resource = obj["metadata"], KINDS[obj["kind"]]
    if options.uid and options.uid != meta["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({meta['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(resource.kind, meta["name"], why, resource.group)
    if options.resource_version and options.resource_version != meta["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
            f"ResourceVersion in record "
            f"({meta['resourceVersion']}). The object might have been modified"
        )
        raise errors.conflict(resource.kind, meta["name"], why, resource.group)


def _merged(obj: Object, old: Object, target: Target, resource: Resource) -> Object:
    """Return what a write may change: a status, or everything but the status."""
    version = {"resourceVersion": obj["metadata"].get("resourceVersion")}
    if target.subresource == "status":
        return {**old, "metadata": {**old["metadata"], **version}, "status": obj.get("status") or {}}
    obj = {**obj, "apiVersion": old["apiVersion"], "kind": old["kind"]}
    meta = obj["metadata"] = {**obj["metadata"], "name": target.name}
    if resource.namespaced:
        meta["namespace"] = target.namespace
    if resource.kind == "Namespace" and target.subresource != "finalize":
        obj["spec"] = old["spec"]
    if "status" in resource.subresources:
        obj.pop("status", None)
        if "status" in old:
            obj["status"] = old["status"]
    return obj


def _check_finalizers(obj: Object, old: Object, resource: Resource) -> None:
    if not old["metadata"].get("deletionTimestamp"):
        return
    before = old["metadata"].get("finalizers") or ()
    added = [f for f in obj["metadata"].get("finalizers") or () if f not in before]
    if added:
        shown = "{" + ", ".join(f'"{f}"' for f in added) + "}"
        rule = "no new finalizers can be added if the object is being deleted"
        text = f"Forbidden: {rule}, found new finalizers []string{shown}"
        problem = ("metadata.finalizers", "FieldValueForbidden", text)
        raise errors.invalid(resource.kind, obj["metadata"]["name"], [problem], resource.group)
