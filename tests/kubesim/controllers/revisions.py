# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Deployment's revisions: the ReplicaSet that stands for its template, and the numbers on them."""

from __future__ import annotations

from ..errors import ApiStatus
from ..objects import Object, copied, set_condition
from .deployment_scale import DESIRED, MAXIMUM, REVISION, ReplicaSetsOf, new_size, replicas_of, revision_of, surge
from .deployment_status import condition_of, has_deadline
from .pods import reference_to
from .templates import HASH_LABEL, hash_of, without_hash
from .world import World

HISTORY = "deployment.kubernetes.io/revision-history"
# Annotations of a Deployment that its ReplicaSets do not take over.
_OWN = ("kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MAXIMUM)


def sync_revision(world: World, sets: ReplicaSetsOf, create: bool) -> None:
    """Number the new ReplicaSet after the old ones, making it first where `create` allows."""
    new = sets.new()
    revision = max((revision_of(found) for found in sets.old()), default=0) + 1
    if new is None:
        if not create:
            return
        _create(world, sets, revision)
        if sets.new() is None:
            return
        reason, verb = "NewReplicaSetCreated", "Created new replica set"
    else:
        _annotate(world, sets, new, revision)
        reason, verb = "FoundNewReplicaSet", "Found new replica set"
    _write_revision(world, sets, reason, verb)


def _annotate(world: World, sets: ReplicaSetsOf, new: Object, revision: int) -> None:
    deployment = sets.deployment
    taken = {k: v for k, v in (deployment["metadata"].get("annotations") or {}).items() if k not in _OWN}

    def note(obj: Object) -> None:
        notes = obj["metadata"].setdefault("annotations", {})
        notes.update(taken)
        before = revision_of(obj)
        if before < revision:
            if before:
                history = notes.get(HISTORY)
                notes[HISTORY] = f"{history},{before}" if history else str(before)
            notes[REVISION] = str(revision)
        if deployment["spec"].get("minReadySeconds", 0) != obj["spec"].get("minReadySeconds", 0):
            obj["spec"]["minReadySeconds"] = deployment["spec"].get("minReadySeconds", 0)

    world.change(new, note)


def _create(world: World, sets: ReplicaSetsOf, revision: int) -> None:
    deployment = sets.deployment
    meta, spec = deployment["metadata"], deployment["spec"]
    template = copied(spec["template"])
    name_hash = hash_of(without_hash(template))
    labels = {**((template.get("metadata") or {}).get("labels") or {}), HASH_LABEL: name_hash}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": labels}
    selector = copied(spec["selector"])
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: name_hash}
    notes = {k: v for k, v in (meta.get("annotations") or {}).items() if k not in _OWN}
    wanted = replicas_of(deployment)
    notes.update({DESIRED: str(wanted), MAXIMUM: str(wanted + surge(deployment)), REVISION: str(revision)})
    replica_set: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{name_hash}",
            "namespace": meta["namespace"],
            "labels": labels,
            "annotations": notes,
            "ownerReferences": [reference_to(deployment)],
        },
        "spec": {"replicas": new_size(sets, 0), "selector": selector, "template": template},
        "status": {"replicas": 0},
    }
    if spec.get("minReadySeconds"):
        replica_set["spec"]["minReadySeconds"] = spec["minReadySeconds"]
    try:
        made = world.store.create(replica_set)
    except ApiStatus:
        return  # its namespace is going away, and so will the Deployment
    if replicas_of(made):
        sets.say_scaled(made, 0, replicas_of(made))


def _write_revision(world: World, sets: ReplicaSetsOf, reason: str, verb: str) -> None:
    """Write the new revision on the Deployment, and the condition Progressing where it is new."""
    new, deployment = sets.new(), sets.deployment
    if new is None:
        return
    message = f'{verb} "{new["metadata"]["name"]}"'
    known = (deployment["metadata"].get("annotations") or {}).get(REVISION)
    fresh = condition_of(deployment.get("status") or {}, "Progressing") is None or reason == "NewReplicaSetCreated"
    if not fresh and known == str(revision_of(new)):
        return
    stamp = world.stamp()

    def write(obj: Object) -> None:
        obj["metadata"].setdefault("annotations", {})[REVISION] = str(revision_of(new))
        if fresh and has_deadline(obj):
            entry: Object = {
                "type": "Progressing",
                "status": "True",
                "lastUpdateTime": stamp,
                "lastTransitionTime": stamp,
            }
            set_condition(obj.setdefault("status", {}), {**entry, "reason": reason, "message": message})

    world.change(deployment, write)
