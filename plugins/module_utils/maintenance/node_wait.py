# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a node is ready again after maintenance, and stays healthy for a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..api.rest import Rest
from ..cluster.cluster import Cluster
from ..cluster.context import Context
from ..cluster.nodes import node_facts
from ..errors import (
    ApiError,
    InvalidConfiguration,
    InvalidOptions,
    MaintenanceError,
    ServerFault,
    TooManyRequests,
    Unreachable,
)
from ..objects import Obj, int_field, uid_of
from ..option_checks import check_at_least
from ..reasons import UnmetReason
from ..text import format_duration
from .node_conditions import Expected, StableFor, Unmet, taint_from, unmet_by_drivers, unmet_by_node, unmet_by_pods
from .polling import EPSILON, Pending, Polling

# Seconds for the requests of one check.
MAX_REQUEST = 30.0

Value = TypeVar("Value")


@dataclass(frozen=True)
class WaitTask:
    """What a task asks for; options of the same names, as documented."""

    name: str
    expected: Expected
    ready_for: float = 0.0
    wait_timeout: int = 900
    wait_sleep: float = 5.0


def task_from(params: Mapping[str, Any]) -> WaitTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    check_at_least("wait_timeout", params.get("wait_timeout"), 0, "seconds, 0 for no limit")
    check_at_least("wait_sleep", params.get("wait_sleep"), 0, "seconds")
    check_at_least("ready_for", params.get("ready_for"), 0, "seconds")
    name = str(params.get("name") or "").strip()
    if not name:
        raise InvalidOptions("the option name is empty, but must be the name of a node")
    ready_for, wait_timeout = int_field(params.get("ready_for")), int_field(params.get("wait_timeout"), 900)
    if 0 < wait_timeout <= ready_for:
        raise InvalidOptions(
            f"the option ready_for ({ready_for} s) must be shorter than wait_timeout ({wait_timeout} s)"
        )
    taints = params.get("taints")
    expected = Expected(
        other_boot_id=str(params.get("boot_id_before") or ""),
        kubelet_version=_as_kubelets_write(str(params.get("kubelet_version") or "").strip()),
        daemonsets=_texts(params.get("daemonsets")),
        csi_drivers=_texts(params.get("csi_drivers")),
        taints=None if taints is None else tuple(taint_from(entry) for entry in taints),
    )
    return WaitTask(name, expected, float(ready_for), wait_timeout, max(1.0, float(int_field(params["wait_sleep"], 5))))


def _as_kubelets_write(version: str) -> str:
    """Return v1.36.3 for 1.36.3, as packages are versioned: a wait for what no kubelet says would never end."""
    return "v" + version if version[:1].isdigit() else version


