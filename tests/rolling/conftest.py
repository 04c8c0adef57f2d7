# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the tests of the rolling patch find their parts and one another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "tools")]

from patched_cluster import PatchedCluster  # noqa: E402 - its folder comes first


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PatchedCluster]:
    """Return an empty cluster for the tests of one file, each of which fills it."""
    with PatchedCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running
