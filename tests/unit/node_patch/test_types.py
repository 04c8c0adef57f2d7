# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of the roles and playbooks that hold something of another type than they should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.types import wrong_types


class Undefined(Mapping[str, Any]):
    """A host with a variable whose template is undefined."""

    def __getitem__(self, name: str) -> Any:
        raise RuntimeError("'rack' is undefined")

    def __iter__(self) -> Iterator[str]:
        return iter(["node_patch_soak"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("node_patch_soak", "fast", "is 'fast', but must be a whole number."),
        ("node_patch_done_hours", "a day", "is 'a day', but must be a number."),
        ("node_patch_lock", "perhaps", "is 'perhaps', but must be true or false."),
        ("node_patch_reboot", "perhaps", "is 'perhaps', but must be one of auto, always, never."),
        ("node_drain_force", "perhaps", "is 'perhaps', but must be true or false."),
        ("node_patch_window", {"days": ["sat"]}, "must be a list of dictionaries."),
        ("node_patch_window", ["sat"], "must be a list of dictionaries."),
        ("node_patch_connection", "a secret", "must be a dictionary."),
        (
            "node_patch_gate_checks",
            ["nodes"],
            "must be a list, each of nodes_ready, foreign_owners, control_plane.",
        ),
        (
            "node_drain_connection",
            {"contxt": "prod"},
            "has unknown keys: contxt (did you mean context?).",
        ),
        ("upgrade_serial", "two", "is 'two', but must be a number or a percentage such as 10%."),
        ("upgrade_serial", 0, "is 0, but must be 1 or more."),
        ("upgrade_serial", [1, "many"], "is 'many', but must be a number or a percentage such as 10%."),
        ("upgrade_control_plane", "middle", "is 'middle', but must be one of first, last."),
    ],
)
def test_what_a_variable_cannot_be_is_said(name: str, value: Any, said: str) -> None:
    assert wrong_types([{name: value}], "upgrade") == f"The variable {name} {said}"


def test_what_many_hosts_have_is_said_once() -> None:
    hosts = [{"node_patch_soak": "fast"}, {"node_patch_soak": "fast", "node_patch_lock": 7}, {}]
    assert wrong_types(hosts, "upgrade") == (
        "The variable node_patch_soak is 'fast', but must be a whole number. "
        "The variable node_patch_lock is 7, but must be true or false."
    )


@pytest.mark.parametrize(
    "host",
    [
        # Extra variables of the form key=value are texts.
        {"node_patch_soak": "30", "node_patch_lock": "true", "node_patch_gate_checks": "nodes_ready,control_plane"},
        {"node_patch_window": [{"days": ["sat"]}], "node_patch_connection": '{"context": "prod"}'},
        {"node_patch_heal": False, "node_patch_pre_hooks": None},
        {"upgrade_serial": "25%", "drain_serial": "none of this playbook's"},
        {"upgrade_serial": ["1", "50%"], "upgrade_control_plane": "first"},
        {"node_patch_soak": "{{ soak_of_this_rack }}"},
        Undefined(),
    ],
    ids=["texts", "a dictionary as text", "YAML's off, and nothing", "percentage", "list", "a template", "undefined"],
)
def test_what_it_can_be_is_not_refused(host: Mapping[str, Any]) -> None:
    assert wrong_types([host], "upgrade") == ""


def test_the_serial_of_a_drain_is_looked_at_too() -> None:
    # Ansible would take 0 for all hosts at once.
    assert wrong_types([{"drain_serial": 0}], "drain") == "The variable drain_serial is 0, but must be 1 or more."