class NodeWait:
    """A wait for one node."""

    def __init__(self, task: WaitTask, context: Context) -> None:
        self._task = task
        self._clock = context.clock
        self._polling = Polling(context, task.name, task.wait_timeout, MAX_REQUEST)
        self.warnings: list[str] = []
        self._node: Obj | None = None
        self._stable = StableFor()
        self._unmet: list[Unmet] = []
        # What is requested now, and what was returned before.
        self._request = ""
        self._returned: set[str] = set()

    def run(self, check_mode: bool = False) -> dict[str, Any]:
        """Return the module's result, as RETURN in its documentation describes it. In check mode, check once."""
        return self._result(self._polling.run(self._check, self._on_error, "ready", once=check_mode))

    def _check(self, rest: Rest) -> Pending | None:
        """Return what the node lacks, and track how long it has been healthy."""
        node = self._found(Cluster(rest))
        if isinstance(node, list):
            self._stable.reset()
            self._unmet = node
            return Pending(f"not ready yet: {_joined(node)}", self._task.wait_sleep)
        self._unmet = []
        self._stable.add(node, self._clock.monotonic())
        lasted, wanted = self._stable.lasted, self._task.ready_for
        if lasted >= wanted:
            return None
        first = f"healthy; must stay healthy for {format_duration(wanted)}" if lasted < EPSILON else ""
        delay = min(self._task.wait_sleep, max(wanted - lasted, 0.1))
        return Pending(self._healthy_for(), delay, first, self._stable.starts)

    def _on_error(self, error: MaintenanceError) -> Pending | None:
        if not self._may_pass(error):
            return None
        self._stable.interrupt()
        away = isinstance(error, (ServerFault, TooManyRequests, Unreachable))
        what = "does not answer" if away else "refuses what it allowed before"
        self._unmet = [Unmet(UnmetReason.API_SERVER, f"the API server {what} ({error.first_line()})")]
        begin = f"{self._healthy_for()}, but " if self._stable.lasted > 0 else "not ready yet: "
        return Pending(begin + _joined(self._unmet), self._task.wait_sleep, kind=UnmetReason.API_SERVER)

    def _may_pass(self, error: MaintenanceError) -> bool:
        """Return whether to keep waiting after an error. It may last: a control plane may have one node only."""
        if isinstance(error, Unreachable):
            # Names that resolved before may fail with the node that runs the resolver.
            return not error.final or (bool(self._returned) and error.details.get("kind") == "name")
        if isinstance(error, (ServerFault, TooManyRequests)):
            return True
        # An API server that has just started may not know its roles yet, nor who vouches for tokens. What gives
        # credentials may have been on the node.
        return isinstance(error, (ApiError, InvalidConfiguration)) and self._request in self._returned

    def _healthy_for(self) -> str:
        return f"healthy for {format_duration(self._stable.lasted)} of {format_duration(self._task.ready_for)}"

    def _found(self, cluster: Cluster) -> Obj | list[Unmet]:
        """Return the node, or what it lacks."""
        expected = self._task.expected
        node = self._read(cluster)
        if node is None:
            return [Unmet(UnmetReason.GONE, "it is not in the cluster any more")]
        found = unmet_by_node(node, expected)
        if not found and expected.daemonsets:
            pods = self._requested("pods", partial(cluster.pods_on, self._task.name, []))
            found = unmet_by_pods(pods.items, expected)
        if not found and expected.csi_drivers:
            drivers = self._requested("drivers", partial(cluster.csi_drivers, self._task.name))
            found = unmet_by_drivers(drivers, expected)
        return found or node

    def _requested(self, what: str, request: Callable[[], Value]) -> Value:
        self._request = what
        value = request()
        self._returned.add(what)
        return value

    def _read(self, cluster: Cluster) -> Obj | None:
        before = self._node
        node = self._requested("node", partial(cluster.node_now, self._task.name))
        # A boot ID proves that the node existed: some clouds remove a node from the cluster while it is down.
        if node is None and before is None and not self._task.expected.other_boot_id:
            raise InvalidOptions(f"there is no node {self._task.name!r} in this cluster")
        if node is not None:
            if before is not None and uid_of(before) != uid_of(node):
                self.warnings.append(
                    f"node {self._task.name} left the cluster and joined it again: its earlier cordon, labels, taints "
                    "and annotations are gone, unless they were set again"
                )
            self._node = node
        return node

    def _result(self, done: bool) -> dict[str, Any]:
        name, unmet, waited = self._task.name, self._unmet, self._polling.waited
        if done:
            message = f"Node {name} is ready after {format_duration(waited)}"
        elif unmet:
            message = f"Node {name} is not ready after {format_duration(waited)}: {_joined(unmet)}"
        else:
            lasted, wanted = format_duration(self._stable.lasted), format_duration(self._task.ready_for)
            message = f"Node {name} has been healthy for only {lasted}, not {wanted}"
        return {
            "changed": False,
            "msg": message + ".",
            "back": done,
            "lacks": [{"reason": reason.value, "message": message} for reason, message in unmet],
            "node": {} if self._node is None else node_facts(self._node),
            "waited": round(waited, 1),
        }


def _joined(unmet: list[Unmet]) -> str:
    return "; ".join(condition.message.rstrip(".") for condition in unmet)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value) for value in values or () if value))
