# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Play recorded runs of kubectl against the collection's modules: `run.py FOLDER`.

Prints a line for each case and at the end `N of M cases agree`. Ends with 1 if a case disagrees, or if nothing could be
judged.
"""

from __future__ import annotations

import contextlib
import queue
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Run as a program, it finds itself only; the tools know where things lie.
sys.path[:0] = [str(TESTS), str(TESTS / "tools")]

from golden import drain_play, rollout_play  # noqa: E402
from golden.cases import BrokenFolder, Case, read_folder  # noqa: E402
from golden.judge import AGREES, DEVIATES, DISAGREES, Deviation, Verdict, read_deviations  # noqa: E402
from golden.module_run import ModuleCrashed, module_exists  # noqa: E402
from golden.simulator import Simulator, SimulatorFailed  # noqa: E402
from places import link  # noqa: E402

DEVIATIONS = Path(__file__).with_name("deviations.yml")
DEFAULT_FOLDER = Path(__file__).with_name("cases")
# Cases mostly wait, so more of them than processors run at once.
AT_ONCE = 8


@dataclass(frozen=True)
class Play:
    """How the cases of a module are played and judged, and whether the cluster has its controllers meanwhile."""

    play: Callable[[Case, Simulator, Sequence[Deviation]], Verdict]
    controllers: bool


PLAYS: dict[str, Play] = {
    "k8s_node_drain": Play(drain_play.play, controllers=True),
    "k8s_rollout_status": Play(rollout_play.play, controllers=False),
}


def why_not_judged(case: Case) -> str:
    """Return why a case cannot be judged, "" if it can."""
    if not module_exists(case.module):
        return f"no module {case.module} yet"
    return "" if case.module in PLAYS else f"nothing here plays cases of {case.module} yet"


class Stage:
    """Simulated clusters to play on, each for one case at a time."""

    def __init__(self, clusters: contextlib.ExitStack, cases: Sequence[Case]) -> None:
        self._free: dict[bool, queue.SimpleQueue[Simulator]] = {True: queue.SimpleQueue(), False: queue.SimpleQueue()}
        for controllers, free in self._free.items():
            wanting = sum(PLAYS[case.module].controllers == controllers for case in cases)
            for _number in range(min(AT_ONCE, wanting)):
                free.put(clusters.enter_context(Simulator(controllers)))

    def play(self, case: Case, deviations: Sequence[Deviation]) -> Verdict:
        """Play a case as soon as a cluster is free."""
        play = PLAYS[case.module]
        free = self._free[play.controllers]
        simulator = free.get()
        try:
            return play.play(case, simulator, deviations)
        except (SimulatorFailed, ModuleCrashed) as exc:
            return Verdict(DISAGREES, str(exc))
        finally:
            free.put(simulator)


def line_for(case: Case, verdict: Verdict, note: str = "") -> str:
    """Return the line that is printed for a case."""
    if verdict.kind == AGREES:
        return f"{case.id}: agrees{note}"
    if verdict.kind == DEVIATES:
        return f"{case.id}: listed deviation ({verdict.text}){note}"
    return f"{case.id}: DISAGREES: {verdict.text}"


def closing_line(kinds: Sequence[str], not_judged: int) -> str:
    """Return the last line; listed deviations count as agreeing, and are told apart."""
    listed = kinds.count(DEVIATES)
    line = f"{kinds.count(AGREES) + listed} of {len(kinds)} cases agree"
    notes = [f"{listed} of them by a listed deviation"] if listed else []
    notes += [f"{not_judged} more not judged"] if not_judged else []
    return f"{line} ({', '.join(notes)})" if notes else line


def judge(cases: Sequence[Case], deviations: Sequence[Deviation]) -> list[str]:
    """Play cases, print a line for each, and return the kinds of the verdicts.

    The simulated kubelets do not wait for a module that a busy machine holds up. So what disagrees is played once more
    when everything else is done, alone, and the line says so.
    """
    kinds: list[str] = []
    size = min(AT_ONCE, len(cases))
    again: list[tuple[Case, str]] = []
    with contextlib.ExitStack() as clusters, ThreadPoolExecutor(max(1, size)) as threads:
        stage = Stage(clusters, cases)
        longest_first = sorted(cases, key=lambda case: -case.seconds)
        plays = {case.id: threads.submit(stage.play, case, deviations) for case in longest_first}
        for case in cases:
            verdict = plays[case.id].result()
            if verdict.kind == DISAGREES:
                again.append((case, verdict.text))
                continue
            print(line_for(case, verdict), flush=True)
            kinds.append(verdict.kind)
        for case, first in again:
            verdict = stage.play(case, deviations)
            print(line_for(case, verdict, f" when played alone; beside others: {first}"), flush=True)
            kinds.append(verdict.kind)
    return kinds


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    try:
        cases = read_folder(folder)
    except BrokenFolder as exc:
        print(exc)
        return 1
    link()
    skipped = {case.id: why for case in cases if (why := why_not_judged(case))}
    for name, why in skipped.items():
        print(f"{name}: not judged, {why}")
    try:
        kinds = judge([case for case in cases if case.id not in skipped], read_deviations(DEVIATIONS))
    except SimulatorFailed as exc:
        print(f"Nothing was judged, because {exc}.")
        return 1
    print(closing_line(kinds, len(skipped)))
    return 1 if DISAGREES in kinds or not kinds else 0


if __name__ == "__main__":
    sys.exit(main())
