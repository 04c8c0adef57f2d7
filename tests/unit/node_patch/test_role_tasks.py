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

from ansible_collections.kubeops.maintenance.plugins.filter.node_patch import FilterModule

ROLES = Path(__file__).resolve().parents[3] / "roles"


def tasks_of(entries: list[dict[str, Any]], outer: dict[str, Any] | None = None) -> Iterator[dict[str, Any]]:
    """Yield tasks, those of blocks included, each with what it inherits from its blocks."""
    for entry in entries:
        task = {**(outer or {}), **entry, "vars": {**(outer or {}).get("vars", {}), **entry.get("vars", {})}}
        inherited = {key: task[key] for key in ("delegate_to", "become", "vars") if key in task}
        for part in ("block", "rescue", "always"):
            yield from tasks_of(entry.get(part, []), inherited)
        if "block" not in entry:
            yield task


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


FILES = sorted(ROLES.glob("*/tasks/*.yml"))
TASKS = [(path, task) for path in FILES for task in tasks_of(loaded(path))]
MODULES = "kubeops.maintenance.k8s_"
OF_THE_CLUSTER = [
    pytest.param(task, id=f"{path.parents[1].name}/{path.name}: {task['name'][:40]}")
    for path, task in TASKS
    if "delegate_to" in task or any(key.startswith(MODULES) and not key.endswith("_report") for key in task)
]


@pytest.mark.parametrize("task", OF_THE_CLUSTER)
def test_what_is_done_on_the_controller_is_done_as_the_user_who_started_the_run(task: dict[str, Any]) -> None:
    # The variable goes before the keyword, and an inventory may have it for all hosts.
    assert (task["delegate_to"], task["become"], task["vars"]["ansible_become"]) == ("localhost", False, False)


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts of a task, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from texts_in(entry)


def test_expressions_of_tasks_are_short() -> None:
    # What is longer belongs into Python, where it has names and tests.
    playbooks = sorted((ROLES.parent / "playbooks").glob("**/tasks/*.yml"))
    long = [
        f"{path.name}: {expression}"
        for path in [*FILES, *playbooks]
        for text in texts_in(loaded(path))
        for expression in re.findall(r"\{\{.*?\}\}", text, re.DOTALL) or [text]
        if len(expression) > 100 and ("{{" in expression or "==" in expression)
    ]
    assert long == []


def test_the_role_is_small_enough_to_be_read() -> None:
    patch = ROLES / "node_patch"
    filters = FilterModule().filters()
    assert len((patch / "vars" / "main.yml").read_text(encoding="utf-8").splitlines()) <= 65
    assert len(list((patch / "tasks").glob("*.yml"))) <= 20
    assert len(filters) <= 5
    assert sorted(filters) == sorted(path.stem for path in (ROLES.parent / "plugins" / "filter").glob("*.yml"))


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
    names = [task["name"] for task in tasks_of(loaded(ROLES / "node_patch" / "tasks" / "patch.yml"))]
    assert names.index("Drain the node") < names.index("Renew the lock") < names.index("Patch the host")
