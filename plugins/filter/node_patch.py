# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters of the role node_patch and its playbooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.maintenance.rights import STEPS, rights_for, rules_of
from ..plugin_utils.node_patch.batches import batches_of
from ..plugin_utils.node_patch.inventory import inventory_of
from ..plugin_utils.node_patch.report import describe_rounds, record_of


def node_patch_batches(records: Any, serial: Any = 1, control_plane: str = "last") -> dict[str, Any]:
    """Divide nodes into batches."""
    try:
        plan = batches_of(records, serial, control_plane)
    except ValueError as exc:
        raise AnsibleFilterError(f"node_patch_batches: {exc}") from exc
    return {**plan, "summary": describe_rounds(plan["rounds"])}


def node_patch_inventory(nodes: Any) -> dict[str, Any]:
    """Return the inventory of these nodes as its text, the names that are in it, and why others are not."""
    return inventory_of(nodes)._asdict()


def node_patch_rules(steps: Any, lock_namespace: str = "kube-system") -> dict[str, list[dict[str, Any]]]:
    """Return the RBAC rules that these steps need, by scope."""
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise AnsibleFilterError(f"node_patch_rules: unknown step {unknown[0]!r}; the steps are {', '.join(STEPS)}")
    rights = rights_for(steps, lock_namespace)
    return {
        "cluster": rules_of([right for right in rights if not right.namespace]),
        "lock": rules_of([right for right in rights if right.namespace]),
    }


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return them by name."""
        return {
            "node_patch_batches": node_patch_batches,
            "node_patch_inventory": node_patch_inventory,
            "node_patch_record": record_of,
            "node_patch_rules": node_patch_rules,
        }
