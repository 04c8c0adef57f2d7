# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same drains with real threads, sockets and TLS, against a simulated cluster that is a process of its own."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from chaos import population
from chaos.mischief import PAGE
from chaos.served import drained, pods_on_the_node, prepare
from embedded_cluster import EmbeddedCluster

FAULTS = 60
LIMIT = 60
PLACES = ("/eviction$", "/eviction$", r"/api/v1/pods\?", "/api/v1/nodes/w1", "poddisruptionbudgets")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(tmp_path_factory.mktemp("cluster"), lifetime=600) as running:
        yield running


def faults(draw: random.Random) -> list[dict[str, Any]]:
    """Return what goes wrong with the n-th request to one of the places."""
    kinds = [
        lambda: {"status": draw.choice([408, 409, 500, 502, 504])},
        lambda: {"status": draw.choice([429, 503]), "headers": {"Retry-After": 1}},
        lambda: {"status": 502, "body_text": PAGE},
        lambda: {"reset": draw.choice(["before", "after"])},
        lambda: {"delay": draw.uniform(0, 8), "pass": True},
        lambda: {"watch": draw.choice(["end", "expire:2", "end:3"]), "path": "watch=true"},
    ]
    return [{"path": draw.choice(PLACES), "after": draw.randint(0, 40), **draw.choice(kinds)()} for _n in range(FAULTS)]


@pytest.mark.parametrize("seed", range(4))
def test_a_drain_by_threads_under_faults_ends_as_it_should(cluster: EmbeddedCluster, seed: int) -> None:
    draw = random.Random(seed)
    prepare(cluster, population.first(), [*population.budgets(), *population.others()])
    before = pods_on_the_node(cluster)
    planned = faults(draw)
    cluster.control("POST", "faults", {"faults": planned})
    away = threading.Timer(draw.uniform(0.3, 1.5), cluster.control, ("POST", "outage", {"seconds": 1}))
    away.start()
    options = {**population.OPTIONS, "wait_timeout": LIMIT, "wait_sleep": 1, "chunk_size": 25}
    result, seconds = drained(cluster, name=[population.NODE], delete_options=options, cordon_owner="job")
    away.join()
    cluster.control("DELETE", "faults")
    print(planned, result["msg"], sep="\n")
    assert (result["failed"], seconds < LIMIT) == (False, True)
    left = pods_on_the_node(cluster)
    assert sorted(name.split("-")[0] for name in left.values()) == ["agent", "apiserver"]
    told = {pod["uid"] for node in result["nodes"] for pod in node["evicted"]}
    assert told == set(before) - set(left) - {uid for uid, name in before.items() if name == "leaving"}
    assert cluster.call("GET", "/api/v1/nodes/" + population.NODE)["spec"]["unschedulable"] is True
    assert cluster.control("GET", "violations") == []
