# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the figures against what they must be, and show them."""

from __future__ import annotations

import os
from typing import NamedTuple

from trials import Figures, PerTask


class Goal(NamedTuple):
    """One demand: the figure, what it must stay below or at, and how it is written. None: it could not be measured."""

    what: str
    figure: float | None
    limit: float
    unit: str
    strict: bool = False

    @property
    def verdict(self) -> str:
        """Say whether it is reached."""
        if self.figure is None:
            return "not measured"
        reached = self.figure < self.limit if self.strict else self.figure <= self.limit
        return "ok" if reached else "MISSED"


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


def show_goals(goals: list[Goal]) -> None:
    """Print the demands and whether they are reached."""
    width = max(len(goal.what) for goal in goals)
    print(f"\n{'What must be reached':{width}} {'figure':>12} {'at most':>12}")
    for goal in goals:
        figure = "-" if goal.figure is None else f"{goal.figure:.3g} {goal.unit}".strip()
        limit = f"{'<' if goal.strict else ''}{goal.limit:.3g} {goal.unit}".strip()
        print(f"{goal.what:{width}} {figure:>12} {limit:>12}  {goal.verdict}")
    busy, processors = os.getloadavg()[0], os.cpu_count() or 1
    if busy > processors:
        print(f"Others are busy on this machine (load {busy:.1f}, {processors} processors): times are too long.")
