# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single measurements: put the cluster into a state, let one client drain it, read the request log."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from clients import Kubectl, Module
from embedded_cluster import SELF, EmbeddedCluster
from scenes import Objects

# Between the last eviction and the end of its pod nothing may be asked. Seconds after it: what was already under way
# has been answered, and the pod (which takes 2 s) is still there.
_QUIET = (0.4, 1.8)
_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 60.0
_BUDGET = "/apis/policy/v1/namespaces/bench/poddisruptionbudgets/locked"


@dataclass
class Figures:
    """What one client needed for one state.

    seconds: a task of a play from its start to its end, or the program for what is no module; process: the module by
    itself; peak: MiB; requests: at the API server; waiting: those of them while only pods were waited for;
    problem: why it did not get there, "" if it did.
    """

    seconds: float
    process: float | None
    peak: float | None
    requests: int
    waiting: int
    problem: str = ""

    def values(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


def begin(cluster: EmbeddedCluster, objects: Objects) -> None:
    """Put the cluster into a state, with an empty log."""
    cluster.control("POST", "reset")
    cluster.control("POST", "load", {"objects": objects})


def drain(cluster: EmbeddedCluster, client: Module | Kubectl, objects: Objects, twice: bool = True) -> Figures:
    """Drain once; `twice`: a module a second time without Ansible around it."""
    begin(cluster, objects)
    if isinstance(client, Kubectl):
        run = client.drain()
        requests, waiting = _requests(cluster)
        return Figures(run.seconds, run.seconds, run.peak, requests, waiting, _last_line(run.output) if run.status else "")
    played, (task, *_none) = client.play(keep=True)
    requests, waiting = _requests(cluster)
    peak, problem = played.peak, task.message if task.failed else ""
    process = None
    if twice:
        begin(cluster, objects)
        alone = client.drain()
        process, peak = alone.seconds, _largest(peak, alone.peak)
        problem = problem or (_last_line(alone.output) if alone.status else "")
    return Figures(task.seconds, process, peak, requests, waiting, problem)


def per_task(cluster: EmbeddedCluster, client: Module, objects: Objects, rounds: int) -> float:
    """Return the seconds that one more task costs in a play, (6 tasks - 1 task)/5: the median of some rounds."""
    costs = []
    for _round in range(rounds):
        begin(cluster, objects)
        one, _tasks = client.play(1)
        six, tasks = client.play(6)
        if any(task.failed for task in tasks):
            raise SystemExit(f"{client.name} failed on a drained node: {tasks[-1].message}")
        costs.append((six.seconds - one.seconds) / 5)
    return median(costs)


def lock_times(cluster: EmbeddedCluster, client: Module | Kubectl, objects: Objects, pods: int) -> list[float]:
    """Let a drain run into a budget without room and make room for one pod after the other.

    Return for each pod the seconds from the change of the budget to the eviction that gets through.
    """
    begin(cluster, objects)
    work = threading.Thread(target=lambda: client.drain() if isinstance(client, Kubectl) else client.play(), daemon=True)
    work.start()
    times = []
    for gone in range(pods):
        # Everything has been refused, and the drain waits.
        _await(lambda: _refused(cluster) and len(_accepted(cluster)) == gone)  # noqa: B023 - used at once
        time.sleep(1.5)
        freed = cluster.control("GET", "clock")["now"]
        spec = {"spec": {"minAvailable": pods - gone - 1}}
        cluster.call("PATCH", _BUDGET, spec, content_type="application/merge-patch+json")
        _await(lambda: len(_accepted(cluster)) > gone)  # noqa: B023 - used at once
        times.append(_accepted(cluster)[gone] - freed)
    work.join(_PATIENCE_SECONDS)
    return times


def _await(condition: Any) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("The drain did not do what the benchmark waits for")
        time.sleep(_LOOK_SECONDS)


def _log(cluster: EmbeddedCluster) -> list[dict[str, Any]]:
    return [line for line in cluster.control("GET", "requests") if line["user_agent"] != SELF]


def _evictions(cluster: EmbeddedCluster) -> list[dict[str, Any]]:
    return [line for line in _log(cluster) if line["method"] == "POST" and line["path"].endswith("/eviction")]


def _refused(cluster: EmbeddedCluster) -> bool:
    return any(line["status"] == 429 for line in _evictions(cluster))


def _accepted(cluster: EmbeddedCluster) -> list[float]:
    return [line["at"] for line in _evictions(cluster) if line["status"] in (200, 201)]


def _requests(cluster: EmbeddedCluster) -> tuple[int, int]:
    """Return how many requests there were, and how many of them while only pods were waited for."""
    log, accepted = _log(cluster), _accepted(cluster)
    if not accepted:
        return len(log), 0
    begin_quiet, end_quiet = accepted[-1] + _QUIET[0], accepted[-1] + _QUIET[1]
    return len(log), sum(begin_quiet < line["at"] < end_quiet for line in log)


def _largest(*figures: float | None) -> float | None:
    return max((figure for figure in figures if figure is not None), default=None)


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
