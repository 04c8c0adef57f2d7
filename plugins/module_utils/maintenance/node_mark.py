# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write annotations and labels on a node."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..errors import Conflict, Failed, InvalidOptions
from ..objects import Obj, mapping_at, version_of
from ..runtime.clock import Clock, Deadline
from ..text import abbreviate

LONGEST_CHANGE = 60.0
# Somebody who changes the node at the same moment hinders once or twice, not more often.
_MOST_CONFLICTS = 20
# https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/#syntax-and-character-set
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")


@dataclass(frozen=True)
class MarkTask:
    """Which annotations and labels a node is to have; None takes one away."""

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


def mark(task: MarkTask, clock: Clock, rest_for: Callable[[Deadline], Rest]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the module's result, as RETURN in its documentation describes it, and Ansible's diff."""
    cluster = Cluster(rest_for(Deadline(clock, LONGEST_CHANGE)))
    for _attempt in range(_MOST_CONFLICTS):
        node = cluster.node(task.name)
        before = {
            "annotations": _present(node, "annotations", task.annotations),
            "labels": _present(node, "labels", task.labels),
        }
        changes = {
            "annotations": _changes(before["annotations"], task.annotations),
            "labels": _changes(before["labels"], task.labels),
        }
        keys = [key for change in changes.values() for key in change]
        if keys:
            patch = {"metadata": dict(changes, resourceVersion=version_of(node))}
            try:
                node = cluster.patch_node(task.name, patch, task.check_mode)
            except Conflict:
                continue
        after = {
            "annotations": _present(node, "annotations", task.annotations),
            "labels": _present(node, "labels", task.labels),
        }
        words = f"{'Changed' if keys else 'Nothing to change'} on node {task.name}: {abbreviate(keys)}"
        result = dict(after, changed=bool(keys), msg=words.rstrip(": ") + ".", name=task.name)
        return result, {"before": before, "after": after}
    raise Failed(
        f"others keep changing node {task.name}, so nothing could be written on it: try again when they have finished"
    )


def _wanted(option: str, values: Any) -> dict[str, str | None]:
    wanted: dict[str, str | None] = {}
    for key, value in (values or {}).items():
        if not _KEY.match(str(key)):
            raise InvalidOptions(f"the option {option}: {key!r} is not a valid key, such as example.com/name")
        # An empty text takes a key away, too: templates have no way to say nothing.
        wanted[str(key)] = None if value is None or value == "" else _text(value)
    return wanted


def _text(value: Any) -> str:
    """Return a value as text. What templates of ansible-core before 2.19 have read as JSON becomes JSON again."""
    return json.dumps(value) if isinstance(value, (Mapping, list)) else str(value)


def _present(node: Obj, field: str, keys: Mapping[str, Any]) -> dict[str, str]:
    found = mapping_at(node, "metadata", field)
    return {key: str(found[key]) for key in keys if key in found}


def _changes(present: dict[str, str], wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    return {key: value for key, value in wanted.items() if present.get(key) != value}
