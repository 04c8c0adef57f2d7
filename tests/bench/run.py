# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure drains and rollouts on the embedded cluster, beside kubectl and kubernetes.core.k8s_drain.

Prints tables with ratios and what of the demands is reached, and writes all figures to .build/bench.json. Exit status
1 when a demand is missed. What is not installed (kubectl, or kubernetes.core where it cannot be fetched) is left out.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "tools"), str(TESTS)]

import clients  # noqa: E402 - what it imports lies in other folders
import other_venv  # noqa: E402
import report  # noqa: E402
import scenes  # noqa: E402
import trials  # noqa: E402
from rollouts import Rollouts  # noqa: E402

from embedded_cluster import EmbeddedCluster  # noqa: E402
from places import BUILD, link  # noqa: E402

PODS = 110
MANY_PODS = 500
LOCKED_PODS = 3
ROUNDS = 2  # of the plays with six tasks and with one
TURNS = 5  # of drains whose times differ by less than two drains of the same kind


class Drains:
    """Measurements of drains, one after the other on one cluster."""

    def __init__(self, cluster: EmbeddedCluster, account: report.Account) -> None:
        self._cluster = cluster
        self._account = account
        self._ours = clients.ours(cluster.kubeconfig)
        self._silent = clients.silent(cluster.kubeconfig)
        self._elsewhere = [clients.elsewhere(cluster.kubeconfig, progress) for progress in ("changes", "off")]
        self._kubectl = clients.kubectl_drain(cluster.kubeconfig)
        self._theirs: clients.Module | None = None
        if self._kubectl is None:
            print("kubectl is not on PATH: the comparison with it is left out")
        try:
            self._theirs = clients.theirs(other_venv.ensure(), cluster.kubeconfig)
        except other_venv.Unavailable as problem:
            print(f"kubernetes.core is not there, the comparison with it is left out: {problem}")

    def _all(self) -> list[clients.Module | clients.Kubectl]:
        return [client for client in (self._ours, self._kubectl, self._theirs) if client is not None]

    def _drains(self, key: str, title: str, objects: scenes.Objects, plays: int) -> dict[str, trials.Figures]:
        figures = {}
        for client in self._all():
            self._account.say(title, client.name)
            figures[client.name] = trials.drain(self._cluster, client, objects, plays)
        report.show_drains(title, figures)
        self._account.results[key] = {name: found.figures() for name, found in figures.items()}
        return figures

    def full_node(self) -> None:
        """A full node whose pods take two seconds to go."""
        title = f"{PODS} pods, each gone 2 s after its eviction"
        figures = self._drains("full_node", title, scenes.full_node(PODS), plays=2)
        mine, kubectl = figures[self._ours.name], figures.get("kubectl")
        ratio = mine.seconds / kubectl.seconds if kubectl else None
        self._account.demand(
            report.Goal(f"{PODS} pods: time of the task", mine.seconds, 5.0, "s", problem=mine.problem),
            report.Goal(f"{PODS} pods: time to kubectl's", ratio, 0.25, "", problem=mine.problem),
            report.Goal(f"{PODS} pods: requests", mine.requests, PODS + 12, ""),
            report.Goal(f"{PODS} pods: requests while waiting", mine.waiting, 0, ""),
        )

    def behind_a_budget(self) -> None:
        """Pods that can only go three at a time."""
        self._drains("budget", "30 pods behind a budget of 3 at a time", scenes.behind_a_budget(), plays=1)

    def freed_budgets(self) -> None:
        """A budget that is opened while a drain waits for it."""
        title = "a budget that frees: longest time until the next eviction"
        longest, self._account.results["freed_budget"] = {}, {}
        for client in (self._ours, self._kubectl):  # k8s_drain fails at the first refusal
            if client is not None:
                self._account.say(title, client.name)
                times = trials.lock_times(self._cluster, client, scenes.locked(LOCKED_PODS), LOCKED_PODS)
                longest[client.name], self._account.results["freed_budget"][client.name] = max(times), times
        report.show_numbers(title, longest, "s")
        mine = longest[self._ours.name]
        self._account.demand(report.Goal("budget that frees: next eviction", mine, 0.5, "s", strict=True))

    def again(self) -> None:
        """A node that is drained already."""
        title = "a drained node drained again, per task in one play"
        modules = [client for client in (self._ours, self._theirs) if client is not None]
        self._account.say(title, " and ".join(client.name for client in modules))
        costs = trials.per_task(self._cluster, modules, scenes.drained(), ROUNDS)
        report.show_costs(title, costs)
        self._account.results["drained_again"] = {name: cost._asdict() for name, cost in costs.items()}
        ratio = costs[self._ours.name].seconds / costs[self._theirs.name].seconds if self._theirs else None
        self._account.demand(report.Goal("drained node again: time to k8s_drain's", ratio, 0.5, ""))

    def progress(self) -> None:
        """The same drain with lines of progress and without."""
        self._account.demand(*self._lines("progress", "lines of progress", [self._ours, self._silent]))
        # No demand: Ansible needs a third of a second to start a job elsewhere, however long that then takes.
        self._lines("progress_elsewhere", "lines from another host", self._elsewhere)

    def _lines(self, key: str, what: str, pair: list[clients.Module]) -> list[report.Goal]:
        """Let one that shows lines and one that does not drain in turns."""
        title = f"{PODS} pods, with {what} and without"
        self._account.say(title, "in turns")
        figures = trials.in_turns(self._cluster, pair, scenes.full_node(PODS), TURNS)
        report.show_drains(title, figures)
        self._account.results[key] = {name: found.figures() for name, found in figures.items()}
        shown, silent = (figures[client.name] for client in pair)
        problem = shown.problem or silent.problem
        cost, ratio = max(0.0, shown.seconds - silent.seconds), shown.seconds / silent.seconds
        return [
            report.Goal(f"{what}: time they cost", cost, 0.2, "s", strict=True, problem=problem),
            report.Goal(f"{what}: time to that in silence", ratio, 1.03, "", problem=problem),
        ]

    def memory(self) -> None:
        """More pods on a node than a node should have."""
        title = f"{MANY_PODS} pods on the node"
        self._account.say(title, self._ours.name)
        found = trials.drain(self._cluster, self._ours, scenes.full_node(MANY_PODS), plays=1, alone=False)
        report.show_drains(title, {self._ours.name: found})
        self._account.results["many_pods"] = {self._ours.name: found.figures()}
        self._account.demand(report.Goal(f"{MANY_PODS} pods: peak memory", found.peak, 80, "MiB", True, found.problem))


def main() -> int:
    """Measure everything; 1 when a demand is missed."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    link()
    started, account = time.monotonic(), report.Account()
    with EmbeddedCluster(clients.FOLDER, lifetime=900.0) as cluster:
        drains, rollouts = Drains(cluster, account), Rollouts(cluster, account)
        for measure in (
            drains.full_node,
            drains.behind_a_budget,
            drains.freed_budgets,
            drains.again,
            drains.progress,
            drains.memory,
            rollouts.together,
            rollouts.refused_image,
        ):
            measure()
    report.show_goals(account.goals)
    missed = [goal for goal in account.goals if goal.verdict != "ok"]
    goals = [{**goal._asdict(), "verdict": goal.verdict} for goal in account.goals]
    everything = {"python": clients.python_version(), "goals": goals, **account.results}
    (BUILD / "bench.json").write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    print(f"\nAll figures are in .build/bench.json. It took {time.monotonic() - started:.0f} s.")
    return 1 if any(goal.verdict == "MISSED" for goal in missed) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
