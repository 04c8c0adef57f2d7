# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that were meant for the roles or their playbooks, and are not known there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.variables import (
    FACTS,
    PLAYBOOKS,
    ROLES,
    UnknownVariables,
    options,
    unknown_variables,
)

ROOT = Path(__file__).resolve().parents[3]
OURS = re.compile(r"\b(?:node_patch|node_drain)_[a-z_]+\b(?!\.yml|#)")


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def names_in(document: Any) -> Iterator[str]:
    """Yield the names that tasks set, register, and hand on."""
    if isinstance(document, list):
        for entry in document:
            yield from names_in(entry)
    elif isinstance(document, dict):
        for key, value in document.items():
            if key in ("register", "loop_var"):
                yield value
            yield key
            yield from names_in(value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("node_drain_timout", "node_drain_timeout"),
        ("node_patch_reboots_timeout", "node_patch_reboot_timeout"),
        ("node_patch_force", "node_drain_force"),
        ("node_patch_timeout", "node_drain_timeout"),
    ],
)
def test_a_slip_is_refused_with_the_name_that_was_meant(name: str, meant: str) -> None:
    assert unknown_variables([name]) == UnknownVariables([f"{name} (did you mean {meant}?)"], [])


def test_a_name_like_no_other_is_refused_without_a_guess() -> None:
    assert unknown_variables(["node_patch_max_surge"]) == UnknownVariables(["node_patch_max_surge"], [])


@pytest.mark.parametrize(
    ("playbook", "name", "meant"),
    [
        ("upgrade", "upgrade_seriall", "upgrade_serial"),
        ("upgrade", "upgrade_host", "upgrade_hosts"),
        ("drain", "drain_seriall", "drain_serial"),
        ("uncordon", "uncordon_host", "uncordon_hosts"),
    ],
)
def test_a_slip_in_a_playbooks_variable_is_refused(playbook: str, name: str, meant: str) -> None:
    assert unknown_variables([name], playbook) == UnknownVariables([f"{name} (did you mean {meant}?)"], [])


def test_what_may_belong_to_another_role_is_not_refused() -> None:
    names = ["drain_timeout", "drain_retries", "upgrade_node_confirm"]
    assert unknown_variables(names, "drain") == UnknownVariables(
        [], ["drain_retries", "drain_timeout (did you mean node_drain_timeout?)"]
    )


def test_a_role_alone_looks_only_at_names_that_begin_with_a_roles() -> None:
    assert unknown_variables(["upgrade_seriall", "drain_seriall", "my_node_patch_x"]) == UnknownVariables([], [])


def test_all_are_said_in_one_sentence() -> None:
    assert unknown_variables(["node_drain_timout", "node_patch_x", "node_patch_soak", "other"]).sentence() == (
        "Unknown variables: node_drain_timout (did you mean node_drain_timeout?), node_patch_x."
    )


def test_nothing_is_said_if_all_are_known() -> None:
    names = [*options(), *FACTS, *PLAYBOOKS["upgrade"], "node_feature_x"]
    assert unknown_variables(names, "upgrade").sentence() == ""


@pytest.mark.parametrize("role", ROLES)
def test_every_default_is_an_option(role: str) -> None:
    assert set(loaded(f"roles/{role}/defaults/main.yml")) - options() == set()


@pytest.mark.parametrize("role", ROLES)
def test_every_name_that_tasks_hand_on_is_known(role: str) -> None:
    found: set[str] = set()
    for path in sorted((ROOT / "roles" / role / "tasks").glob("*.yml")):
        found.update(
            name for name in names_in(yaml.safe_load(path.read_text(encoding="utf-8"))) if OURS.fullmatch(name)
        )
    assert found
    assert unknown_variables(found) == UnknownVariables([], [])


def test_no_fact_is_listed_that_no_task_sets() -> None:
    text = "".join(
        path.read_text(encoding="utf-8") for path in ROOT.glob("*/**/tasks/*.yml") if "tests" not in path.parts
    )
    assert [name for name in FACTS if name not in text] == []


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_every_variable_of_a_playbook_is_known(playbook: str) -> None:
    text = (ROOT / "playbooks" / f"{playbook}.yml").read_text(encoding="utf-8")
    found = set(re.findall(rf"\b{playbook}_[a-z_]+\b", text)) - {"upgrade_plan"}
    assert found == set(PLAYBOOKS[playbook])
