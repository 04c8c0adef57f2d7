# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Match labels against the C(LabelSelector) of an object, as disruption budgets and workloads carry it."""

from __future__ import annotations

from typing import Any

from .objects import Obj, mapping_at, mappings_at, strings_at


def selects(selector: Any, labels: dict[str, str]) -> bool:
    """Return whether a LabelSelector selects these labels.

    An absent (null) selector selects nothing and an empty one everything, as policy/v1 defines it:
    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/
    An expression with an unknown operator selects nothing, because guessing could free a pod that is protected.
    """
    if not isinstance(selector, dict):
        return False
    for key, value in mapping_at(selector, "matchLabels").items():
        if labels.get(key) != value:
            return False
    return all(_holds(expression, labels) for expression in mappings_at(selector, "matchExpressions"))


def _holds(expression: Obj, labels: dict[str, str]) -> bool:
    key, values = expression.get("key"), strings_at(expression, "values")
    operator = expression.get("operator")
    if not isinstance(key, str):
        return False
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return False


def selector_text(selector: Any) -> str:
    """Return a LabelSelector as the API takes it in a query, "" for one that selects everything."""
    terms = [f"{key}={value}" for key, value in sorted(mapping_at(selector, "matchLabels").items())]
    for expression in mappings_at(selector, "matchExpressions"):
        key, operator = str(expression.get("key")), expression.get("operator")
        values = ",".join(strings_at(expression, "values"))
        if operator in ("In", "NotIn"):
            terms.append(f"{key} {str(operator).lower()} ({values})")
        elif operator in ("Exists", "DoesNotExist"):
            terms.append(key if operator == "Exists" else "!" + key)
    return ",".join(terms)
