# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A large cluster, a tenth of it at a time. It takes minutes, so it runs only if ROLLING_NODES says how many nodes.

ROLLING_NODES=100 .venv/bin/python -m pytest -s tests/rolling/test_many_nodes.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from patched_cluster import NEW_KUBELET, PatchedCluster, hosts

NODES = int(os.environ.get("ROLLING_NODES", "0"))
PATIENCE = 1700.0
pytestmark = pytest.mark.skipif(not NODES, reason="ROLLING_NODES is not set")


class Watched(NamedTuple):
    """What was seen while the playbook ran: seconds, the most cordoned nodes, megabytes of ansible-playbook."""

    status: int
    seconds: float
    most_cordoned: int
    memory: list[float]


def megabytes(pid: int) -> float:
    """Return the resident memory of a process, 0 if it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS")), 0.0)


@pytest.fixture(scope="module")
def watched(cluster: PatchedCluster) -> Watched:
    """Patch all nodes, and look at the cluster and at the playbook's process each second."""
    cluster.fill(workers=NODES)
    names = [f"w{number}" for number in range(1, NODES + 1)]
    cluster.inventory(hosts(*names), upgrade_serial="10%", node_patch_kubelet_version=NEW_KUBELET)
    started = time.monotonic()
    run = cluster.start("upgrade", "--forks", "10", output=cluster.place / "output.txt")
    most, memory = 0, []
    while run.poll() is None and time.monotonic() - started < PATIENCE:
        most = max(most, len(cluster.cordoned()))
        memory.append(megabytes(run.pid))
        time.sleep(1)
    if run.poll() is None:
        run.kill()
    seen = Watched(run.wait(), time.monotonic() - started, most, [size for size in memory if size])
    tenths = [f"{size:.0f}" for size in seen.memory[:: max(1, len(seen.memory) // 10)]]
    print(f"\n{NODES} nodes in {seen.seconds:.0f} s, at most {most} cordoned, megabytes over time: {', '.join(tenths)}")
    return seen


def test_it_comes_to_its_end(watched: Watched, cluster: PatchedCluster) -> None:
    assert watched.status == 0
    assert set(cluster.kubelets().values()) == {NEW_KUBELET}


def test_never_more_than_a_tenth_is_cordoned(watched: Watched) -> None:
    assert watched.most_cordoned <= max(1, NODES // 10)


def test_no_budget_is_violated_and_no_cordon_is_left(watched: Watched, cluster: PatchedCluster) -> None:
    assert (cluster.control("GET", "violations"), cluster.cordoned()) == ([], [])


def test_the_memory_of_the_playbook_stays_flat(watched: Watched) -> None:
    third = len(watched.memory) // 3
    middle, end = max(watched.memory[third : 2 * third]), max(watched.memory[2 * third :])
    assert end < middle * 1.25
