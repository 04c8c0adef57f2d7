# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ControllerRevisions: the templates that a DaemonSet or StatefulSet had."""

from __future__ import annotations

from collections import Counter

from ..objects import Object, copied
from .pods import reference_to
from .templates import hash_of, same_template, without_hash
from .world import World

POD_LABEL = "controller-revision-hash"
_SET_LABEL = "controller.kubernetes.io/hash"


class History:
    """The revisions of one workload. `label` of one is what its pods carry as controller-revision-hash."""

    def __init__(self, world: World, owner: Object) -> None:
        self._world = world
        self._owner = owner
        self._is_set = owner["kind"] == "StatefulSet"

    def all(self) -> list[Object]:
        """Return the revisions, oldest first."""
        found = self._world.index.owned(self._owner["metadata"]["uid"], "ControllerRevision")
        return sorted(found, key=lambda revision: (revision["revision"], revision["metadata"]["name"]))

    def label(self, revision: Object) -> str:
        """Return what pods of a revision carry: a StatefulSet's whole name, a DaemonSet's hash alone."""
        meta = revision["metadata"]
        return str(meta["name"] if self._is_set else (meta.get("labels") or {}).get(POD_LABEL, ""))

    def labelled(self, label: str) -> Object | None:
        """Return the revision whose pods carry this label."""
        return next((revision for revision in self.all() if self.label(revision) == label), None)

    def template(self, label: str) -> Object:
        """Return the template of a revision; the workload's own when that revision is not kept."""
        revision = self.labelled(label)
        if revision is None:
            return dict(copied(self._owner["spec"]["template"]))
        template = copied(revision["data"]["spec"]["template"])
        template.pop("$patch", None)
        return dict(template)

    def sync(self) -> str:
        """Return the label of the workload's own template, keeping it as the newest revision."""
        template, kept = self._owner["spec"]["template"], self.all()
        newest = max((revision["revision"] for revision in kept), default=0)
        same = [found for found in kept if same_template(self.template(self.label(found)), template)]
        if not same:
            label = self._label_of_pods() if not kept else None
            return self._add(label, newest + 1)
        if same[-1]["revision"] < newest:
            self._world.change(same[-1], lambda obj: obj.update(revision=newest + 1))
        return self.label(same[-1])

    def clean_up(self, live: set[str]) -> None:
        """Delete the oldest revisions beyond revisionHistoryLimit that no pod and no status names."""
        limit = self._owner["spec"].get("revisionHistoryLimit", 10)
        idle = [revision for revision in self.all() if self.label(revision) not in live]
        for revision in idle[: max(len(idle) - limit, 0)]:
            self._world.delete(revision)

    def _label_of_pods(self) -> str | None:
        """Return what most pods carry: a workload taken over without its revisions must not roll."""
        recorded = (self._owner.get("status") or {}).get("updateRevision")
        if recorded:
            return str(recorded)
        pods = self._world.index.owned(self._owner["metadata"]["uid"], "Pod")
        labels = Counter((pod["metadata"].get("labels") or {}).get(POD_LABEL) for pod in pods)
        labels.pop(None, 0)
        return labels.most_common(1)[0][0] if labels else None

    def _add(self, label: str | None, number: int) -> str:
        meta, template = self._owner["metadata"], copied(self._owner["spec"]["template"])
        prefix = meta["name"] + "-"
        suffix = label or hash_of(without_hash(template))
        if self._is_set and label:
            suffix = label.removeprefix(prefix)
        labels = {**((template.get("metadata") or {}).get("labels") or {})}
        labels[_SET_LABEL if self._is_set else POD_LABEL] = suffix
        revision: Object = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": prefix + suffix,
                "namespace": meta["namespace"],
                "labels": labels,
                "ownerReferences": [reference_to(self._owner)],
            },
            "data": {"spec": {"template": {"$patch": "replace", **template}}},
            "revision": number,
        }
        if self._world.store.get("ControllerRevision", meta["namespace"], prefix + suffix) is None:
            self._world.store.create(revision)
        return self.label(revision)
