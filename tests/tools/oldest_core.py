# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run tests of the rolling patch with the oldest ansible-core that we support: `oldest_core.py [pytest argument...]`.

Its playbooks run with an environment of their own, .venv-oldest, which is made once; the tests themselves with .venv.
Without arguments, the tests that depend on what templates make of texts, which changed with ansible-core 2.19: a whole
patch and a second one that finds it done, a run that was killed, one that failed, names and marks of all kinds.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

from places import BUILD, ROOT, VENV, environment

OLDEST = ROOT / ".venv-oldest"
REQUIREMENTS = ROOT / "tests" / "requirements"
# Of the demo's requirements, those that playbooks need.
_SHARED = ("kubernetes==", "jsonpatch==", "cryptography==")
# One story of test_failures.py: each costs half a minute.
TESTS = [
    f"tests/rolling/test_{name}"
    for name in (
        "failures.py::test_the_table_shows_the_state_of_every_node",
        "failures.py::test_the_next_run_continues_from_there",
        "upgrade.py",
        "texts.py",
        "killed.py",
    )
]
# One moment is enough here; the step `rolling` takes more.
KILLS = {"ROLLING_KILLS": "1"}


def main() -> int:
    given = sys.argv[1:]
    try:
        ensure()
    except subprocess.CalledProcessError as failed:
        print(f"Could not make {OLDEST.name}: {' '.join(failed.cmd)} ended with {failed.returncode}", file=sys.stderr)
        print("What pip said is in .build/pip-oldest.log", file=sys.stderr)
        return 1
    asked = [str(OLDEST / "bin" / "ansible-playbook"), "--version"]
    version = subprocess.run(asked, env=environment(), capture_output=True, text=True, check=True).stdout
    print(version.splitlines()[0], flush=True)
    wanted = given or ["-n", "2", "--dist", "loadfile", *TESTS]
    command = [str(VENV / "bin" / "python"), "-m", "pytest", "-q", *wanted]
    env = environment(ROLLING_VENV=str(OLDEST), **({} if given else KILLS))
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def ensure() -> None:
    """Make .venv-oldest if it is missing, or was made for other requirements or another Python."""
    BUILD.mkdir(exist_ok=True)
    stamp, wanted = OLDEST / "installed", "\n".join([sys.version, str(OLDEST), *pins()])
    with open(BUILD / "venv-oldest.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once: the second finds the work done
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        print(f"Installing the oldest ansible-core into {OLDEST.name} (once, about half a minute)", flush=True)
        shutil.rmtree(OLDEST, ignore_errors=True)
        with open(BUILD / "pip-oldest.log", "w", encoding="utf-8") as log:
            subprocess.run([sys.executable, "-m", "venv", str(OLDEST)], check=True, stdout=log, stderr=log)
            pip = [str(OLDEST / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
            subprocess.run([*pip, "--quiet", *pins()], check=True, stdout=log, stderr=log)
        stamp.write_text(wanted, encoding="utf-8")


def pins() -> list[str]:
    """Return what is installed: the oldest ansible-core, and the rest in the versions of .venv."""
    return [
        line
        for file, names in ((REQUIREMENTS / "oldest.txt", ("ansible-core==",)), (REQUIREMENTS / "demo.txt", _SHARED))
        for line in _lines(file)
        if line.startswith(names)
    ]


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    sys.exit(main())
