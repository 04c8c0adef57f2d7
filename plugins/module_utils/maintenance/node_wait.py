# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a node is back from maintenance and stays so for a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..api.rest import Rest
from ..cluster.cluster import Cluster
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
from ..runtime.clock import Clock, Deadline
from ..runtime.progress import SILENT, Progress
from ..text import format_duration
from .node_conditions import Expected, StableFor, Unmet, lacks_of_drivers, lacks_of_node, lacks_of_pods, taint_from
from .progress import WaitProgress, pause

# Seconds for one look at the node. A control plane may be away for longer while its only node reboots.
LONGEST_LOOK = 30.0
# Seconds: less than this is no time, whatever is left of a float.
SHORTEST = 0.01

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

    def __init__(
        self, task: WaitTask, clock: Clock, rest_for: Callable[[Deadline], Rest], progress: Progress = SILENT
    ) -> None:
        self._task = task
        self._clock = clock
        self._rest_for = rest_for
        self._progress = progress
        self.warnings: list[str] = []
        self._node: Obj | None = None
        self._soak = StableFor()
        # What has been answered before.
        self._answered: set[str] = set()

    def run(self, check_mode: bool = False) -> dict[str, Any]:
        """Return the module's result, as RETURN in its documentation describes it. In check mode, look once."""
        started = self._clock.monotonic()
        deadline = Deadline(self._clock, self._task.wait_timeout, self._clock.began)
        lines = WaitProgress(self._task.name, deadline)
        self._progress.follow(lines)
        while True:
            lacks = self._look(deadline)
            waited = self._clock.monotonic() - started
            done = not lacks and self._soak.lasted >= self._task.ready_for
            if done or check_mode or deadline.remaining() < SHORTEST:
                if done:
                    lines.ends(f"back after {format_duration(waited)}")
                self._progress.close()
                return self._result(done, lacks, waited)
            self._tell(lines, lacks)
            left = self._task.wait_sleep if lacks else self._task.ready_for - self._soak.lasted
            seconds = min(self._task.wait_sleep, max(left, 0.1), deadline.remaining())
            pause(self._clock, self._progress, seconds)

    def _look(self, deadline: Deadline) -> list[Unmet]:
        """Return what the node lacks, and keep book of for how long it has lacked nothing."""
        seconds = max(1.0, min(LONGEST_LOOK, deadline.remaining()))
        try:
            node = self._found(Cluster(self._rest_for(Deadline(self._clock, seconds))))
        except (ServerFault, TooManyRequests, Unreachable, _NotNow) as exc:
            if isinstance(exc, Unreachable) and exc.final and not self._may_pass(exc):
                raise
            self._soak.unanswered()
            what = "refuses what it allowed before" if isinstance(exc, _NotNow) else "does not answer"
            return [Unmet("api_server", f"the API server {what} ({exc.first_line()})")]
        if isinstance(node, list):
            self._soak.broken()
            return node
        self._soak.well(node, self._clock.monotonic())
        return []

    def _found(self, cluster: Cluster) -> Obj | list[Unmet]:
        """Return the node, or what it lacks."""
        expected = self._task.expected
        node = self._read(cluster)
        if node is None:
            return [Unmet("gone", "it is not in the cluster any more")]
        found = lacks_of_node(node, expected)
        if not found and expected.daemonsets:
            pods = self._asked("pods", partial(cluster.pods_on, self._task.name, []))
            found = lacks_of_pods(pods.items, expected)
        if not found and expected.csi_drivers:
            drivers = self._asked("drivers", partial(cluster.csi_drivers, self._task.name))
            found = lacks_of_drivers(drivers, expected)
        return found or node

    def _asked(self, what: str, ask: Callable[[], Value]) -> Value:
        """Return an answer. An error where there was one before says nothing for good: raise _NotNow."""
        try:
            value = ask()
        except (ServerFault, TooManyRequests):
            raise
        except (ApiError, InvalidConfiguration) as exc:
            if what not in self._answered:
                raise
            # An API server that has just started may not know its roles yet, nor who vouches for tokens. What gives
            # credentials may have been on the node.
            raise _NotNow(exc.message) from exc
        self._answered.add(what)
        return value

    def _read(self, cluster: Cluster) -> Obj | None:
        before = self._node
        node = self._asked("node", partial(cluster.node_now, self._task.name))
        # Who knows a boot id has seen the node, which some clouds take out of the cluster while it is down.
        if node is None and before is None and not self._task.expected.other_boot_id:
            raise InvalidOptions(f"there is no node {self._task.name!r} in this cluster")
        if node is not None:
            if before is not None and uid_of(before) != uid_of(node):
                self.warnings.append(
                    f"node {self._task.name} left the cluster and joined it again: its earlier cordon, labels, taints "
                    "and annotations are gone, unless somebody has set them again"
                )
            self._node = node
        return node

    def _may_pass(self, exc: Unreachable) -> bool:
        # Names that resolved before may fail with the node that runs the resolver.
        return bool(self._answered) and exc.details.get("kind") == "name"

    def _tell(self, lines: WaitProgress, lacks: list[Unmet]) -> None:
        lasted, wanted = format_duration(self._soak.lasted), format_duration(self._task.ready_for)
        if not lacks:
            begins = f"well, and has to stay so for {wanted}" if self._soak.lasted < SHORTEST else ""
            lines.stands(f"well for {lasted} of {wanted}", begins, kind=self._soak.begun)
        elif lacks[0].reason == "api_server" and self._soak.lasted > 0:
            lines.stands(f"well for {lasted} of {wanted}, but {lacks[0].message}", kind="unanswered")
        else:
            kind = "unanswered" if lacks[0].reason == "api_server" else None
            lines.stands(f"not back yet: {_said(lacks)}", kind=kind)

    def _result(self, done: bool, lacks: list[Unmet], waited: float) -> dict[str, Any]:
        name, lasted = self._task.name, format_duration(self._soak.lasted)
        if done:
            message = f"Node {name} is back after {format_duration(waited)}"
        elif lacks:
            message = f"Node {name} is not back after {format_duration(waited)}: {_said(lacks)}"
        else:
            message = f"Node {name} has been well for only {lasted}, not {format_duration(self._task.ready_for)}"
        return {
            "changed": False,
            "msg": message + ".",
            "back": done,
            "lacks": [{"reason": lack.reason, "message": lack.message} for lack in lacks],
            "node": {} if self._node is None else node_facts(self._node),
            "waited": round(waited, 1),
        }


class _NotNow(MaintenanceError):
    """What was answered before is refused for the moment."""


def _said(lacks: list[Unmet]) -> str:
    return "; ".join(lack.message.rstrip(".") for lack in lacks)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value) for value in values or () if value))
