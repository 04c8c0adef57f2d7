# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide from what the preflight found whether a node can be patched."""

from __future__ import annotations

import re
from typing import Any

from .failure import failure_of
from .input import IN_PROGRESS, check_host, check_packages
from .record import Now, Record, first_node, new_record
from .role_vars import RoleVars

READY, REFUSED = "ready", "refused"


def assess(role: RoleVars, record: Record, now: Now) -> Record:
    """Record what the preflight found: the pods that would be evicted, those that are blocked now, and all refusals."""
    result = role.result("node_drain_result")
    node = first_node(result)
    if node:
        pods = int(node.get("evicted_total", len(node.get("evicted") or [])))
        record = record | {"pods": pods, "blockers": result.get("pending_pods") or []}
    refusals = _refusals(role)
    if refusals:
        return _refused(record, refusals, now)
    return record | {"state": READY} if record["state"] == IN_PROGRESS else record


def refuse(role: RoleVars, record: Record, now: Now) -> Record:
    """Record a preflight that failed itself, for instance because a variable cannot be templated."""
    failed = role.variables.get("ansible_failed_result") or {}
    text = str(failed.get("msg") or failure_of(role))
    return _refused(record or new_record(role, now), [text], now)


def _refused(record: Record, refusals: list[str], now: Now) -> Record:
    message = " ".join(text[:1].upper() + text[1:] for text in refusals)
    return record | {"state": REFUSED, "ended": now.seconds, "message": message, "refusals": refusals}


def _refusals(role: RoleVars) -> list[str]:
    """Return in sentences why the node cannot be patched, which begin with a small letter if the module's do."""
    given = role.result("node_patch_input")
    found, gate = role.result("node_patch_found"), role.result("node_patch_gate")
    rollouts, drain = role.result("node_patch_gate_rollouts"), role.result("node_drain_result")
    unreached = check_host(role)
    facts = role.variables.get("ansible_facts") or {}
    by_gate = _by_gate(gate)
    texts = [
        str(given.get("problems") or ""),
        "" if found.get("nodes") else str(found.get("msg") or ""),
        unreached,
        check_packages(role) if not unreached and "pkg_mgr" in facts and not role.text("node_patch_tasks") else "",
        "" if by_gate or gate.get("open", not gate) else _gate_failed(gate),
        "" if _are_available(rollouts) else str(rollouts.get("msg") or "gate workloads cannot be read"),
        "" if not drain or (drain.get("nodes") and not drain.get("pending_nodes")) else str(drain.get("msg") or ""),
        *by_gate,
    ]
    if given.get("invalid"):
        # What a module says of a wrong key has been said with the variable's name.
        texts = [text for text in texts if not text.startswith("Unsupported parameters for")]
    return list(dict.fromkeys(text for text in texts if text))


def _by_gate(gate: dict[str, Any]) -> list[str]:
    """Return the gate's refusals, each with its remedy. Other nodes may have them in common with this one."""
    return [f"{entry['message']}. {entry.get('remedy') or ''}".strip() for entry in gate.get("refusals") or []]


def _gate_failed(gate: dict[str, Any]) -> str:
    # Of a module that could not even start, Ansible keeps no message where failed_when is false.
    text = str(gate.get("msg") or "The gate gave no answer; the option -vvv shows why.")
    return re.sub("^The option window", "The variable node_patch_window", text)


def _are_available(rollouts: dict[str, Any]) -> bool:
    """Return whether the gate's workloads exist and are not stuck. If one does not exist, none is returned."""
    workloads = rollouts.get("workloads") or []
    return not rollouts or (bool(workloads) and not any(workload.get("failure") for workload in workloads))
