# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn what a drain knows at its end into return values and sentences. The same keys come whatever the end was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..cluster.cordon_owners import ANNOTATION
from ..cluster.pods import reference, workload_of
from ..cluster.volumes import claims_of
from ..objects import Obj, full_name, namespace_of
from ..text import truncate_lists
from .diagnosis import gone_pod, pending_pod
from .filters import sort_key
from .messages import message_of, node_warnings
from .node import NodeState, Phase
from .pod import PodState
from .preflight import Queue

_ATTACHED = "gone, but %s is still attached: see what its storage driver is waiting for"


@dataclass
class Report:
    """A task's end.

    cancelled: what ended it early; refused: the preflight stopped it; refusals: its sentences that are about no single
    pod; rehearsed: check mode; changed: something was (would be) changed; wall: the end in seconds since 1970;
    forecasts: warnings that have come to nothing if all went well; seconds: the limit it ran under; account: where and
    as whom it was refused; queues: in check mode, the budgets that let only some of the pods go at once; budget_of:
    tells the budget that refused a pod.
    """

    state: str
    nodes: list[NodeState] = field(default_factory=list)
    refused: bool = False
    cancelled: str = ""
    refusals: list[str] = field(default_factory=list)
    account: str = ""
    queues: list[Queue] = field(default_factory=list)
    rehearsed: bool = False
    changed: bool = False
    wall: float = 0.0
    seconds: float = 0.0
    method: str = "evict"
    warnings: list[str] = field(default_factory=list)
    forecasts: list[str] = field(default_factory=list)
    budget_of: Callable[[PodState], Obj | None] = lambda drain: None

    @property
    def failed(self) -> bool:
        """Tell whether any node is not what the task asked for."""
        return self.refused or any(node.error is not None or node.phase == Phase.FAILED for node in self.nodes)

    def pending(self) -> dict[str, list[dict[str, Any]]]:
        """Return for each node the entries of the pods that are left and should not be."""
        # After a refusal only what is to be changed is of interest: the other pods just stayed where they were.
        return {
            node.name: [
                pending_pod(drain, self.budget_of(drain), node.obj, self.wall)
                for drain in (node.blocked() if self.refused else node.sorted_pods())
            ]
            + _with_volumes(node)
            for node in self.nodes
        }


def result_of(report: Report) -> dict[str, Any]:
    """Return the module's result, as RETURN in the module's documentation describes it."""
    pending = report.pending() if report.state == "drain" else {}
    nodes = [truncate_lists(_node(node, report, pending.get(node.name, []))) for node in report.nodes]
    every = [pod for pods in pending.values() for pod in pods]
    result = {
        "changed": report.changed,
        "msg": message_of(report, pending),
        "result": " ".join(_old_sentence(node, report.state) for node in report.nodes),
        "state": report.state,
        "pending_nodes": [node.name for node in report.nodes if not _done(node, report.state)],
        "pending_pods": sorted(every, key=lambda pod: (pod["namespace"], pod["name"])),
        "nodes": nodes,
    }
    return truncate_lists(result, whole=("nodes",))


def warnings_of(report: Report) -> list[str]:
    """Return what the user should know although it failed nothing."""
    found = report.warnings + (report.forecasts if report.failed else [])
    for node in report.nodes:
        found += _warnings(node, report)
    return found


def _warnings(node: NodeState, report: Report) -> list[str]:
    # What evictions cost is of no interest where there are none.
    return node.warnings + ([] if report.refused else node_warnings(node))


def diff_of(report: Report) -> list[dict[str, Any]]:
    """Return Ansible's diff: of each node its patch, and the pods that go."""
    diffs = []
    for node in report.nodes:
        gone = sorted(full_name(end.pod.obj) for end in node.evicted)
        cordon, owners = node.cordon, node.cordon.owners or (None, None)
        if cordon.cordoned == cordon.cordoned_before and owners[0] == owners[1] and not gone:
            continue
        before: dict[str, Any] = {"spec": {"unschedulable": cordon.cordoned_before}}
        after: dict[str, Any] = {"spec": {"unschedulable": cordon.cordoned}}
        if owners[0] != owners[1]:
            before["metadata"], after["metadata"] = ({"annotations": {ANNOTATION: text}} for text in owners)
        if gone:
            before["pods"], after["pods"] = gone, []
        header = "node %s" % node.name
        diffs.append({"before_header": header, "after_header": header, "before": before, "after": after})
    return diffs


def _node(node: NodeState, report: Report, pending: list[dict[str, Any]]) -> dict[str, Any]:
    skipped = sorted(node.skipped.values(), key=lambda entry: sort_key(entry[0]))
    gone = sorted(node.evicted, key=lambda end: sort_key(end.pod.obj))
    return {
        "name": node.name,
        "cordoned_before": node.cordon.cordoned_before,
        "cordoned": node.cordon.cordoned,
        "drained": node.phase == Phase.DRAINED and report.state == "drain",
        "rolled_back": node.cordon.rolled_back,
        "resumed": node.cordon.resumed,
        "duration": round(max(0.0, node.ended_at - node.started_at), 3),
        "evicted": [
            dict(
                reference(end.pod.obj),
                method=report.method,
                attempts=end.pod.attempts,
                seconds=round(end.seconds, 3),
            )
            for end in gone
        ],
        "skipped": [dict(reference(pod), reason=verdict.reason) for pod, verdict in skipped],
        "pending_pods": pending,
        "warnings": _warnings(node, report),
        "affected_workloads": _workloads([end.pod.obj for end in gone]),
        "volumes": [volume.facts() for volume in node.volumes or []],
    }


def _with_volumes(node: NodeState) -> list[dict[str, Any]]:
    """Return entries for pods that are gone and whose volumes are not."""
    left = {volume.claim: volume for volume in node.volumes or [] if volume.claim and not volume.detached}
    found = []
    for drain in [end.pod for end in node.evicted]:
        volumes = [left[claim].text() for claim in sorted(claims_of(drain.obj)) if claim in left]
        if volumes:
            found.append(gone_pod(drain, _ATTACHED % ", ".join(volumes)))
    return found


def _workloads(pods: list[Obj]) -> list[dict[str, str]]:
    found = set()
    for pod in pods:
        workload = workload_of(pod)
        if workload is not None:
            found.add((workload[0], workload[1], namespace_of(pod), workload[2]))
    keys = ("api_version", "kind", "namespace", "name")
    return [dict(zip(keys, entry, strict=True)) for entry in sorted(found)]


def _done(node: NodeState, state: str) -> bool:
    if node.error is not None:
        return False
    return node.phase == Phase.DRAINED if state == "drain" else node.cordon.cordoned == (state == "cordon")


def _old_sentence(node: NodeState, state: str) -> str:
    """Return what kubernetes.core.k8s_drain says of a node, for playbooks that read it."""
    wanted = state != "uncordon"
    mark = "unschedulable" if wanted else "schedulable"
    already = "already " if node.cordon.cordoned_before == wanted else ""
    if node.cordon.cordoned != wanted:
        return "node %s not marked %s." % (node.name, mark)
    text = "node %s %smarked %s." % (node.name, already, mark)
    return text + (" %d Pod(s) deleted from node." % len(node.evicted) if node.evicted else "")
