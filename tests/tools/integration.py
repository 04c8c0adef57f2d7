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
import time
from pathlib import Path

from places import COLLECTION, VENV
from staging import ansible_test_environment, staged

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


def run(copy: Path, env: dict[str, str], target: str) -> bool:
    """Run one target; print its output and a closing line. Tell whether it passed."""
    started = time.monotonic()
    print(f"==== {target}", flush=True)
    with tempfile.TemporaryFile("w+", errors="replace") as output:  # a pipe would wait for servers left running, too
        done = subprocess.run(
            [*ANSIBLE_TEST, "-v", target], cwd=copy, env=env, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, check=False,
        )
        output.seek(0)
        log = output.read()
    print(log, end="")
    passed = done.returncode == 0 and "All targets skipped" not in log
    print(f"==== {target}: {'passed' if passed else 'FAILED'} in {time.monotonic() - started:.1f} s", flush=True)
    return passed


def main() -> int:
    with staged("integration") as copy:
        if not (copy / "tests" / "integration").is_dir():
            print("There is no tests/integration")
            return 1
        configure(copy)
        env = ansible_test_environment()
        listed = subprocess.run(
            [*ANSIBLE_TEST, "--list-targets"], cwd=copy, env=env, capture_output=True, text=True, check=False
        )
        targets = sys.argv[1:] or listed.stdout.split()
        if not targets:
            print(listed.stdout + listed.stderr)
            print("ansible-test found no integration targets")
            return 1
        results = [run(copy, env, target) for target in targets]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
