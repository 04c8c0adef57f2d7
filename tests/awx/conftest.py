# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of AWX's parts share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from awx_collection import Unavailable, fetch


@pytest.fixture(scope="session")
def awx_collection() -> Path:
    """Return the folder with the collection awx.awx. Where it cannot be had, skip; in CI, which can have it, fail."""
    try:
        return fetch()
    except Unavailable as problem:
        if os.environ.get("CI"):
            pytest.fail(str(problem))
        pytest.skip(str(problem))
