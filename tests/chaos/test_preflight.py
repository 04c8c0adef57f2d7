# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the look before a drain takes on a full node."""

from __future__ import annotations

import time
from pathlib import Path

from chaos import population
from chaos.served import drained, prepare
from embedded_cluster import EmbeddedCluster
from kubesim import builders

PODS, BUDGETS = 500, 200


def test_five_hundred_pods_and_two_hundred_budgets_are_looked_at_in_a_second(tmp_path: Path) -> None:
    owner = builders.replica_set("web", PODS - 1)
    pods = builders.pods_of(owner, [population.NODE] * (PODS - 1))
    budgets = [builders.budget(f"pdb-{n}", max_unavailable=1) for n in range(BUDGETS - 1)]
    # No option allows this pod to go, so that the task ends with its look.
    bare = builders.pod("bare", node_name=population.NODE)
    with EmbeddedCluster(tmp_path, lifetime=300) as cluster:
        prepare(cluster, [owner, *pods, bare], [*budgets, builders.budget("web", max_unavailable=100)])
        cluster.control("DELETE", "requests")
        began = time.process_time()
        result, seconds = drained(cluster, name=[population.NODE])
        computed = time.process_time() - began
        sent = [(request["method"], request["path"]) for request in cluster.control("GET", "requests")]
    print(f"{seconds:.2f} s, of which {computed:.2f} s of computing", *sent, sep="\n")
    assert result["msg"].startswith("Nothing was changed, because 1 pod on w1 cannot be evicted")
    # On a busy machine the rest of the second may be longer; it is spent on these requests.
    assert (len(sent) <= 6, computed < 1.0, seconds < 20) == (True, True, True)
