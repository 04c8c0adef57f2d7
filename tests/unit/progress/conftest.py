# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A screen and a clock for the tests of progress."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress import lines
from runtime.listener import Hands


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Show what is displayed: texts, and whether they go to the standard error output."""
    shown: list[tuple[str, bool]] = []

    class Screen:
        def display(self, text: str, color: str = "", stderr: bool = False) -> None:
            shown.append((text, stderr))

    monkeypatch.setattr(lines, "Display", Screen)
    return shown


@pytest.fixture
def clock() -> Hands:
    return Hands()
