# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find misspelt and unknown variables of the roles and their playbooks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ansible.module_utils.common.yaml import yaml_load

ROLES = ("node_drain", "node_patch")
# The variables of the playbooks, by playbook: the first word of the names.
PLAYBOOKS = {
    "upgrade": ("upgrade_hosts", "upgrade_serial", "upgrade_control_plane"),
    "drain": ("drain_hosts", "drain_serial"),
    "uncordon": ("uncordon_hosts",),
}
# What tasks of the roles set and register for one another; users may set the last two.
FACTS = (
    "node_drain_preview",
    "node_drain_result",
    "node_patch_found",
    "node_patch_gate",
    "node_patch_gate_rollouts",
    "node_patch_hints",
    "node_patch_hook",
    "node_patch_input",
    "node_patch_node_now",
    "node_patch_preflight",
    "node_patch_reached",
    "node_patch_reached_again",
    "node_patch_reached_plainly",
    "node_patch_reboot_file",
    "node_patch_reboot_hint",
    "node_patch_record",
    "node_patch_report",
    "node_patch_returned",
    "node_patch_rollouts",
    "node_patch_waited",
    "upgrade_plan",
    "node_patch_reboot_needed",
    "node_patch_rebooted",
)
_FOLDER = Path(__file__).resolve().parents[3] / "roles"
# Ends of names this similar are suggested; whole names this similar count as misspellings.
ALIKE, _MISSPELT = 0.7, 0.88


class UnknownVariables(NamedTuple):
    """Variables that are not known, each with the name that was probably meant.

    refused: those with a role's prefix, and likely misspellings of a playbook's variable; foreign: others that begin
    with the playbook's name, which may belong to other roles.
    """

    refused: list[str]
    foreign: list[str]

    def sentence(self) -> str:
        """Return in a sentence which are refused, "" if none are."""
        if not self.refused:
            return ""
        return f"Unknown variable{'s' if len(self.refused) > 1 else ''}: {', '.join(self.refused)}."


def options() -> frozenset[str]:
    """Return the names of the roles' options, of all entry points, as their argument specs have them."""
    return frozenset(specs())


def specs() -> dict[str, dict[str, Any]]:
    """Return the roles' options by name, each as its argument spec has it."""
    entries = [entry for role in ROLES for entry in _read(role, "meta/argument_specs.yml")["argument_specs"].values()]
    return {name: spec for entry in entries for name, spec in (entry.get("options") or {}).items()}


def unknown_variables(names: Iterable[str], playbook: str = "") -> UnknownVariables:
    """Return which of these names are unknown, of those that begin with a role's name and, if a playbook is given (a
    key of PLAYBOOKS), of those that begin with the playbook's.
    """
    ours = tuple(role + "_" for role in ROLES)
    words = (*ours, playbook + "_") if playbook else ours
    read = options().union(*PLAYBOOKS.values())
    known = read.union(FACTS, *(_read(role, "vars/main.yml") for role in ROLES))
    found = UnknownVariables([], [])
    for name in sorted({str(name) for name in names} - known):
        if not name.startswith(words):
            continue
        misspelt = difflib.get_close_matches(name, PLAYBOOKS.get(playbook, ()), 1, _MISSPELT)
        certain = name.startswith(ours) or bool(misspelt)
        (found.refused if certain else found.foreign).append(with_suggestion(name, misspelt or _likely(name, read)))
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


def with_suggestion(name: str, near: list[str]) -> str:
    """Return an unknown name with the known name that it is most like."""
    return f"{name} (did you mean {near[0]}?)" if near else name


def _read(role: str, file: str) -> dict[str, Any]:
    path = _FOLDER / role / file
    return (yaml_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}
