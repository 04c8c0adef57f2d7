# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated cluster that is a process of its own, and drains of it as the module does them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.context import Context
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.connection import connect
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.drain import Maintenance
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.result import result_of
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.workers import Tag, ThreadWorkers
from embedded_cluster import EmbeddedCluster
from kubesim import builders
from stage import drain_task

from . import population

# Simulated seconds in a real one.
SPEED = 10


class StoppableWorkers(ThreadWorkers):
    """Workers of a process in which one drain follows the other."""

    def __init__(self) -> None:
        super().__init__()
        self._tags: set[Tag] = set()

    def follow(self, tag: Tag, items: Iterator[Any]) -> None:
        """Follow as ThreadWorkers does, until stop()."""
        self._tags.add(tag)
        super().follow(tag, items)

    def stop(self) -> None:
        """Stop following everything."""
        for tag in self._tags:
            self.drop(tag)


def drained(cluster: EmbeddedCluster, **params: Any) -> tuple[dict[str, Any], float]:
    """Run a drain as the module does; return its result and how long it took."""
    clock, workers = Clock(), StoppableWorkers()
    connection = connect({"kubeconfig": str(cluster.kubeconfig)})
    began = time.monotonic()
    try:
        tools = Context(workers, clock, lambda deadline: Rest(connection, clock, deadline))
        report = Maintenance(drain_task(params), tools).run()
    finally:
        workers.stop()
        connection.close()
    return dict(result_of(report), failed=report.failed), time.monotonic() - began


def prepare(cluster: EmbeddedCluster, first: list[Any], then: list[Any]) -> None:
    """Put objects into an empty cluster with one node, and others when those have settled."""
    cluster.control("POST", "reset", {})
    cluster.control("POST", "load", {"objects": [builders.node(population.NODE, pods=900), *first]})
    cluster.control("POST", "clock", {"advance": 5})
    cluster.control("POST", "load", {"objects": then})
    cluster.control("POST", "clock", {"advance": 5, "speed": SPEED})


def pods_on_the_node(cluster: EmbeddedCluster) -> dict[str, str]:
    """Return the names of the pods on the node, by uid."""
    listed = cluster.call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D" + population.NODE)
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in listed["items"]}
