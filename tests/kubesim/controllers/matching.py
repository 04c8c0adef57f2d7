# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether nodes and their taints suit what a pod asks for."""

from __future__ import annotations

from typing import Any

from ..objects import Object

Labels = dict[str, str]


def _fits(rule: Object, values: Labels) -> bool:
    key, operator, wanted = rule["key"], rule["operator"], rule.get("values") or []
    if operator == "In":
        return values.get(key) in wanted
    if operator == "NotIn":
        return values.get(key) not in wanted
    if operator == "Exists":
        return key in values
    if operator == "DoesNotExist":
        return key not in values
    if operator in ("Gt", "Lt"):
        return _compares(operator, values.get(key), wanted)
    raise ValueError(f"{operator!r} is not a valid node selector operator")


def _compares(operator: str, value: str | None, wanted: list[str]) -> bool:
    try:
        given, bound = int(value or ""), int(wanted[0])
    except (ValueError, IndexError):
        return False
    return given > bound if operator == "Gt" else given < bound


def suits_node(pod_spec: Object, node: Object) -> bool:
    """Return whether nodeSelector and the required node affinity of a pod allow the node."""
    labels = node["metadata"].get("labels") or {}
    wanted = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(_term_suits(term, labels, node["metadata"]["name"]) for term in required.get("nodeSelectorTerms") or ())


def _term_suits(term: Object, labels: Labels, name: str) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    if not all(_fits(rule, labels) for rule in expressions):
        return False
    return all(_fits(rule, {"metadata.name": name}) for rule in fields)


def tolerates(pod_spec: Object, taint: Object) -> bool:
    """Return whether a toleration of the pod covers the taint."""
    return any(_covers(toleration, taint) for toleration in pod_spec.get("tolerations") or ())


def _covers(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    exists = toleration.get("operator") == "Exists"
    if not toleration.get("key"):
        return exists
    if toleration["key"] != taint["key"]:
        return False
    return exists or toleration.get("value", "") == taint.get("value", "")


def untolerated(pod_spec: Object, node: Object, effects: tuple[str, ...]) -> list[Object]:
    """Return the node's taints of these effects that the pod does not tolerate."""
    taints: list[Any] = (node.get("spec") or {}).get("taints") or []
    return [taint for taint in taints if taint.get("effect") in effects and not tolerates(pod_spec, taint)]
