# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name the steps of `make check`, `make lint`, `make test` and say how each is run and counted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from places import HOME, LINKED, ROOT, VENV

Counts = tuple[int, int]


def count_tests(log: str) -> Counts | None:
    """Return (passed, failed) from the last line that counts tests, as pytest and our own runners print it."""
    for line in reversed(log.splitlines()):
        found = {word: int(number) for number, word in re.findall(r"\b(\d+) (passed|failed|errors?)\b", line)}
        if found:
            return found.pop("passed", 0), sum(found.values())
    return None


def count_cases(log: str) -> Counts | None:
    """Return (passed, failed) from `N of M cases agree`. A case that deviates for a listed reason is neither."""
    found = re.findall(r"^(\d+) of (\d+) cases agree", log, re.MULTILINE)
    return (int(found[-1][0]), 0) if found else None


@dataclass(frozen=True)
class Step:
    """One command.

    tally: None where the step tests as a whole and not a number of things; width: how many processors it keeps busy.
    """

    command: list[str]
    tally: Callable[[str], Counts | None] | None = None
    env: dict[str, str] = field(default_factory=dict)
    width: int = 1


def _bin(name: str) -> str:
    return str(VENV / "bin" / name)


def _pytest_by_file(folder: str) -> list[str]:
    """Keep the tests of a file together: what they look at takes long to make."""
    return [*_pytest(folder), "--dist", "loadfile"]


def _own(name: str) -> list[str]:
    return [_bin("python"), str(ROOT / "tests" / "tools" / name)]


def _pytest(folder: str) -> list[str]:
    return [_bin("python"), "-m", "pytest", "-q", "-n", "2", folder]


# Tools that leave files in the home folder get another one.
_APART = {"HOME": str(HOME)}
_PLUGINS = "ansible_collections.kubeops.maintenance.plugins"
_TYPED = ("module_utils", "plugin_utils", "action", "filter")
_PACKAGES = [word for name in _TYPED for word in ("-p", f"{_PLUGINS}.{name}")]

# In the order in which `make test` starts them, side by side where they are narrow enough: first what fails soonest,
# then what takes longest, each beside something that ends in about the same time. Playbooks wait about as much as they
# compute. The runs of mypy share a cache and go one by one.
STEPS = {
    "ruff": Step([_bin("ruff"), "check", "--cache-dir", ".build/ruff_cache", "."]),
    "ruff-format": Step([_bin("ruff"), "format", "--check", "--cache-dir", ".build/ruff_cache", "."]),
    "yamllint": Step([_bin("yamllint"), "--strict", "."]),
    "mypy": Step([_bin("mypy"), *_PACKAGES], env={"MYPYPATH": str(LINKED)}, width=2),
    "mypy-kubesim": Step([_bin("mypy"), "-p", "kubesim"], env={"MYPYPATH": "tests"}, width=2),
    "mypy-tools": Step([_bin("mypy"), "tests/tools"], env={"MYPYPATH": "tests/tools"}, width=2),
    "unit": Step(_pytest("tests/unit"), count_tests, width=2),
    "conformance": Step(_pytest("tests/conformance"), count_tests, width=2),
    "chaos": Step(_pytest("tests/chaos"), count_tests, width=2),
    "golden": Step([_bin("python"), "tests/golden/run.py", "tests/golden/cases"], count_cases, width=2),
    "integration": Step(_own("integration.py"), count_tests),
    "sanity": Step(_own("sanity.py"), count_tests),
    "rolling": Step(_pytest_by_file("tests/rolling"), count_tests),
    "rolling-oldest": Step(_own("oldest_core.py"), count_tests),
    "awx": Step(_pytest_by_file("tests/awx"), count_tests),
    "ansible-lint": Step([_bin("ansible-lint"), "--nocolor"], env=_APART),
    "docs": Step([_bin("antsibull-docs"), "lint-collection-docs", "--plugin-docs", "."], env=_APART),
    "changelog": Step([_bin("antsibull-changelog"), "lint"], env=_APART),
    "build": Step(_own("artifact.py"), env=_APART),
}
