# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the record of a node while the role patches it.

Each function is one step: it takes the record so far, and returns it as it is afterwards. The options and the results
of modules come from the variables of the task.

Beside what report.py shows, a record has C(begun), the times at which steps began, and what later steps need:
  before, workloads   the node as it was before the first run, and the workloads that lost pods since
  held                whether the node carried this owner's cordon when the run began
  marked, returned    whether an earlier run left a mark, and whether it had brought the node back already
  reboots, meant      whether to reboot the node, and whether an earlier run wanted to
  rebooted_now        whether this run rebooted it
  goes_on             whether to continue after the drain
  annotation          the mark to write on the node next
  releases, stops, stop_reason   whether to release the lock, whether to stop the run, and why
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .input import IN_PROGRESS
from .marks import MARK, as_it_is, hours_ago, is_held, mark_of, write_mark
from .role_vars import RoleVars

Record = dict[str, Any]
DONE, SKIPPED, UNFINISHED = "done", "skipped", "unfinished"
_CONTROL_PLANE = re.compile(r"node-role\.kubernetes\.io/(control-plane|master)$")


class Now(NamedTuple):
    """When and how a step runs. seconds: since 1970; check_mode: whether nothing is changed; warn: shows a warning."""

    seconds: float
    check_mode: bool
    warn: Callable[[str], None]


def begin(role: RoleVars, record: Record, now: Now) -> Record:
    """Start the record from the node and from what an earlier run of the same campaign left on it."""
    record = new_record(role, now)
    node = found_node(role, "node_patch_found")
    if not node:
        return record
    mark = mark_of((node.get("annotations") or {}).get(MARK), role.text("node_patch_campaign"))
    before = mark.get("before") or as_it_is(node)
    held = is_held(node, role.text("node_patch_owner"))
    wanted = role.text("node_patch_kubelet_version") or node["kubelet_version"]
    done = _is_recent(role, mark, now) and node["ready"] and not held and wanted == node["kubelet_version"]
    notes = []
    if done:
        notes.append(
            f"done {mark.get('finished') or 'before'} in campaign {role.text('node_patch_campaign')}; "
            "-e node_patch_done_hours=0 patches it again"
        )
    if node["unschedulable"] and not held:
        notes.append("is cordoned, and stays so")
    return _at_step(record, "gate", now) | {
        "state": SKIPPED if done else UNFINISHED if "before" in mark else IN_PROGRESS,
        "message": "; ".join(notes),
        "kubelet_before": before["kubelet_version"],
        "kubelet_after": node["kubelet_version"],
        "control_plane": any(_CONTROL_PLANE.match(label) for label in node["labels"]),
        "before": before,
        "workloads": mark.get("workloads", []),
        "held": held,
        "marked": "before" in mark,
        "meant": mark.get("reboots", False),
        # A node that was uncordoned for another reason, such as a failure, proves nothing.
        # Of a mark without the node as it was before, nothing is proven.
        "returned": mark.get("state") == "back" and "before" in mark and not held,
    }


def drain(role: RoleVars, record: Record, now: Now) -> Record:
    """Begin the drain. From now on the node is in progress, even if an earlier run left it unfinished."""
    record = _at_step(record, "drain", now) | {"state": IN_PROGRESS}
    return record | {"annotation": _mark(role, record, "draining", now)}


def drained(role: RoleVars, record: Record, now: Now) -> Record:
    """Count what a drain did, and decide whether to continue if it failed."""
    result = role.result("node_drain_result")
    node = first_node(result)
    evicted = node.get("evicted") or []
    attempts = [count for count in (int(pod.get("attempts") or 0) for pod in evicted) if count]
    workloads = [*record["workloads"], *(node.get("affected_workloads") or [])]
    tolerated = role.text("node_patch_drain_failure") == "go_on" and bool(node.get("cordoned"))
    goes_on = tolerated or not result.get("failed", not result)
    # It is repeated just before the reboot.
    if goes_on and record["step"] == "drain":
        record = _at_step(record, "patch", now)
    return record | {
        "workloads": [entry for number, entry in enumerate(workloads) if entry not in workloads[:number]],
        "pods": record["pods"] + int(node.get("evicted_total", len(evicted))),
        "retries": record["retries"] + sum(attempts) - len(attempts),
        "blockers": node.get("pending_pods") or [],
        "goes_on": goes_on,
    }


