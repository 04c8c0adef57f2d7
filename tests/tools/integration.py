# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the integration targets with ansible-test: `integration.py [target...]`; the last line counts them.

Each target is run by itself, so that one failing target hides no other. ansible-test takes nearly all environment
variables away; what a target needs to know reaches it as variables from tests/integration/integration_config.yml:

kubeops_tests    the tests folder (PYTHONPATH for the embedded cluster)
kubeops_python   a Python with the requirements of tests/requirements/demo.txt
kubeops_collections    the value for ANSIBLE_COLLECTIONS_PATH in a playbook that a target starts by itself
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from places import COLLECTION, VENV
from staging import ansible_test_environment, staged

LANES = 3
# These take longest and come first, so that no lane is left with one of them when the others are done.
LONG = ("progress_remote", "bad_input", "role_node_patch", "progress_local", "node_drain_cancel")
ANSIBLE_TEST = [str(VENV / "bin" / "ansible-test"), "integration", "--color", "no"]


def configure(copy: Path) -> None:
    """Write the variables of the targets into the copy. JSON is YAML, too."""
    collections = copy.parents[len(COLLECTION.parts) - 1]
    settings = {
        "kubeops_tests": str(copy / "tests"),
        "kubeops_python": str(VENV / "bin" / "python"),
        "kubeops_collections": str(collections),
    }
    place = copy / "tests" / "integration" / "integration_config.yml"
    place.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


class Lanes:
    """Targets in a queue, and as many copies of the collection as are worked in at once.

    Most of a target's time is spent waiting, so that there are more lanes than processors.
    """

    def __init__(self, targets: list[str]) -> None:
        self._left = list(targets)
        self._env = ansible_test_environment()
        self._lock = threading.Lock()
        self.results: list[bool] = []

    def work(self, lane: int) -> None:
        """Run targets in a copy of this lane's own until none is left."""
        with staged(f"integration-{lane}") as copy:
            configure(copy)
            # ansible-test makes keys and a database in the home folder when it runs there for the first time.
            home = copy.parents[len(COLLECTION.parts) - 1] / "home"
            home.mkdir(exist_ok=True)
            env = {**self._env, "HOME": str(home)}
            while True:
                with self._lock:
                    if not self._left:
                        return
                    target = self._left.pop(0)
                passed, log = run(copy, env, target)
                with self._lock:
                    print(log, flush=True)
                    self.results.append(passed)


def run(copy: Path, env: dict[str, str], target: str) -> tuple[bool, str]:
    """Run one target. Return whether it passed, and its output between two lines with its name."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:  # a pipe would wait for servers left running, too
        done = subprocess.run(
            [*ANSIBLE_TEST, "-v", target],
            cwd=copy,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output.seek(0)
        log = output.read()
    passed = done.returncode == 0 and "All targets skipped" not in log
    verdict = f"{'passed' if passed else 'FAILED'} in {time.monotonic() - started:.1f} s"
    return passed, f"==== {target}\n{log}==== {target}: {verdict}"


def listed_targets() -> list[str]:
    """Return the names of all targets that ansible-test knows, in the order in which they are to start."""
    with staged("integration-0") as copy:
        if not (copy / "tests" / "integration").is_dir():
            return []
        listed = subprocess.run(
            [*ANSIBLE_TEST, "--list-targets"],
            cwd=copy,
            env=ansible_test_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    return sorted(listed.stdout.split(), key=lambda target: LONG.index(target) if target in LONG else len(LONG))


def main() -> int:
    targets = sys.argv[1:] or listed_targets()
    if not targets:
        print("There are no integration targets")
        return 1
    lanes = Lanes(targets)
    workers = [threading.Thread(target=lanes.work, args=(lane,)) for lane in range(min(LANES, len(targets)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"{lanes.results.count(True)} passed, {len(targets) - lanes.results.count(True)} failed")
    return 0 if lanes.results.count(True) == len(targets) else 1


if __name__ == "__main__":
    sys.exit(main())
