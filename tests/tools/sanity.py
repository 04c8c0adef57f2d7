# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run every ansible-test sanity test over a copy of the collection; the last line counts them."""

from __future__ import annotations

import re
import subprocess
import sys

from places import VENV
from staging import ansible_test_environment, staged

NOTHING_TESTED = "All targets skipped"


def tally(log: str) -> tuple[int, int]:
    """Return how many sanity tests passed and failed according to ansible-test's output.

    A test that runs once per Python version counts once.
    """
    started = set(re.findall(r'^Running sanity test "([^"]+)"', log, re.MULTILINE))
    failed: set[str] = set()
    summary = re.search(r"sanity test\(s\) listed below \(out of \d+\) failed.*\n((?:[\w-]+.*\n?)+)", log)
    if summary:
        failed = {line.split()[0] for line in summary[1].splitlines()}
    return len(started - failed), len(failed)


def main() -> int:
    with staged("sanity") as copy:
        command = [str(VENV / "bin" / "ansible-test"), "sanity", "--color", "no", *sys.argv[1:]]
        ansible_test = subprocess.Popen(
            command,
            cwd=copy,
            env=ansible_test_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        log = ""
        for line in ansible_test.stdout or ():
            log += line
            print(line, end="", flush=True)
        code = ansible_test.wait()
    passed, failed = tally(log)
    if NOTHING_TESTED in log or passed + failed == 0:
        print("ansible-test looked at nothing")
        return 1
    if code and not failed:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