def reboot(role: RoleVars, record: Record, now: Now) -> Record:
    """Decide about the reboot, after the patch. The patch may have rebooted the node itself, or ask for it."""
    policy = role.text("node_patch_reboot")
    file, hint = role.result("node_patch_reboot_file"), role.result("node_patch_reboot_hint")
    needed = role.flag("node_patch_reboot_needed") or (file.get("stat") or {}).get("exists") or hint.get("rc") == 1
    # An earlier run wanted to reboot the node, and was ended before it did, or before it could record that. A patch
    # that has nothing left to do does not ask for the reboot again.
    meant = record["meant"]
    booted_since = found_node(role, "node_patch_found")["boot_id"] != record["before"]["boot_id"]
    wanted = not (meant and booted_since) if policy == "always" else needed or (meant and not booted_since)
    reboots = policy != "never" and bool(wanted) and not role.flag("node_patch_rebooted")
    record = _at_step(record, "reboot", now) | {"reboots": reboots}
    return record | {"annotation": _mark(role, record, "patched", now)}


def wait(role: RoleVars, record: Record, now: Now) -> Record:
    """Begin to wait for the node."""
    return _at_step(record, "return", now) | {"rebooted_now": record["reboots"] or role.flag("node_patch_rebooted")}


def returned(role: RoleVars, record: Record, now: Now) -> Record:
    """Record that the node is back as it was."""
    node = role.result("node_patch_returned")["node"]
    record = _at_step(record, "uncordon", now) | {
        "kubelet_after": node["kubelet_version"],
        "rebooted": node["boot_id"] != record["before"]["boot_id"],
    }
    return record | {"annotation": _mark(role, record, "back", now)}


def heal(role: RoleVars, record: Record, now: Now) -> Record:
    """Begin to wait for the workloads, and note why the node is still cordoned, if it is."""
    result = role.result("node_drain_result")
    message = ""
    if record["step"] == "uncordon" and first_node(result).get("cordoned") and not now.check_mode:
        cordoned_before = found_node(role, "node_patch_found")["unschedulable"] and not record["held"]
        # Otherwise it was cordoned in the meantime.
        text = "stays cordoned, as it was before" if cordoned_before else str(result.get("msg") or "stays cordoned")
        message = text.removesuffix(".")
    return _at_step(record, "healing", now) | {"message": message}


def done(role: RoleVars, record: Record, now: Now) -> Record:
    """Record that the node is done."""
    healed = role.result("node_patch_rollouts")
    message = record["message"] if healed.get("done", True) else str(healed.get("msg") or "")
    record = record | {"state": DONE, "ended": now.seconds, "message": message}
    return record | {"annotation": _mark(role, record, DONE, now)}


def new_record(role: RoleVars, now: Now) -> Record:
    """Return the record of a node of which nothing is known yet."""
    return {
        "host": role.host(),
        "node": role.text("node_patch_node"),
        "state": IN_PROGRESS,
        "step": "check",
        "begun": {"check": role.result("node_patch_input").get("started", now.seconds)},
        "message": "",
        "pods": 0,
        "retries": 0,
        "blockers": [],
        "rebooted": False,
        "kubelet_before": "",
        "kubelet_after": "",
        "control_plane": False,
    }


def _at_step(record: Record, step: str, now: Now) -> Record:
    return record | {"step": step, "begun": {**record["begun"], step: now.seconds}}


def _is_recent(role: RoleVars, mark: Mapping[str, Any], now: Now) -> bool:
    """Return whether the node was done recently; warn of a mark that lies in the future."""
    ago = hours_ago(mark, now.seconds)
    if mark.get("state") != DONE or ago is None:
        return False
    if ago < 0:
        now.warn(
            f"node {role.text('node_patch_node')} is marked as done at a time in the future, by {-ago:.1f} hours, so "
            f"the mark is ignored: check who wrote its annotation {MARK}, and whether the clocks are right"
        )
        return False
    return ago < float(role.text("node_patch_done_hours") or 0)


def _mark(role: RoleVars, record: Record, state: str, now: Now) -> str:
    text = role.text
    return write_mark(state, text("node_patch_campaign"), text("node_patch_owner"), record, now.seconds)


def found_node(role: RoleVars, name: str) -> dict[str, Any]:
    """Return the node in the result that a task registered, {} if there is none."""
    return first_node(role.result(name))


def first_node(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first node of a module's result, {} if there is none."""
    return next(iter(result.get("nodes") or []), {})
