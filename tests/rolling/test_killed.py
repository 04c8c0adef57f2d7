# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is killed at any moment leaves a state that the next run ends.

ROLLING_KILLS says how often (2 unless set), ROLLING_SEED at which moments.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import pytest
from patched_cluster import NEW_KUBELET, PatchedCluster, hosts

from kubesim import builders

KILLS = int(os.environ.get("ROLLING_KILLS", "2"))
CHANCE = random.Random(int(os.environ.get("ROLLING_SEED", "20261130")))
# A whole run sends about 160 requests. They show how far it has come, on a slow machine, too.
MOMENTS = [(CHANCE.randint(1, 120), CHANCE.uniform(0.0, 1.0)) for _number in range(KILLS)]
PATIENCE = 240.0


def await_requests(cluster: PatchedCluster, run: subprocess.Popen[str], number: int) -> None:
    """Return when the run has sent so many requests, or has ended."""
    end = time.monotonic() + PATIENCE
    while cluster.requests() < number and run.poll() is None:
        assert time.monotonic() < end, f"only {cluster.requests()} requests came"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("number", "pause"), MOMENTS, ids=[f"{pause:.1f}_s_after_request_{number}" for number, pause in MOMENTS]
)
def test_a_killed_run_is_ended_by_the_next(cluster: PatchedCluster, number: int, pause: float) -> None:
    cluster.fill()
    cluster.inventory(hosts("w1", "w2"), node_patch_lock=True, node_patch_kubelet_version=NEW_KUBELET)
    run = cluster.start("upgrade")
    try:
        await_requests(cluster, run, number)
        time.sleep(pause)
        assert run.poll() is None, f"it ended with {run.returncode} after {cluster.requests()} requests"
    finally:
        # The process alone: whatever it has started has to notice by itself.
        run.send_signal(signal.SIGKILL)
        run.wait()
    again = cluster.play("upgrade")
    assert again.status == 0, again.output
    assert (cluster.cordoned(), cluster.locks(), cluster.control("GET", "violations")) == ([], [], [])
    assert set(cluster.kubelets().values()) == {NEW_KUBELET}
    assert set(again.states().values()) <= {"done", "skipped"}
    time.sleep(0.1)
    assert cluster.cordoned() == []


def test_a_node_that_was_back_when_its_run_was_killed_is_only_awaited(cluster: PatchedCluster) -> None:
    before = {"boot_id": "old", "kubelet_version": "v1.36.2", "daemonsets": [], "csi_drivers": [], "taints": []}
    mark = {"campaign": "patch", "owner": "node-patch", "state": "back", "at": 1, "before": before, "reboots": True}
    text = json.dumps({**mark, "workloads": []})
    cluster.fill(builders.node("h1", annotations={"kubeops.maintenance/node-patch": text}), workers=1)
    cluster.inventory({"h1": {}})
    played = cluster.play("upgrade")
    assert played.states() == {"h1": "done"}, played.output
    assert cluster.changes() == ["PATCH /api/v1/nodes/h1"]
