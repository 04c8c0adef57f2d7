# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tasks of the roles have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = Path(__file__).resolve().parents[3] / "roles"


def tasks_of(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield tasks, those of blocks included."""
    for entry in entries:
        for part in ("block", "rescue", "always"):
            yield from tasks_of(entry.get(part, []))
        if "block" not in entry:
            yield entry


DELEGATED = [
    pytest.param(task, id=f"{path.parents[1].name}/{path.name}: {task['name'][:40]}")
    for path in sorted(ROLES.glob("*/tasks/*.yml"))
    for task in tasks_of(yaml.safe_load(path.read_text(encoding="utf-8")))
    if "delegate_to" in task
]


@pytest.mark.parametrize("task", DELEGATED)
def test_what_is_done_on_the_controller_is_done_as_the_user_who_started_the_run(task: dict[str, Any]) -> None:
    # The variable goes before the keyword, and an inventory may have it for all hosts.
    assert (task["delegate_to"], task["become"], task["vars"]["ansible_become"]) == ("localhost", False, False)


def test_names_stay_texts() -> None:
    # With the setting jinja2_native, ansible-core before 2.19 reads the node 1.10 as a number, which is 1.1.
    bare = re.compile(r"""["']\{\{ (inventory_hostname|node_\w+_(node|owner|holder|name|namespace)) \}\}["']""")
    found = [
        f"{path.parents[1].name}/{path.name}:{number}"
        for path in sorted(ROLES.glob("*/[dtv]*/*.yml"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.search(line)
    ]
    assert found == []


def default_of(role: str, variable: str) -> int:
    """Return the seconds that a role's variable has by default."""
    path = ROLES / role / "defaults" / "main.yml"
    return int(yaml.safe_load(path.read_text(encoding="utf-8"))[variable])


def test_the_lock_outlasts_by_default_what_lies_between_two_renewals() -> None:
    gate, drain = default_of("node_patch", "node_patch_gate_timeout"), default_of("node_drain", "node_drain_timeout")
    packages = default_of("node_patch", "node_patch_packages_timeout")
    back = default_of("node_patch", "node_patch_ready_timeout")
    reboot = default_of("node_patch", "node_patch_reboot_timeout")
    heal = default_of("node_patch", "node_patch_heal_timeout")
    # From the beginning to the patch (nodes, then workloads), to the reboot, to the uncordon, to the next node.
    longest = max(2 * gate + drain, packages, drain + reboot + back, heal)
    # A lock that was renewed within the first third of its duration is not renewed again.
    assert longest < default_of("node_patch", "node_patch_lock_duration") * 2 / 3
    steps = yaml.safe_load((ROLES / "node_patch" / "tasks" / "steps.yml").read_text(encoding="utf-8"))
    files = [str(task.get("ansible.builtin.import_tasks")) for task in tasks_of(steps)]
    assert files.index("drain.yml") < files.index("lock.yml") < files.index("patch.yml")
