# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say of a failed step what failed: the part of its log that shows it, and the commands that repeat it."""

from __future__ import annotations

import re
import shlex

TAIL = 60  # lines of a log that are shown
PYTHON = ".venv/bin/python"
MOST_COMMANDS = 10
# Steps whose tests pytest runs, and what runs a single one. (The rest of the line is the error.)
_PYTEST = {
    **dict.fromkeys(["unit", "conformance", "chaos", "rolling", "awx"], f"{PYTHON} -m pytest"),
    "rolling-oldest": f"{PYTHON} tests/tools/oldest_core.py",
}
_TEST = re.compile(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::[^\[\s]+(?:\[.*?\])?)?)(?: - |$)", re.MULTILINE)
_TARGET = re.compile(r"^==== (\w+)\n.*?^==== \1: (passed|FAILED) in .*?$", re.MULTILINE | re.DOTALL)
_SANITY = re.compile(r"^FATAL: The \d+ sanity test\(s\) listed below .*\n((?:[a-z][\w-]*.*\n?)+)", re.MULTILINE)


def excerpt(step: str, log: str) -> list[str]:
    """Return the lines to show of a failed step's log: its end, or that of each target that failed."""
    parts = [part[0] for part in _failed_targets(log)] if step == "integration" else []
    if not parts:
        return log.splitlines()[-TAIL:]
    length = max(TAIL // len(parts), 20)
    return [line for part in parts for line in part.splitlines()[-length:]]


def commands(step: str, log: str) -> list[str]:
    """Return the commands that run again what failed, the whole step where its log names no part."""
    found: list[str] = []
    if step in _PYTEST:
        found = [f"{_PYTEST[step]} {shlex.quote(test)}" for test in dict.fromkeys(_TEST.findall(log))]
    elif step == "integration":
        targets = [target[1] for target in _failed_targets(log)]
        found = [f'make integration TARGETS="{" ".join(targets)}"'] if targets else []
    elif step == "sanity":
        names = {line.split()[0] for listed in _SANITY.findall(log) for line in listed.splitlines()}
        found = [f"{PYTHON} tests/tools/step.py sanity -- --test {name}" for name in sorted(names)]
    if len(found) > MOST_COMMANDS:
        found[MOST_COMMANDS:] = [f"... and {len(found) - MOST_COMMANDS} more"]
    return found or [f"{PYTHON} tests/tools/step.py {step}"]


def _failed_targets(log: str) -> list[re.Match[str]]:
    return [found for found in _TARGET.finditer(log) if found[2] == "FAILED"]
