# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that run in the process of the tests leave its signals as they were."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.cancellation import SIGNALS


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """Put back what signals did: a module ignores them while it reports, and processes inherit that."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
