# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write annotations and labels on a node."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..api.retry import retry_on_conflict
from ..cluster.cluster import Cluster
from ..cluster.context import Context
from ..errors import Conflict, Failed, InvalidOptions
from ..objects import Obj, mapping_at, version_of
from ..runtime.clock import Deadline
from ..text import abbreviate

MAX_SECONDS = 60.0
# https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/#syntax-and-character-set
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")


@dataclass(frozen=True)
class MarkTask:
    """Which annotations and labels a node is to have; None removes one."""

    name: str
    annotations: Mapping[str, str | None]
    labels: Mapping[str, str | None]
    check_mode: bool = False


def task_from(params: Mapping[str, Any], check_mode: bool) -> MarkTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    name = str(params.get("name") or "").strip()
    if not name:
        raise InvalidOptions("the option name is empty, but must be the name of a node")
    annotations = _wanted("annotations", params.get("annotations"))
    labels = _wanted("labels", params.get("labels"))
    for key, value in labels.items():
        if value is not None and not _LABEL.match(value):
            raise InvalidOptions(f"the option labels: {value!r} is not a valid value for the label {key}")
    if not annotations and not labels:
        raise InvalidOptions("give annotations or labels to write")
    return MarkTask(name, annotations, labels, check_mode)


class NodeMark:
    """The marks of one node."""

    def __init__(self, task: MarkTask, context: Context) -> None:
        self._task = task
        self._wanted = {"annotations": task.annotations, "labels": task.labels}
        self._cluster = Cluster(context.rest_for(Deadline(context.clock, MAX_SECONDS)))
        self._node: Obj = {}

    def run(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the module's result, as RETURN in its documentation describes it, and Ansible's diff."""
        self._read()
        try:
            keys, before = retry_on_conflict(self._write, self._read)
        except Conflict:
            raise Failed(f"node {self._task.name} is being changed concurrently: try again later") from None
        after = self._marks()
        words = f"{'Changed' if keys else 'Nothing to change'} on node {self._task.name}: {abbreviate(keys)}"
        result = dict(after, changed=bool(keys), msg=words.rstrip(": ") + ".", name=self._task.name)
        return result, {"before": before, "after": after}

    def _read(self) -> None:
        self._node = self._cluster.node(self._task.name)

    def _write(self) -> tuple[list[str], dict[str, dict[str, str]]]:
        """Write what differs; return its keys, and what there was before."""
        before = self._marks()
        changes = {
            field: {key: value for key, value in wanted.items() if before[field].get(key) != value}
            for field, wanted in self._wanted.items()
        }
        keys = [key for change in changes.values() for key in change]
        if keys:
            patch = {"metadata": dict(changes, resourceVersion=version_of(self._node))}
            self._node = self._cluster.patch_node(self._task.name, patch, self._task.check_mode)
        return keys, before

    def _marks(self) -> dict[str, dict[str, str]]:
        found = {field: mapping_at(self._node, "metadata", field) for field in self._wanted}
        return {
            field: {key: str(found[field][key]) for key in self._wanted[field] if key in found[field]}
            for field in found
        }


def _wanted(option: str, values: Any) -> dict[str, str | None]:
    wanted: dict[str, str | None] = {}
    for key, value in (values or {}).items():
        if not _KEY.match(str(key)):
            raise InvalidOptions(f"the option {option}: {key!r} is not a valid key, such as example.com/name")
        # An empty string removes a key, too, because templates cannot return null.
        wanted[str(key)] = None if value is None or value == "" else _text(value)
    return wanted


def _text(value: Any) -> str:
    """Return a value as text. What templates of ansible-core before 2.19 have read as JSON becomes JSON again."""
    return json.dumps(value) if isinstance(value, (Mapping, list)) else str(value)
