# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether a batch of nodes may be taken out of the cluster now, and wait until it may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..api.rest import Rest
from ..api.retry import Retries
from ..cluster.cluster import Cluster
from ..cluster.context import Context
from ..cluster.nodes import static_pods
from ..errors import InvalidOptions, MaintenanceError
from ..objects import Obj, int_field, name_of
from ..option_checks import check_at_least, distinct_texts
from ..reasons import GateReason
from ..text import abbreviate
from .gate_remedies import remedies, remedy
from .gate_rules import (
    Batch,
    Refusal,
    control_plane_survives,
    is_control_plane,
    no_other_owner,
    one_control_plane_node,
    others_ready,
    warnings_for,
)
from .polling import Pending, Polling
from .rights import needed_for, step_of
from .window import Opening, Window, opening, windows_from

# Seconds for the requests of one check.
MAX_REQUEST = 60.0
# Which rules may be left out, by option.
CHECKS = ("nodes_ready", "foreign_owners", "control_plane")
_PURPOSES = {
    "look": "read the cluster's state",
    "cordon": "cordon nodes",
    "drain": "drain nodes",
    "delete_pods": "delete pods past their disruption budgets",
    "volumes": "wait for volumes",
    "csi_drivers": "read the storage drivers",
    "healing": "wait for workloads",
    "diagnosis": "say why workloads are stuck",
    "lock": "hold the lock",
}


@dataclass(frozen=True)
class GateTask:
    """What a task asks for; options of the same names, as documented."""

    batch: Batch
    windows: tuple[Window, ...] = ()
    window_margin: int = 0
    checks: tuple[str, ...] = CHECKS
    rights_for: tuple[str, ...] = ()
    lock_namespace: str = "kube-system"
    wait_timeout: int = 0
    wait_sleep: float = 10.0


def task_from(params: Mapping[str, Any]) -> GateTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    check_at_least("wait_timeout", params.get("wait_timeout"), 0, "seconds, 0 to check once")
    check_at_least("wait_sleep", params.get("wait_sleep"), 0, "seconds")
    check_at_least("window_margin", params.get("window_margin"), 0, "seconds")
    names = distinct_texts("name", params.get("name"), "the name of a node")
    if not names:
        raise InvalidOptions("the option name is empty, but must name the nodes of the batch")
    checks = params.get("checks")
    return GateTask(
        Batch(names, str(params.get("cordon_owner") or "").strip(), tuple(params.get("ignore_nodes") or ())),
        windows_from("window", params.get("window")),
        int_field(params.get("window_margin")),
        CHECKS if checks is None else tuple(checks),
        tuple(params.get("rights_for") or ()),
        str(params.get("lock_namespace") or "kube-system"),
        int_field(params.get("wait_timeout")),
        max(1.0, float(int_field(params.get("wait_sleep"), 10))),
    )


class Gate:
    """A gate before a batch of nodes."""

    def __init__(self, task: GateTask, context: Context) -> None:
        self._task = task
        self._clock = context.clock
        self._polling = Polling(context, abbreviate(task.batch.nodes), task.wait_timeout, MAX_REQUEST)
        self.warnings: list[str] = []
        # Whether the nodes were read before.
        self._known = False
        self._retries = Retries()
        self._window = opening((), 0)
        self._refusals: list[Refusal] = []

    def run(self) -> dict[str, Any]:
        """Return the module's result, as RETURN in its documentation describes it; C(open): all is well."""
        self._polling.run(self._check, self._on_error, "may be taken out", once=self._task.wait_timeout == 0)
        return self._result()

    def _check(self, rest: Rest) -> Pending | None:
        self._window = opening(self._task.windows, self._clock.wall(), self._task.window_margin)
        refusals = self._refusals_of(Cluster(rest))
        self._retries.reset()
        return self._pending(refusals)

    def _on_error(self, error: MaintenanceError) -> Pending | None:
        # A control plane that was just rebooted may take a moment; one that never answered is a wrong address.
        if not self._known or not self._retries.tolerates(error):
            return None
        text = f"the API server does not answer ({error.first_line()})"
        return self._pending([Refusal(GateReason.API_SERVER, "", text)], kind=GateReason.API_SERVER)

    def _pending(self, refusals: list[Refusal], kind: object = None) -> Pending | None:
        self._refusals = [*_of_window(self._window), *refusals]
        if not self._refusals:
            return None
        text = f"waiting: {_joined(self._refusals)}"
        delay = None if any(refusal.final for refusal in self._refusals) else self._task.wait_sleep
        return Pending(text, delay, ". ".join([text, *remedies(self._refusals)]).rstrip("."), kind)

    def _refusals_of(self, cluster: Cluster) -> list[Refusal]:
        batch, checks = self._task.batch, self._task.checks
        missing = [] if self._known else self._missing_rights(cluster)
        if missing:
            return missing
        nodes = cluster.nodes([])
        self._check_names(nodes)
        self._known = True
        self.warnings = warnings_for(nodes, batch)
        found: list[Refusal] = []
        if "control_plane" in checks:
            found += one_control_plane_node(nodes, batch)
            members = [name_of(node) for node in nodes if is_control_plane(node)]
            if any(name in batch.nodes for name in members):
                pods = {name: static_pods(cluster.pods_on(name, []).items) for name in members}
                found += control_plane_survives(nodes, batch, pods)
        if "nodes_ready" in checks:
            found += others_ready(nodes, batch)
        if "foreign_owners" in checks:
            found += no_other_owner(nodes, batch)
        return found

    def _missing_rights(self, cluster: Cluster) -> list[Refusal]:
        found = []
        for right in needed_for(self._task.rights_for, self._task.lock_namespace):
            if cluster.may(right) is False:
                text = f"the account may not {right.text()}, which is needed to {_PURPOSES[step_of(right)]}"
                found.append(Refusal(GateReason.FORBIDDEN, "", text, final=True))
        return found

    def _check_names(self, nodes: list[Obj]) -> None:
        known = [name_of(node) for node in nodes]
        unknown = [name for name in self._task.batch.nodes if name not in known]
        if unknown:
            raise InvalidOptions(
                f"there is no node {abbreviate(unknown)} in this cluster; its nodes are {abbreviate(known) or 'none'}"
            )

    def _result(self) -> dict[str, Any]:
        batch, window, refusals = abbreviate(self._task.batch.nodes), self._window, self._refusals
        message = f"{batch} may be taken out of the cluster."
        if refusals:
            message = f"{batch} may not be taken out of the cluster now: {_joined(refusals)}."
        return {
            "changed": False,
            # The reasons come before the remedies, because some tools show only the beginning.
            "msg": " ".join([message, *remedies(refusals)]),
            "open": not refusals,
            "refusals": [
                dict(reason=one.reason.value, node=one.node, message=one.message, remedy=remedy([one]))
                for one in refusals
            ],
            "window": {"open": window.open, "opens": window.opens, "closes": window.closes, "message": window.message},
            "waited": round(self._polling.waited, 1),
        }


def _of_window(window: Opening) -> list[Refusal]:
    if window.open:
        return []
    reason = GateReason.WINDOW_PAST if window.past else GateReason.WINDOW_CLOSED
    return [Refusal(reason, "", window.message, final=window.past)]


def _joined(refusals: list[Refusal]) -> str:
    return "; ".join(dict.fromkeys(refusal.message for refusal in refusals))
