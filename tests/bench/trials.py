# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single drains: put the cluster into a state, let one client drain it, read the request log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from clients import Kubectl, Module
from measure import Run
from scenes import Objects

from embedded_cluster import SELF, EmbeddedCluster

# Between the last eviction and the end of its pod nothing may be asked. Seconds after it: what was already under way
# has been answered, and the pod (which takes 2 s) is still there.
_QUIET = (0.4, 1.8)
_LOOK_SECONDS = 0.1
_SETTLE_SECONDS = 1.5
_PATIENCE_SECONDS = 60.0
_BUDGET = "/apis/policy/v1/namespaces/bench/poddisruptionbudgets/locked"


@dataclass
class Figures:
    """What one client needed for one state.

    seconds: a task of a play from its start to its end, or the program for what is not a module; process: the module by
    itself; peak: MiB; requests: at the API server; waiting: those of them while only pods were waited for;
    problem: why it did not get there, "" if it did.
    """

    seconds: float
    process: float | None
    peak: float | None
    requests: int
    waiting: int
    problem: str = ""

    def figures(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


def begin(cluster: EmbeddedCluster, objects: Objects) -> None:
    """Put the cluster into a state, with an empty log."""
    cluster.control("POST", "reset")
    cluster.control("POST", "load", {"objects": objects})


def drain(
    cluster: EmbeddedCluster, client: Module | Kubectl, objects: Objects, plays: int, alone: bool = True
) -> Figures:
    """Let a client drain: kubectl once, a module in some plays, of which the fastest counts.

    `alone`: a module once more, without Ansible around it.
    """
    if isinstance(client, Kubectl):
        begin(cluster, objects)
        run = client.by_itself()
        requests, waiting = _requests(cluster)
        problem = last_line(run.output) if run.status else ""
        return Figures(run.seconds, run.seconds, run.peak, requests, waiting, problem)
    found = min((_play(cluster, client, objects) for _number in range(plays)), key=lambda figures: figures.seconds)
    if alone:
        begin(cluster, objects)
        run = client.by_itself()
        found.process, found.peak = run.seconds, _largest(found.peak, run.peak)
    return found


def in_turns(cluster: EmbeddedCluster, clients: list[Module], objects: Objects, turns: int) -> dict[str, Figures]:
    """Let clients drain in turns, so that what else the machine does slows all of them; of each the fastest counts."""
    found: dict[str, list[Figures]] = {}
    for _turn in range(turns):
        for client in clients:
            found.setdefault(client.name, []).append(_play(cluster, client, objects))
    return {name: min(figures, key=lambda figures: figures.seconds) for name, figures in found.items()}


def _play(cluster: EmbeddedCluster, client: Module, objects: Objects) -> Figures:
    begin(cluster, objects)
    played, (task, *_none) = client.play(keep=True)
    requests, waiting = _requests(cluster)
    return Figures(task.seconds, None, played.peak, requests, waiting, task.message if task.failed else "")


class PerTask(NamedTuple):
    """What one more task costs in a play: seconds of the clock, and of processors."""

    seconds: float
    cpu: float


def per_task(cluster: EmbeddedCluster, clients: list[Module], objects: Objects, rounds: int) -> dict[str, PerTask]:
    """Return what one more task of each client costs in a play, (6 tasks - 1 task)/5.

    The fastest play of each length counts: whatever else the machine does only ever makes a play longer.
    """
    begin(cluster, objects)
    plays: dict[tuple[str, int], list[Run]] = {}
    for _round in range(rounds):
        for client in clients:
            for length in (1, 6):
                played, tasks = client.play(length)
                failed = [task.message for task in tasks if task.failed]
                if failed:
                    raise SystemExit(f"{client.name} failed on a drained node: {failed[0]}")
                plays.setdefault((client.name, length), []).append(played)
    return {client.name: _cost(plays[client.name, 1], plays[client.name, 6]) for client in clients}


def _cost(one: list[Run], six: list[Run]) -> PerTask:
    seconds = min(run.seconds for run in six) - min(run.seconds for run in one)
    cpu = min(run.cpu for run in six) - min(run.cpu for run in one)
    return PerTask(seconds / 5, cpu / 5)


class _Drain(threading.Thread):
    """A drain that runs while the budget is changed; `ended` is what it said in the end, "" before."""

    def __init__(self, client: Module | Kubectl) -> None:
        super().__init__(daemon=True)
        self.ended = ""
        self._client = client

    def run(self) -> None:
        done = self._client.by_itself() if isinstance(self._client, Kubectl) else self._client.play()[0]
        self.ended = f"it ended with {done.status}: {done.output}"


def lock_times(cluster: EmbeddedCluster, client: Module | Kubectl, objects: Objects, pods: int) -> list[float]:
    """Let a drain run into a budget without room and make room for one pod after the other.

    Return for each pod the seconds from the change of the budget to the eviction that gets through.
    """
    begin(cluster, objects)
    drain_under_way = _Drain(client)
    drain_under_way.start()
    _await(drain_under_way, lambda: any(line["status"] == 429 for line in _evictions(cluster)))
    times: list[float] = []
    while len(times) < pods:
        # By now everything has been asked for and refused, and the drain waits.
        time.sleep(_SETTLE_SECONDS)
        freed = cluster.control("GET", "clock")["now"]
        spec = {"spec": {"minAvailable": pods - len(times) - 1}}
        cluster.call("PATCH", _BUDGET, spec, content_type="application/merge-patch+json")
        _await(drain_under_way, lambda: len(_accepted(cluster)) > len(times))
        times.append(_accepted(cluster)[len(times)] - freed)
    drain_under_way.join(_PATIENCE_SECONDS)
    return times


def _await(drain_under_way: _Drain, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end or drain_under_way.ended:
            raise SystemExit(f"The drain did not get as far as it should: {drain_under_way.ended or 'it still runs'}")
        time.sleep(_LOOK_SECONDS)


def log_of(cluster: EmbeddedCluster) -> list[dict[str, Any]]:
    """Return what has been asked since the state began, but for what we asked ourselves."""
    return [line for line in cluster.control("GET", "requests") if line["user_agent"] != SELF]


def _evictions(cluster: EmbeddedCluster) -> list[dict[str, Any]]:
    return [line for line in log_of(cluster) if line["method"] == "POST" and line["path"].endswith("/eviction")]


def _accepted(cluster: EmbeddedCluster) -> list[float]:
    return [line["at"] for line in _evictions(cluster) if line["status"] in (200, 201)]


def _requests(cluster: EmbeddedCluster) -> tuple[int, int]:
    """Return how many requests there were, and how many of them while only pods were waited for."""
    log, accepted = log_of(cluster), _accepted(cluster)
    if not accepted:
        return len(log), 0
    begin_quiet, end_quiet = accepted[-1] + _QUIET[0], accepted[-1] + _QUIET[1]
    return len(log), sum(begin_quiet < line["at"] < end_quiet for line in log)


def _largest(*figures: float | None) -> float | None:
    return max((figure for figure in figures if figure is not None), default=None)


def last_line(output: str) -> str:
    """Return the last line that says something, for a program that failed."""
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
