# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find variables that look as if they were meant for the roles or their playbooks, but that nothing reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.common.yaml import yaml_load

ROLES = ("node_drain", "node_patch")
# Of the playbooks, by the first word of their names, which stands for the playbook.
PLAYBOOKS = {
    "upgrade": ("upgrade_hosts", "upgrade_serial", "upgrade_control_plane"),
    "drain": ("drain_hosts", "drain_serial"),
    "uncordon": ("uncordon_hosts",),
}
# What tasks of the roles set and register, and hand on to one another; the last two are a user's to set.
FACTS = (
    "node_drain_rehearses",
    "node_drain_result",
    "node_patch_asked",
    "node_patch_back",
    "node_patch_before",
    "node_patch_files",
    "node_patch_found",
    "node_patch_healed",
    "node_patch_hints",
    "node_patch_hook",
    "node_patch_looks",
    "node_patch_reached",
    "node_patch_reached_plainly",
    "node_patch_reboot_file",
    "node_patch_reboot_hint",
    "node_patch_reboots",
    "node_patch_record",
    "node_patch_seen",
    "node_patch_state",
    "node_patch_step",
    "node_patch_told",
    "node_patch_waited",
    "node_patch_wanted",
    "node_patch_workloads",
    "upgrade_plan",
    "node_patch_reboot_needed",
    "node_patch_rebooted",
)
_FOLDER = Path(__file__).resolve().parents[3] / "roles"
# Ends of names more alike than this are worth a question; whole names more alike than that are one name, mistyped.
ALIKE, _MISTYPED = 0.7, 0.88


class Strangers(NamedTuple):
    """Variables that nothing reads, each with the name that was probably meant. refused: those that can be nobody
    else's, or that are a slip away from one that is read; odd: those of a playbook's first word, which other roles may
    know.
    """

    refused: list[str]
    odd: list[str]


def options() -> frozenset[str]:
    """Return the names of the roles' options, of all entry points, as their argument specs have them."""
    return frozenset(specs())


def specs() -> dict[str, dict[str, Any]]:
    """Return the roles' options by name, each as its argument spec has it."""
    entries = [entry for role in ROLES for entry in _read(role, "meta/argument_specs.yml")["argument_specs"].values()]
    return {name: spec for entry in entries for name, spec in (entry.get("options") or {}).items()}


def strangers(names: Iterable[str], playbook: str = "") -> Strangers:
    """Return which of these names nothing reads: of those that begin with a role's name and, if a playbook is given, of
    those that begin with its first word. ValueError if there is no such playbook.
    """
    if playbook not in ("", *PLAYBOOKS):
        raise ValueError("no playbook %r; there are %s" % (playbook, ", ".join(PLAYBOOKS)))
    ours = tuple(role + "_" for role in ROLES)
    words = (*ours, playbook + "_") if playbook else ours
    read = options().union(*PLAYBOOKS.values())
    known = read.union(FACTS, *(_read(role, "vars/main.yml") for role in ROLES))
    found = Strangers([], [])
    for name in sorted({str(name) for name in names} - known):
        if not name.startswith(words):
            continue
        slip = difflib.get_close_matches(name, PLAYBOOKS.get(playbook, ()), 1, _MISTYPED)
        certain = name.startswith(ours) or bool(slip)
        (found.refused if certain else found.odd).append(asked_back(name, slip or _likely(name, read)))
    return found


def _likely(name: str, read: Iterable[str]) -> list[str]:
    word = _word(name)
    rests = {other[len(_word(other)) :]: other for other in sorted(read, key=lambda other: _word(other) == word)}
    rest = name[len(word) :]
    # The right end after another word: drain_timeout for node_drain_timeout, node_patch_force for node_drain_force.
    found = [rest] if rest in rests else difflib.get_close_matches(rest, rests, 1, ALIKE)
    return [rests[end] for end in found]


def _word(name: str) -> str:
    return next((role + "_" for role in ROLES if name.startswith(role + "_")), name.partition("_")[0] + "_")


def asked_back(name: str, near: list[str]) -> str:
    """Return a name that nothing reads, with the nearest one that something does."""
    return "%s (did you mean %s?)" % (name, near[0]) if near else name


def _read(role: str, file: str) -> dict[str, Any]:
    path = _FOLDER / role / file
    return (yaml_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}
