# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the role upgrades packages, which no test may do for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

FILE = Path(__file__).resolve().parents[3] / "roles" / "node_patch" / "tasks" / "packages.yml"
TASKS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
UPGRADES = {
    module: task for task in TASKS for module in ("ansible.builtin.apt", "ansible.builtin.dnf") if module in task
}


@pytest.mark.parametrize("module", UPGRADES)
def test_an_upgrade_outlives_its_session_and_shows_that_it_goes_on(module: str) -> None:
    task = UPGRADES[module]
    assert task["async"] == "{{ 0 if ansible_check_mode else node_patch_packages_timeout | int }}"
    # AWX gives jobs up that are silent for long.
    assert 0 < task["poll"] <= 60


def test_both_ways_to_upgrade_are_looked_at() -> None:
    assert sorted(UPGRADES) == ["ansible.builtin.apt", "ansible.builtin.dnf"]
