# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods of a DaemonSet go, and which nodes get one more, when its template has changed.

Source of the rules: rollingUpdate and podsShouldBeOnNode of k8s.io/kubernetes/pkg/controller/daemon.
"""

from __future__ import annotations

from ..objects import Object, is_pod_ready, is_terminating
from . import pods
from .amounts import resolve
from .daemonset_status import Placement


def maximum_surge(daemon_set: Object, nodes: int) -> int:
    """Return on how many nodes a new pod may run beside the old one; 0 unless RollingUpdate with maxSurge."""
    strategy = daemon_set["spec"].get("updateStrategy") or {}
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return 0
    return resolve((strategy.get("rollingUpdate") or {}).get("maxSurge") or 0, nodes, round_up=True)


def surplus_on(placement: Placement, there: list[Object], label: str, surges: bool) -> list[Object]:
    """Return the pods of one node, oldest first, that must go whatever is rolled out: finished ones and doubles."""
    staying = [pod for pod in there if not is_terminating(pod)]
    finished = [pod for pod in staying if pods.is_finished(pod)]
    running = [pod for pod in staying if not pods.is_finished(pod)]
    if not surges or len(running) <= 1:
        return [*finished, *running[1:]]
    new = [pod for pod in running if placement.revision_of(pod) == label]
    old = [pod for pod in running if placement.revision_of(pod) != label]
    surplus = [*finished, *new[1:], *old[1:]]
    if new and old and (not is_pod_ready(old[0]) or placement.available_in(new[0]) == 0.0):
        surplus.append(old[0])
    return surplus


def _generations(placement: Placement, node: str, label: str) -> tuple[list[Object], list[Object]]:
    """Return the pods that stay on a node for now: those of older revisions, and those of this one."""
    there = [pod for pod in placement.on(node) if not is_terminating(pod)]
    old = [pod for pod in there if placement.revision_of(pod) != label]
    return old, [pod for pod in there if placement.revision_of(pod) == label]


def replacement_step(placement: Placement, nodes: list[str], label: str, limit: int) -> list[Object]:
    """Return the old pods that go now: those that are of no use at once, the others while maxUnavailable allows."""
    useless: list[Object] = []
    candidates: list[Object] = []
    unavailable = 0
    for node in nodes:
        old, new = _generations(placement, node, label)
        if len(old) + len(new) != 1:
            unavailable += 1
        elif new:
            unavailable += placement.available_in(new[0]) != 0.0
        elif placement.available_in(old[0]) != 0.0:
            useless += old
            unavailable += 1
        else:
            candidates += old
    return [*useless, *candidates[: max(limit - unavailable, 0)]]


def surge_step(placement: Placement, nodes: list[str], label: str, surge: int) -> tuple[list[Object], list[str]]:
    """Return the old pods that go and the nodes that get a new pod beside the old one."""
    surplus: list[Object] = []
    needed: list[str] = []
    candidates: list[str] = []
    surging = 0
    for node in nodes:
        old, new = _generations(placement, node, label)
        if len(old) > 1 or len(new) > 1:
            surging += 1
        elif old and not new:
            (candidates if placement.available_in(old[0]) == 0.0 else needed).append(node)
        elif old and placement.available_in(new[0]) == 0.0:
            surplus += old
        elif old:
            surging += 1
    return surplus, [*needed, *candidates[: max(surge - surging, 0)]]
