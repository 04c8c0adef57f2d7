# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the demo: a table of the nodes, and whether all is well."""

from __future__ import annotations

from typing import Any

from health import Node


def show(before: dict[str, Node], after: dict[str, Node], records: dict[str, Any]) -> None:
    """Print a line for each node of `before`; `records` are those of the playbook."""
    width = max(len("node"), *(len(name) for name in before))
    layout = f"{{:{width}}}  {{:>12}}  {{:>7}}  {{:22}}  {{}}"
    print(layout.format("node", "drained pods", "seconds", "kubelet", "state"))
    for name, old in before.items():
        record, new = records.get(name), after.get(name)
        pods, seconds = (record["pods"], f"{record['seconds']:.1f}") if record else ("-", "-")
        kubelet = " -> ".join(dict.fromkeys([old.kubelet, new.kubelet if new else "?"]))
        print(layout.format(name, pods, seconds, kubelet, new.state if new else "gone"))


def verdict(complaints: list[str], good: str) -> int:
    """Print the complaints, or that all is well; return the exit status for it."""
    if not complaints:
        print(f"All nodes are back, {good}.")
        return 0
    print("Not all is well:")
    for complaint in complaints:
        print(f"    {complaint}")
    return 1
