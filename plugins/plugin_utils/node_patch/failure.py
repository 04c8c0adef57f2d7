# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record that a node failed, and decide whether the run stops with it."""

from __future__ import annotations

from ...module_utils.text import end_sentence
from .input import IN_PROGRESS
from .record import Now, Record, found_node, new_record
from .role_vars import RoleVars

FAILED = "failed"
_AGAIN = "Fix the cause and start the same command again."


def fail(role: RoleVars, record: Record, now: Now) -> Record:
    """Record which task failed, and why."""
    begun = (record.get("begun") or {}).get("check")
    if begun is None or begun != role.result("node_patch_input").get("started"):
        # It is the record of the preflight: this run has not come to its own.
        record = new_record(role, now)
    return record | {"state": FAILED, "ended": now.seconds, "message": failure_of(role)}


def left(role: RoleVars, record: Record, now: Now) -> Record:
    """Record in which state a node that failed is now, and what to do."""
    node = found_node(role, "node_patch_node_now")
    name = role.text("node_patch_node")
    if not node:
        state = ""
    elif node["unschedulable"]:
        state = f"{name} stays cordoned. "
    else:
        was_begun = record["step"] not in ("check", "gate")
        state = f"{name} {'is not cordoned any more' if was_begun else 'was not cordoned'}. "
    return record | {"next": f"{state}{_AGAIN}"}


def finish(role: RoleVars, record: Record, now: Now) -> Record:
    """Decide whether the host is the last of its batch, and whether the run stops with it.

    max_fail_percentage does not count hosts that became unreachable.
    """
    lost_hosts = role.lost_hosts()
    busy = [other for other in role.records() if other["state"] == IN_PROGRESS and other["host"] != role.host()]
    lost = [str(other["node"]) for other in busy if other["host"] in lost_hosts]
    batch = role.hosts("ansible_play_batch")
    reason = ""
    if role.text("node_patch_after_failure") == "stop":
        if record.get("state") == FAILED:
            why = end_sentence(record["message"])
            reason = (
                f"{record['node']} failed; no further batch will be started. {why} {record.get('next', '')}".strip()
            )
        elif lost:
            reason = (
                f"No further batch will be started, because the host of {', '.join(lost)} became unreachable. "
                "Start the same command again once it is back."
            )
    last = not any(other["host"] in batch and other["host"] not in lost_hosts for other in busy)
    releases = last and role.flag("node_patch_lock") and (role.flag("node_patch_lock_release") or bool(reason))
    return record | {"releases": releases, "stops": bool(reason), "stop_reason": reason}


def failure_of(role: RoleVars) -> str:
    """Return the name of the task that failed with its message."""
    name = str((role.variables.get("ansible_failed_task") or {}).get("name") or "")
    message = (role.variables.get("ansible_failed_result") or {}).get("msg") or "failed"
    # A name with a template was templated for the failed task only.
    return str(message) if not name or "{{" in name else f"{name}: {message}"
