# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock for the tests of progress."""

from __future__ import annotations

import pytest

from runtime.listener import Hands


@pytest.fixture
def clock() -> Hands:
    return Hands()
