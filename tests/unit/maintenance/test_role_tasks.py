# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tasks of the roles have in common."""

from __future__ import annotations

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
