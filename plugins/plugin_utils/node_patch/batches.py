# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Divide nodes into batches, as a rolling patch takes them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

Record = Mapping[str, Any]
# An unfinished node may still be cordoned: starting with another one would leave the cluster with less capacity.
_ORDER = {"unfinished": 0}


def batches_of(records: Iterable[Record], serial: Any = 1, control_plane: str = "last") -> dict[str, list[Any]]:
    """Return the plan: C(hosts) in their order, the sizes of C(batches) for C(serial) of a play, and C(rounds), the
    hosts of each batch. C(all) has the hosts of all records, C(refused) those that cannot be patched; if there are any,
    the plan has no batches.

    records: of the role node_patch; skipped ones are left out. serial: a number, a percentage of all records, or a list
    of these, the last of which is repeated. control_plane: whether its nodes are patched "first" or "last", one at a
    time in either case. ValueError for anything else, and for two hosts that have the same node.
    """
    every = list(records)
    _check_nodes(every)
    if control_plane not in ("first", "last"):
        raise ValueError(f"control plane nodes are patched 'first' or 'last', not {control_plane!r}")
    refused = [record["host"] for record in every if record["state"] == "refused"]
    due = [record for record in every if record["state"] != "skipped" and not refused]
    due.sort(key=lambda record: _ORDER.get(record["state"], 1))
    workers = [record["host"] for record in due if not record["control_plane"]]
    singles = [record["host"] for record in due if record["control_plane"]]
    sizes = _sizes(len(workers), len(every), serial)
    ones = [1] * len(singles)
    first = control_plane == "first"
    plan = _plan(singles + workers, ones + sizes) if first else _plan(workers + singles, sizes + ones)
    return {**plan, "all": [record["host"] for record in every], "refused": refused}


def _check_nodes(records: list[Record]) -> None:
    hosts: dict[str, str] = {}
    for record in records:
        host = str(record["host"])
        node = str(record.get("node") or host)
        if node in hosts:
            raise ValueError(
                f"the hosts {hosts[node]} and {host} both have the node {node}; give each its own in node_patch_node, "
                "or leave one out"
            )
        hosts[node] = host


def _plan(hosts: list[str], batches: list[int]) -> dict[str, list[Any]]:
    ends = list(itertools.accumulate(batches))
    rounds = [hosts[end - size : end] for size, end in zip(batches, ends, strict=True)]
    return {"hosts": hosts, "batches": batches, "rounds": rounds}


def _sizes(count: int, total: int, serial: Any) -> list[int]:
    steps = [_size(step, total) for step in (serial if isinstance(serial, list) else [serial])]
    if not steps:
        raise ValueError("serial is an empty list")
    sizes: list[int] = []
    while count > 0:
        size = min(count, steps[min(len(sizes), len(steps) - 1)])
        sizes.append(size)
        count -= size
    return sizes


def _size(step: Any, total: int) -> int:
    text = str(step).strip()
    try:
        size = int(float(text[:-1]) * total / 100) if text.endswith("%") else int(text)
    except (ValueError, OverflowError):
        raise ValueError(f"serial is {step!r}, but must be a number or a percentage such as 10%") from None
    if text.startswith("-") or (not text.endswith("%") and size < 1):
        raise ValueError(f"serial is {step!r}, but must be 1 or more")
    # As Ansible does it: a percentage that amounts to less than one host is one host.
    return max(1, size)
