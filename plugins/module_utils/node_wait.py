# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a node is back from maintenance and stays so for a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import InvalidOptions, MaintenanceError, ServerFault, Unreachable
from .fleet import Fleet
from .node_return import Expected, Lack, lacks_of_drivers, lacks_of_node, lacks_of_pods, taint_from
from .nodes import node_facts
from .objects import number
from .option_values import check_at_least
from .rest import Rest
from .waiting import Clock, Deadline
from .words import lasting

# Seconds for one look at the node. A control plane may be away for longer while its only node reboots.
LONGEST_LOOK = 30.0
# Seconds: less than this is no time, whatever is left of a float.
SHORTEST = 0.01


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
    ready_for, wait_timeout = number(params.get("ready_for")), number(params.get("wait_timeout"), 900)
    if 0 < wait_timeout <= ready_for:
        raise InvalidOptions(
            "the option ready_for (%d s) must be shorter than wait_timeout (%d s)" % (ready_for, wait_timeout)
        )
    taints = params.get("taints")
    expected = Expected(
        other_boot_id=str(params.get("boot_id_before") or ""),
        kubelet_version=str(params.get("kubelet_version") or ""),
        daemonsets=_texts(params.get("daemonsets")),
        csi_drivers=_texts(params.get("csi_drivers")),
        taints=None if taints is None else tuple(taint_from(entry) for entry in taints),
    )
    return WaitTask(name, expected, float(ready_for), wait_timeout, max(1.0, float(number(params["wait_sleep"], 5))))


class NodeWait:
    """A wait for one node."""

    def __init__(self, task: WaitTask, clock: Clock, rest_for: Callable[[Deadline], Rest]) -> None:
        self._task = task
        self._clock = clock
        self._rest_for = rest_for
        self._facts: dict[str, Any] = {}

    def run(self, check_mode: bool = False) -> dict[str, Any]:
        """Return the module's result, as RETURN in its documentation describes it. In check mode, look once."""
        started = self._clock.monotonic()
        deadline = Deadline(self._clock, self._task.wait_timeout)
        well_since: float | None = None
        while True:
            lacks = self._look(deadline)
            now = self._clock.monotonic()
            well_since = None if lacks else now if well_since is None else well_since
            lasted = 0.0 if well_since is None else now - well_since
            done = well_since is not None and lasted >= self._task.ready_for
            if done or check_mode or deadline.remaining() < SHORTEST:
                return self._result(done, lacks, now - started, lasted)
            left = self._task.ready_for - lasted if well_since is not None else self._task.wait_sleep
            self._clock.sleep(min(self._task.wait_sleep, max(left, 0.1), deadline.remaining()))

    def _look(self, deadline: Deadline) -> list[Lack]:
        seconds = max(1.0, min(LONGEST_LOOK, deadline.remaining()))
        fleet = Fleet(self._rest_for(Deadline(self._clock, seconds)))
        try:
            node = fleet.node(self._task.name)
            if node is None and not self._facts:
                raise InvalidOptions("there is no node %r in this cluster" % self._task.name)
            if node is None:
                return [Lack("gone", "it is not in the cluster any more")]
            self._facts = node_facts(node)
            expected = self._task.expected
            found = lacks_of_node(node, expected)
            if not found and expected.daemonsets:
                found = lacks_of_pods(fleet.pods_on(self._task.name), expected)
            if not found and expected.csi_drivers:
                found = lacks_of_drivers(fleet.csi_drivers(self._task.name), expected)
            return found
        except (ServerFault, Unreachable) as exc:
            if isinstance(exc, Unreachable) and exc.final:
                raise
            return [Lack("api_server", "the API server does not answer (%s)" % _first_line(exc))]

    def _result(self, done: bool, lacks: list[Lack], waited: float, lasted: float) -> dict[str, Any]:
        name = self._task.name
        if done:
            message = "Node %s is back after %s" % (name, lasting(waited))
        elif lacks:
            message = "Node %s is not back after %s: %s" % (
                name,
                lasting(waited),
                "; ".join(lack.message.rstrip(".") for lack in lacks),
            )
        else:
            message = "Node %s has been well for %s only and not for %s" % (
                name,
                lasting(lasted),
                lasting(self._task.ready_for),
            )
        return {
            "changed": False,
            "msg": message + ".",
            "back": done,
            "lacks": [{"reason": lack.reason, "message": lack.message} for lack in lacks],
            "node": self._facts,
            "waited": round(waited, 1),
        }


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value) for value in values or () if value))


def _first_line(exc: MaintenanceError) -> str:
    return exc.message.splitlines()[0] if exc.message else "no answer"
