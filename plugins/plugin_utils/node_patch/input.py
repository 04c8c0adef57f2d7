# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check what the role node_patch was given, before anything is changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .reach import unmanaged, unreached
from .role_vars import RoleVars
from .task_files import find_task_file, invalid_task_files
from .types import wrong_types
from .values import CHECKED, invalid_values
from .variables import unknown_variables

IN_PROGRESS = "in progress"
_NODE_NAME = re.compile(r"[a-zA-Z0-9][-.a-zA-Z0-9]*")
_HOOKS = ("node_patch_pre_hooks", "node_patch_post_hooks")
_TASKS = ("node_patch_tasks", "node_patch_reboot_tasks")


def read_input(role: RoleVars, local: bool) -> tuple[dict[str, Any], list[str]]:
    """Return what later tasks need of the options, normalised, and in sentences what is wrong with them.

    local: whether the host is the machine that Ansible runs on.
    """
    named = {name: role.strings(name) for name in _HOOKS}
    named.update({name: [role.text(name)] if role.text(name) else [] for name in _TASKS})
    files = {path: find_task_file(path, _playbook_folder(role)) for paths in named.values() for path in paths}
    reboots = not named["node_patch_reboot_tasks"] and role.text("node_patch_reboot") != "never"
    patches = not named["node_patch_tasks"]
    values = {
        "files": files,
        "pre_hooks": named["node_patch_pre_hooks"],
        "post_hooks": named["node_patch_post_hooks"],
        "rights": steps_with_rights(role),
        "waits_for_workloads": waits_for_workloads(role),
        # Not parsed as YAML, which reads the names 1.10 and on as a number and a boolean.
        "ignored_nodes": _NODE_NAME.findall(",".join(_entries(role.value("node_patch_gate_ignore_nodes")))),
        "local": local,
        # Another user is needed only for what the role itself does on the host.
        "becomes": role.flag("node_patch_become") and (patches or reboots),
    }
    invalid = _invalid_values(role)
    values["invalid"] = bool(invalid)
    found = [
        *_left_behind(role),
        *_missing_files(role, named, files),
        invalid_task_files([path for path in files.values() if path]),
        unknown_names(role),
        invalid,
    ]
    if local and reboots and (patches or role.text("node_patch_reboot") != "auto"):
        found.append(
            f"Ansible does not reboot the machine that it runs on, and {role.host()} has a local connection. Name a "
            "task file in node_patch_reboot_tasks, or set node_patch_reboot to never."
        )
    return values, [text for text in found if text]


def steps_with_rights(role: RoleVars) -> list[str]:
    """Return the steps whose rights the chosen options need."""
    steps = {
        "look": True,
        "drain": True,
        "csi_drivers": role.flag("node_patch_check_csi_drivers"),
        "healing": waits_for_workloads(role) or bool(role.value("node_patch_gate_workloads")),
        "delete_pods": role.flag("node_drain_disable_eviction"),
        "volumes": role.flag("node_drain_wait_volume_detach"),
        "lock": role.flag("node_patch_lock"),
    }
    return [step for step, needed in steps.items() if needed]


def waits_for_workloads(role: RoleVars) -> bool:
    """Return whether the run waits for workloads after the uncordon. YAML reads off without quotes as false."""
    return role.text("node_patch_heal").lower() not in ("off", "false")


def unknown_names(role: RoleVars) -> str:
    """Return in a sentence which variables that begin as the roles' do are unknown."""
    return unknown_variables(role.variables).sentence()


def foreign_names(role: RoleVars, hosts: list[str], playbook: str) -> list[str]:
    """Return which variables of a playbook's hosts begin with the playbook's name, but are not known."""
    return unknown_variables(_names(role, hosts), playbook).foreign


def check_playbook(role: RoleVars, hosts: list[str], playbook: str) -> list[str]:
    """Return in sentences what is wrong with the variables of a playbook's hosts."""
    names = unknown_variables(_names(role, hosts), playbook).sentence()
    return [names, wrong_types([role.variables["hostvars"][host] for host in hosts], playbook)]


def _names(role: RoleVars, hosts: list[str]) -> set[str]:
    return {str(name) for host in hosts for name in role.variables["hostvars"][host]}


def check_host(role: RoleVars) -> str:
    """Return why the host cannot be patched by Ansible, from the last ping; "" if it can."""
    first = role.result("node_patch_reached")
    if not first or first.get("ping"):
        return ""
    # The tasks for a second try are skipped if the host never answered.
    again = role.result("node_patch_reached_again")
    return unreached(again or first, role.result("node_patch_reached_plainly") or None, role.host())


def check_packages(role: RoleVars) -> str:
    """Return why the role cannot upgrade the host's packages, or not ask about a reboot; "" if it can."""
    facts = role.variables.get("ansible_facts") or {}
    hint = role.variables.get("node_patch_hints")
    upgrades = not role.text("node_patch_tasks")
    return unmanaged(
        str(facts.get("pkg_mgr") or ""), role.host(), upgrades, hint if isinstance(hint, Mapping) else None
    )


def _playbook_folder(role: RoleVars) -> str:
    return str(role.variables.get("playbook_dir") or os.curdir)


def _entries(value: Any) -> list[str]:
    return [str(entry) for entry in (value if isinstance(value, (list, tuple)) else [value or ""])]


def _invalid_values(role: RoleVars) -> str:
    values = {name: role.value(name) for name in CHECKED if name in role.variables}
    return invalid_values({**values, "node_patch_connection": role.mapping("node_patch_connection")})


def _left_behind(role: RoleVars) -> Iterator[str]:
    """Yield a sentence about nodes of earlier batches that are still in progress.

    A failure or a lost connection would have stopped the run, so a task file has dropped them (meta: end_host).
    """
    if role.text("node_patch_after_failure") != "stop" or role.flag("node_patch_preflight"):
        return
    batch = role.hosts("ansible_play_batch")
    nodes = [
        str(record["node"])
        for record in role.records()
        if record["state"] == IN_PROGRESS and record["host"] not in batch
    ]
    if nodes:
        yield f"An earlier batch left {', '.join(nodes)} in the middle of its patch, so no further node is patched."


def _missing_files(role: RoleVars, named: Mapping[str, list[str]], files: Mapping[str, str]) -> Iterator[str]:
    folder, here = _playbook_folder(role), os.path.realpath(os.curdir)
    # Nobody should put files of their own among those of a collection.
    shipped = "/ansible_collections/" in folder
    places = f"in {here}" if shipped else f"neither in {here} nor in {folder}"
    for variable, paths in named.items():
        missing = [path for path in paths if not files[path]]
        if missing and shipped:
            yield f"There is no task file {', '.join(missing)} {places}; see {variable}."
        elif missing:
            yield f"There is no task file {', '.join(missing)}, {places}; see {variable}."
