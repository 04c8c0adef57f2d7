# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of the demo: the facts that matter, and whether all is well."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Requests = Iterable[dict[str, Any]]
# What happens to a node from its cordon to its uncordon.
_STEPS_OUT = ("drain", "patch", "reboot", "return", "uncordon")


def show(facts: dict[str, str]) -> None:
    """Print facts, each behind its name."""
    width = max(len(name) for name in facts)
    for name, text in facts.items():
        print(f"    {name:{width}}  {text}")


def evictions(requests: Requests) -> str:
    """Tell from the cluster's log how many evictions were taken, and how many were refused."""
    answers = [
        entry["status"]
        for entry in requests
        if entry["method"] == "POST" and entry["path"].endswith("/eviction") and "dryRun" not in json.dumps(entry)
    ]
    return f"{answers.count(201)} taken, {answers.count(429)} refused by the API server"


def cordons(records: dict[str, Any]) -> str:
    """Tell from the playbook's records for how long each node was cordoned."""
    spans = {node: sum(record["steps"].get(step, 0) for step in _STEPS_OUT) for node, record in records.items()}
    return ", ".join(f"{node} for {seconds:.0f} s" for node, seconds in spans.items()) or "nothing"


def verdict(complaints: list[str], good: str) -> int:
    """Print the complaints, or that all is well; return the exit status for it."""
    if not complaints:
        print(good)
        return 0
    print("Not all is well:")
    for complaint in complaints:
        print(f"    {complaint}")
    return 1
