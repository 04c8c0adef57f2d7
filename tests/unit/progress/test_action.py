# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the action plugins ask of the module."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress.action import ProgressAction


@pytest.mark.parametrize(
    "option, variable, wanted",
    [(None, "", "changes"), (None, "off", "off"), (False, "", "off"), ("off", "", "off"), ("False", "", "off"),
     ("summary", "off", "summary"), (None, "summary", "summary")],
)  # fmt: skip
def test_the_option_wins_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, option: Any, variable: str, wanted: str
) -> None:
    monkeypatch.setenv("K8S_MAINTENANCE_PROGRESS", variable)
    plugin = ProgressAction.__new__(ProgressAction)
    plugin._task = SimpleNamespace(args={} if option is None else {"progress": option})
    assert plugin._wanted() == wanted


def test_the_module_gets_the_variables_and_the_task_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_MAINTENANCE_PROGRESS", "summary")
    seen: list[Any] = []
    plugin = ProgressAction.__new__(ProgressAction)
    plugin._task = SimpleNamespace(environment=[{"A": "b"}], args={"name": "w1"})
    plugin._execute_module = lambda **options: seen.append((plugin._task.environment, options["module_args"])) or {}
    plugin._module(plugin._task.args, {}, {"FILE": "f"})
    assert seen == [([{"K8S_MAINTENANCE_PROGRESS": "summary"}, {"A": "b"}, {"FILE": "f"}], {"name": "w1"})]
    assert plugin._task.environment == [{"A": "b"}]
