# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single rollouts: put the cluster into a state, let one client follow what rolls, compare with what others see."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from clients import Kubectl, Module
from onlooker import Onlooker, is_refused, is_rolled_out
from scenes import REFUSED, REFUSED_IMAGE, Objects
from trials import begin, last_line, log_of

from embedded_cluster import EmbeddedCluster

_DEPLOYMENTS = "/apis/apps/v1/namespaces/bench/deployments"
_PODS = f"/api/v1/namespaces/bench/pods?labelSelector=app%3D{REFUSED}"
_COLLECTION = re.compile(r"/namespaces/([^/]+)/([^/]+)")
# What a client does once to begin is not a sign that it asks again and again.
_BEGIN_SECONDS = 1.0


@dataclass
class Followed:
    """What one client needed to follow rollouts.

    after: seconds from the moment at which the API shows what the client waits for to the end of its task, or of the
    program; requests: at the API server, discovery included; per_kind: the most of them about one kind in one
    namespace; repeated: those that ask what was asked before, after the first second of watching; peak: MiB;
    problem: why the result is not as it must be, "" if it is.
    """

    after: float
    requests: int
    per_kind: int
    repeated: int
    peak: float | None
    problem: str = ""

    def figures(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


def follow_all(cluster: EmbeddedCluster, client: Module | Kubectl, objects: Objects, count: int) -> Followed:
    """Let a client follow `count` Deployments that all roll, to the end."""
    begin(cluster, objects)
    onlooker = Onlooker(cluster, _DEPLOYMENTS, is_rolled_out, expected=count, seconds=60)
    onlooker.start()
    if isinstance(client, Kubectl):
        run = client.by_itself()
        ended, problem = run.ended, last_line(run.output) if run.status else ""
    else:
        run, (task, *_none) = client.play()
        ended, problem = task.ended, task.message if task.failed else ""
    times = onlooker.result()
    if _first_watch(cluster) > times[0]:
        problem = problem or "it did not watch before the first rollout was complete"
    return _followed(cluster, ended - times[-1], run.peak, problem)


def fail_early(cluster: EmbeddedCluster, client: Module, objects: Objects) -> Followed:
    """Let a client follow the Deployment REFUSED until it gives its rollout up, and read what it says of it."""
    begin(cluster, objects)
    onlooker = Onlooker(cluster, _PODS, is_refused, expected=1, seconds=60)
    onlooker.start()
    run, (task, *_none) = client.play()
    reported = onlooker.result()[0]
    problem = "" if task.failed else "it did not fail"
    for wanted in (REFUSED_IMAGE, "container app", "not found"):
        if wanted not in task.message:
            problem = problem or f"it does not say {wanted!r}: {task.message}"
    if _first_watch(cluster) > reported:
        problem = problem or "it did not watch before the kubelet reported"
    return _followed(cluster, task.ended - reported, run.peak, problem)


def _followed(cluster: EmbeddedCluster, after: float, peak: float | None, problem: str) -> Followed:
    log = log_of(cluster)
    kinds = Counter(found.groups() for found in (_COLLECTION.search(line["path"]) for line in log) if found)
    return Followed(after, len(log), max(kinds.values(), default=0), _repeated(cluster), peak, problem)


def _repeated(cluster: EmbeddedCluster) -> int:
    begun = _first_watch(cluster) + _BEGIN_SECONDS
    asked: set[tuple[str, str, bool]] = set()
    repeated = 0
    for line in log_of(cluster):
        what = (line["method"], line["path"], _is_watch(line))
        repeated += line["at"] > begun and what in asked
        asked.add(what)
    return repeated


def _first_watch(cluster: EmbeddedCluster) -> float:
    return min((line["at"] for line in log_of(cluster) if _is_watch(line)), default=float("inf"))


def _is_watch(line: dict[str, Any]) -> bool:
    return "watch" in line["query"]
