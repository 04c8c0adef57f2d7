# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests of the connection with old and new releases of the client library: `client_matrix.py [VERSION...]`.

Each release gets a virtual environment in .build/clients, which is kept. Ends with `N passed, N failed`, summed up.
The release that the developers' own environment holds is left to `make unit`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from places import BUILD, ROOT, environment
from steps import count_tests

CLIENTS = BUILD / "clients"
# The oldest that is supported, those around changes that concern us (31 tls-server-name, 35 proxies of the
# environment, 36.0.0 lost tokens), and more to fill the gaps. The oldest also runs with the oldest HTTP library.
VERSIONS = {
    "24.2.0": ["urllib3<2"],
    "29.0.0": [],
    "31.0.0": [],
    "33.1.0": [],
    "35.0.0": [],
    "36.0.0": [],
    "36.0.3": [],
}
TOOLS = ["ansible-core", "cryptography", "pytest", "pytest-xdist"]
# What these releases or their dependencies do at import, or leave open, is not ours to repair.
TOLERATED = ["Deprecation", "Syntax", "Resource", "pytest.PytestUnraisableException"]


def main() -> int:
    wanted = sys.argv[1:] or list(VERSIONS)
    if unknown := sorted(set(wanted) - set(VERSIONS)):
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(VERSIONS)}", file=sys.stderr)
        return 2
    passed = failed = 0
    for version in wanted:
        good, bad = test(version)
        print(f"kubernetes {version:8} {good} passed, {bad} failed", flush=True)
        passed += good
        failed += bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def test(version: str) -> tuple[int, int]:
    """Return how many tests passed and failed with a release; a run that tested nothing counts as one failure."""
    tolerated = [f"-Wdefault::{name}Warning" for name in TOLERATED]
    command = [str(venv(version)), "-B", "-m", "pytest", "-q", "-n", "2", *tolerated, "tests/unit/connection"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    (CLIENTS / f"{version}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    counts = count_tests(done.stdout) or (0, 0)
    if done.returncode and not counts[1]:
        counts = (counts[0], 1)
    if counts[1]:
        print(done.stdout[-3000:] + done.stderr[-1000:])
    return counts


def venv(version: str) -> Path:
    """Return the Python of a virtual environment that holds the release and what its tests need."""
    folder = CLIENTS / version
    python = folder / "bin" / "python"
    done = folder / "complete"
    wanted = [f"kubernetes=={version}", *VERSIONS[version], *TOOLS]
    if not done.exists() or done.read_text(encoding="utf-8") != "\n".join(wanted):
        print(f"Installing kubernetes {version} into {os.path.relpath(folder, ROOT)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
        with open(CLIENTS / "pip.log", "w", encoding="utf-8") as log:
            subprocess.run([*pip, "-c", str(constraints()), *wanted], check=True, stdout=log, stderr=log)
        done.write_text("\n".join(wanted), encoding="utf-8")
    return python


def constraints() -> Path:
    """Write the developers' versions of everything but the client library to a file, and return its path."""
    folder = ROOT / "tests" / "requirements"
    lines = [line for name in ("demo.txt", "dev.txt") for line in (folder / name).read_text("utf-8").splitlines()]
    kept = [line for line in lines if re.match(r"[a-z]", line, re.IGNORECASE) and not line.startswith("kubernetes=")]
    path = CLIENTS / "constraints.txt"
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    CLIENTS.mkdir(parents=True, exist_ok=True)
    sys.exit(main())
