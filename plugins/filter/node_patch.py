# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters for the records that the role node_patch keeps of each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible.utils.display import Display

from ..module_utils.maintenance.rights import STEPS, rights_for, rules_of
from ..plugin_utils.node_patch.batches import batches_of
from ..plugin_utils.node_patch.inventory import inventory_of
from ..plugin_utils.node_patch.marks import as_it_is, hours_ago, is_held, mark_of
from ..plugin_utils.node_patch.reach import unmanaged, unreached
from ..plugin_utils.node_patch.report import counted_rounds, junit, reasons, record_of, table
from ..plugin_utils.node_patch.task_files import malformed
from ..plugin_utils.node_patch.types import mistyped
from ..plugin_utils.node_patch.values import amiss
from ..plugin_utils.node_patch.variables import strangers


def node_patch_batches(records: Any, serial: Any = 1, control_plane: str = "last") -> dict[str, list[Any]]:
    """Divide nodes into batches."""
    try:
        return batches_of(records, serial, control_plane)
    except ValueError as exc:
        raise AnsibleFilterError("node_patch_batches: %s" % exc) from exc


def node_patch_inventory(nodes: Any) -> dict[str, Any]:
    """Return the inventory of these nodes as its text, the names that are in it, and why others are not."""
    return inventory_of(nodes)._asdict()


def node_patch_malformed(paths: Any) -> str:
    """Return in sentences which task files cannot be run."""
    return malformed([str(path) for path in paths])


def node_patch_recent(mark: Mapping[str, Any], hours: float, now: float, node: str) -> bool:
    """Tell whether a mark says that its node was done within so many hours; warn of one that lies in the future."""
    if mark.get("state") != "done":
        return False
    ago = hours_ago(mark, float(now))
    if ago is None:
        return False
    if ago < 0:
        Display().warning(
            "node %s is marked as done at a time that is still to come, by %.1f hours, which counts as nothing: see "
            "who wrote its annotation kubeops.maintenance/node-patch, and whether the clocks are right" % (node, -ago)
        )
        return False
    return ago < float(hours)


def node_patch_rules(steps: Any, lock_namespace: str = "kube-system") -> dict[str, list[dict[str, Any]]]:
    """Return the RBAC rules that these steps need, by scope."""
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise AnsibleFilterError("node_patch_rules: no step %r; there are %s" % (unknown[0], ", ".join(STEPS)))
    rights = rights_for(steps, lock_namespace)
    return {
        "cluster": rules_of([right for right in rights if not right.namespace]),
        "lock": rules_of([right for right in rights if right.namespace]),
    }


def node_patch_unknown(names: Any, playbook: str = "") -> str:
    """Return in a sentence which variables nothing reads, an empty text if there are none; warn of those that may be
    somebody else's.
    """
    try:
        found = strangers(names, playbook)
    except ValueError as exc:
        raise AnsibleFilterError("node_patch_unknown: %s" % exc) from exc
    if found.odd:
        Display().warning("the playbook %s does not read %s" % (playbook, ", ".join(found.odd)))
    return "Nothing reads %s: correct or remove it." % ", ".join(found.refused) if found.refused else ""


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return them by name."""
        return {
            "node_patch_amiss": amiss,
            "node_patch_as_it_is": as_it_is,
            "node_patch_batches": node_patch_batches,
            "node_patch_held": is_held,
            "node_patch_inventory": node_patch_inventory,
            "node_patch_junit": junit,
            "node_patch_malformed": node_patch_malformed,
            "node_patch_mark": mark_of,
            "node_patch_mistyped": mistyped,
            "node_patch_reasons": reasons,
            "node_patch_recent": node_patch_recent,
            "node_patch_record": record_of,
            "node_patch_rounds": counted_rounds,
            "node_patch_rules": node_patch_rules,
            "node_patch_table": table,
            "node_patch_unknown": node_patch_unknown,
            "node_patch_unmanaged": unmanaged,
            "node_patch_unreached": unreached,
        }
