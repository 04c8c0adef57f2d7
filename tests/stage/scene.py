# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with a task that runs on it, in simulated time."""

from __future__ import annotations

from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.context import Context
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.drain import Maintenance
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.result import (
    Report,
    diff_of,
    result_of,
    warnings_of,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.result import result_of as rollout_result
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.rollout import Rollouts
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Deadline
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import SILENT
from kubesim import builders
from kubesim.agenda import TEST_EPOCH, Agenda
from kubesim.cluster import Cluster

from .line import SimClock, SimConnection
from .options import drain_task, rollout_task
from .workers import InlineWorkers

SETTLING = 2.0


class Scene:
    """A cluster with nodes w1 and w2, and what a test puts on them.

    Without controllers nothing moves but what the test moves, except that kubelets end deleted pods.
    """

    def __init__(
        self, *objects: dict[str, Any], nodes: tuple[str, ...] = ("w1", "w2"), controllers: bool = True
    ) -> None:
        self.cluster = Cluster(Agenda(TEST_EPOCH), controllers=controllers)
        self.agenda, self.store, self.faults = self.cluster.agenda, self.cluster.store, self.cluster.faults
        self.clock = SimClock(self.cluster)
        self.connection = SimConnection(self.cluster, self.clock)
        self.workers = InlineWorkers(self.agenda)
        self.progress = SILENT
        self.store.load([builders.node(name) for name in nodes] + [builders.namespace("default")])
        self.store.load(list(objects))
        self.agenda.advance(SETTLING)
        self.started = self.agenda.now
        self.cluster.requests.clear()

    def run(self, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Run k8s_node_drain with these parameters (name w1 unless given); return its result with failed, warnings."""
        if "node_selectors" not in params:
            params.setdefault("name", ["w1"])
        report = self._report(check_mode, params)
        return dict(result_of(report), failed=report.failed, warnings=warnings_of(report))

    def diff(self, check_mode: bool = False, **params: Any) -> list[dict[str, Any]]:
        """Run k8s_node_drain as run() does, and return its diff."""
        return diff_of(self._report(check_mode, dict(params, name=["w1"])))

    def _report(self, check_mode: bool, params: dict[str, Any]) -> Report:
        tools = self._tools()
        self.started = self.agenda.now
        return Maintenance(drain_task(params, check_mode), tools).run()

    def follow(self, **params: Any) -> dict[str, Any]:
        """Run k8s_rollout_status with these parameters (kind Deployment with a name unless given); as run() does."""
        if params.keys() & {"name", "label_selectors"}:
            params.setdefault("kind", "Deployment")
        tools = self._tools()
        self.started = self.agenda.now
        report = Rollouts(rollout_task(params), tools).run()
        return dict(rollout_result(report), failed=report.failed, warnings=report.warnings)

    def _tools(self) -> Context:
        def rest_for(deadline: Deadline) -> Rest:
            return Rest(self.connection, self.clock, deadline)

        return Context(self.workers, self.clock, rest_for, self.progress)

    @property
    def seconds(self) -> float:
        """Simulated seconds since the task began."""
        return round(self.agenda.now - self.started, 2)

    def pods(self, node: str = "w1") -> list[str]:
        """Return the names of the pods on a node."""
        return [p["metadata"]["name"] for p in self.store.list("Pod") if p["spec"].get("nodeName") == node]

    def requests(self, method: str, part: str = "") -> list[Any]:
        """Return the logged requests of a method whose path has the part in it; reviews of rights only if named."""
        asked = [r for r in self.cluster.requests if r.method == method and part in r.path]
        return [r for r in asked if part or "accessreview" not in r.path]

    def cordoned(self, node: str = "w1") -> bool:
        """Return whether a node is unschedulable."""
        found = self.store.get("Node", None, node)
        return bool(found and found["spec"].get("unschedulable"))


def drained(result: dict[str, Any]) -> list[str]:
    """Return the names of the pods that the task made go."""
    return [pod["name"] for node in result["nodes"] for pod in node["evicted"]]
