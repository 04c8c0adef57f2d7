# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run steps: `step.py NAME... [-- ARGUMENT...]` shows their output, `step.py --all` keeps it in .build/logs.

Every named step is run, also after one has failed. Arguments after `--` go to the last step. `--all` runs steps side
by side, tells of each when it has ended, and ends with the line `N passed, N failed`, summed over the tests of all
steps; a step that counts no tests (a linter, the build) adds one failure when it fails, and a step that counts tests
must have run at least one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from places import HOME, LOGS, ROOT, environment, link
from schedule import room, side_by_side
from steps import STEPS

TAIL = 60  # lines of a failed step's log that --all shows
LIMIT = 900  # seconds after which a step hangs
_leaders: set[int] = set()  # of the process groups that are at work


class Outcome(NamedTuple):
    ok: bool
    passed: int
    failed: int
    seconds: float
    log: str


def run(name: str, arguments: list[str], show: bool) -> Outcome:
    """Run one step, keep its output in .build/logs/<name>.log, and show it too if `show` is set."""
    step = STEPS[name]
    started = time.monotonic()
    ok, log = execute([*step.command, *arguments], step.env, LOGS / f"{name}.log", show)
    passed = failed = 0
    if step.tally:
        counts = step.tally(log)
        passed, failed = counts or (0, 0)
        if passed + failed == 0:
            log += f"The step {name} tested nothing\n"
            ok = False
    ok = ok and failed == 0
    if not ok and failed == 0:
        failed = 1
    return Outcome(ok, passed, failed, time.monotonic() - started, log)


def execute(command: list[str], env: dict[str, str], place: Path, show: bool) -> tuple[bool, str]:
    """Run a command in a process group of its own, so that nothing outlives it.

    Return whether it ended well, and its output, which is also kept at `place`.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    log = ""
    with open(place, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(**env),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        _leaders.add(process.pid)
        watchdog = threading.Timer(LIMIT, end_group, [process.pid])
        watchdog.daemon = True
        watchdog.start()
        try:
            for line in process.stdout or ():
                log += line
                file.write(line)
                file.flush()
                if show:
                    print(line, end="", flush=True)
            ok = process.wait() == 0
        finally:
            watchdog.cancel()
            end_group(process.pid)
            _leaders.discard(process.pid)
    return ok, log


def end_group(leader: int) -> None:
    """End what is left of the process group that execute() started."""
    try:
        os.killpg(leader, signal.SIGTERM)
    except ProcessLookupError:
        pass


def closing_line(name: str, outcome: Outcome) -> str:
    """Return what is said of a step when it has ended."""
    counted = f"{outcome.passed} passed, {outcome.failed} failed, " if STEPS[name].tally else ""
    return f"{name:<14} {'ok' if outcome.ok else 'FAILED'} ({counted}{outcome.seconds:.1f} s)"


def broken(problem: Exception) -> Outcome:
    """Return the outcome of a step that could not be run."""
    return Outcome(False, 0, 1, 0.0, "".join(traceback.format_exception(problem)))


def run_all() -> int:
    """Run every step quietly; show the end of the log of those that fail; sum up."""
    outcomes = []
    widths = {name: step.width for name, step in STEPS.items()}
    for name, ended in side_by_side(widths, room(), lambda name: run(name, [], show=False)):
        outcome = ended if isinstance(ended, Outcome) else broken(ended)
        outcomes.append(outcome)
        print(closing_line(name, outcome), flush=True)
        if not outcome.ok:
            print("".join(f"    {line}\n" for line in outcome.log.splitlines()[-TAIL:]), end="")
            print(f"    the whole of it: {(LOGS / name).relative_to(ROOT)}.log", flush=True)
    print(f"{sum(o.passed for o in outcomes)} passed, {sum(o.failed for o in outcomes)} failed")
    return 0 if all(o.ok for o in outcomes) else 1


def main() -> int:
    given = sys.argv[1:]
    link()
    HOME.mkdir(parents=True, exist_ok=True)
    if given == ["--all"]:
        return run_all()
    names, arguments = given, []
    if "--" in given:
        names, arguments = given[: given.index("--")], given[given.index("--") + 1 :]
    if not names or any(name not in STEPS for name in names):
        print(f"usage: step.py --all | NAME... [-- ARGUMENT...], NAME being one of {', '.join(STEPS)}", file=sys.stderr)
        return 2
    ok = True
    for name in names:
        print(f"---- {name}", flush=True)
        outcome = run(name, arguments if name == names[-1] else [], show=True)
        if not outcome.ok and outcome.log.endswith("tested nothing\n"):
            print(outcome.log.splitlines()[-1])
        print(closing_line(name, outcome), flush=True)
        ok = ok and outcome.ok
    return 0 if ok else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        for leader in list(_leaders):
            end_group(leader)
        sys.exit("interrupted")
