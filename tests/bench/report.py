# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the figures against what they must be, and show them."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from rollout_trials import Followed
from trials import Figures, PerTask


class Goal(NamedTuple):
    """One demand: the figure, what it must stay below or at, and how it is written. None: it could not be measured.

    problem: why the figure is worth nothing, for what was measured did not do what it must.
    """

    what: str
    figure: float | None
    limit: float
    unit: str
    strict: bool = False
    problem: str = ""

    @property
    def verdict(self) -> str:
        """Say whether it is reached."""
        if self.problem:
            return "MISSED"
        if self.figure is None:
            return "not measured"
        reached = self.figure < self.limit if self.strict else self.figure <= self.limit
        return "ok" if reached else "MISSED"


class Account:
    """All that has been measured, and what of it is a demand."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}
        self.goals: list[Goal] = []

    def say(self, title: str, who: str) -> None:
        """Tell people that something is going on; not part of the tables."""
        print(f"... {title}: {who}", file=sys.stderr, flush=True)

    def demand(self, *goals: Goal) -> None:
        """Take in what must be reached."""
        self.goals += goals


def show_drains(title: str, figures: dict[str, Figures]) -> None:
    """Print a table of what each client needed, with ratios to the first."""
    print(f"\n{title}")
    layout = "    {:16} {:>9} {:>7} {:>10} {:>9} {:>7} {:>13}  {}"
    print(layout.format("", "task", "ratio", "process", "requests", "ratio", "peak memory", "").rstrip())
    first = next(iter(figures.values()))
    for name, found in figures.items():
        line = layout.format(
            name,
            f"{found.seconds:.2f} s",
            f"{found.seconds / first.seconds:.2f}",
            "-" if found.process is None else f"{found.process:.2f} s",
            found.requests,
            f"{found.requests / first.requests:.2f}",
            "unknown" if found.peak is None else f"{found.peak:.0f} MiB",
            f"failed: {found.problem[:90]}" if found.problem else "",
        )
        print(line.rstrip())


def show_numbers(title: str, numbers: dict[str, float], unit: str) -> None:
    """Print one number for each client, with ratios to the first."""
    print(f"\n{title}")
    first = next(iter(numbers.values()))
    for name, number in numbers.items():
        print(f"    {name:16} {f'{number:.2f} {unit}':>9} {number / first:>7.2f}")


def show_costs(title: str, costs: dict[str, PerTask]) -> None:
    """Print what a task costs each client, with ratios to the first."""
    print(f"\n{title}")
    first = next(iter(costs.values()))
    print("    {:16} {:>9} {:>7} {:>9} {:>7}".format("", "time", "ratio", "processor", "ratio"))
    for name, cost in costs.items():
        print(f"    {name:16} {cost.seconds:>7.2f} s {cost.seconds / first.seconds:>7.2f}", end="")
        print(f" {cost.cpu:>7.2f} s {cost.cpu / first.cpu:>7.2f}")


def show_rollouts(title: str, found: dict[str, Followed]) -> None:
    """Print a table of what each client needed to follow rollouts."""
    print(f"\n{title}")
    layout = "    {:18} {:>9} {:>9} {:>9} {:>9} {:>13}  {}"
    print(layout.format("", "time", "requests", "per kind", "repeated", "peak memory", "").rstrip())
    for name, one in found.items():
        time, peak = f"{one.after:.2f} s", "unknown" if one.peak is None else f"{one.peak:.0f} MiB"
        problem = f"failed: {one.problem[:90]}" if one.problem else ""
        print(layout.format(name, time, one.requests, one.per_kind, one.repeated, peak, problem).rstrip())


def show_goals(goals: list[Goal]) -> None:
    """Print the demands and whether they are reached."""
    width = max(len(goal.what) for goal in goals)
    print(f"\n{'What must be reached':{width}} {'figure':>12} {'at most':>12}")
    for goal in goals:
        figure = "-" if goal.figure is None else f"{goal.figure:.3g} {goal.unit}".strip()
        limit = f"{'<' if goal.strict else ''}{goal.limit:.3g} {goal.unit}".strip()
        why = f": {goal.problem[:90]}" if goal.problem else ""
        print(f"{goal.what:{width}} {figure:>12} {limit:>12}  {goal.verdict}{why}")
    busy, processors = os.getloadavg()[0], os.cpu_count() or 1
    if busy > processors:
        print(f"Others are busy on this machine (load {busy:.1f}, {processors} processors): times are too long.")
