# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make test` shows of a step that failed, and how to repeat it."""

from __future__ import annotations

import pytest

import step
from failures import commands, excerpt
from steps import STEPS

TARGETS = """\
==== node_drain_basic
TASK [fail]
fatal: [testhost]: FAILED! => its own words
==== node_drain_basic: FAILED in 3.2 s
==== node_info
TASK [debug]
ok: [testhost]
==== node_info: passed in 2.0 s
1 passed, 1 failed
"""
PYTEST = """\
FAILED tests/unit/drain/test_cordon.py::test_a[w1 - w 2] - AssertionError: assert 1 == 2
FAILED tests/unit/drain/test_cordon.py::test_b - assert [1] == []
ERROR tests/unit/drain/test_owners.py - ImportError: no such name
2 failed, 7 passed, 1 error in 0.10s
"""
SANITY = """\
ERROR: Found 1 pep8 issue(s) which need to be resolved:
FATAL: The 2 sanity test(s) listed below (out of 5) failed. See error output above for details.
import --python 3.11
pep8
"""


def test_the_log_of_a_target_that_failed_is_shown_and_none_of_one_that_passed() -> None:
    assert excerpt("integration", TARGETS) == TARGETS.splitlines()[:4]


def test_each_target_that_failed_shows_its_end() -> None:
    failed = [
        f"==== t{n}\n" + "".join(f"{n} {line}\n" for line in range(99)) + f"==== t{n}: FAILED in 1 s" for n in "ab"
    ]
    shown = excerpt("integration", "\n".join(failed))
    assert (len(shown), shown[0], shown[29], shown[30], shown[-1]) == (
        60, "a 70", "==== ta: FAILED in 1 s", "b 70", "==== tb: FAILED in 1 s",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["unit", "integration", "ruff"])
def test_any_other_log_shows_its_end(name: str) -> None:
    assert excerpt(name, "".join(f"{number}\n" for number in range(100))) == [str(n) for n in range(40, 100)]


@pytest.mark.parametrize(
    ("name", "log", "repeated"),
    [
        ("integration", TARGETS, ['make integration TARGETS="node_drain_basic"']),
        (
            "unit",
            PYTEST,
            [
                ".venv/bin/python -m pytest 'tests/unit/drain/test_cordon.py::test_a[w1 - w 2]'",
                ".venv/bin/python -m pytest tests/unit/drain/test_cordon.py::test_b",
                ".venv/bin/python -m pytest tests/unit/drain/test_owners.py",
            ],
        ),
        (
            "rolling-oldest",
            "FAILED tests/rolling/test_texts.py::test_c\n",
            [".venv/bin/python tests/tools/oldest_core.py tests/rolling/test_texts.py::test_c"],
        ),
        (
            "sanity",
            SANITY,
            [
                ".venv/bin/python tests/tools/step.py sanity -- --test import",
                ".venv/bin/python tests/tools/step.py sanity -- --test pep8",
            ],
        ),
        ("unit", "Killed\n", [".venv/bin/python tests/tools/step.py unit"]),
        ("ruff", "E501\n", [".venv/bin/python tests/tools/step.py ruff"]),
    ],
)
def test_what_failed_comes_with_the_command_that_repeats_it(name: str, log: str, repeated: list[str]) -> None:
    assert commands(name, log) == repeated


def test_many_failures_give_some_commands_and_a_number() -> None:
    log = "".join(f"FAILED tests/unit/test_x.py::test_{number}\n" for number in range(15))
    assert (len(commands("unit", log)), commands("unit", log)[-1]) == (11, "... and 5 more")


def test_the_summary_ends_with_what_failed_and_the_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = {
        "integration": step.Outcome(False, 1, 1, 5.0, TARGETS),
        "ruff": step.Outcome(True, 0, 0, 1.0, "fine\n"),
    }
    monkeypatch.setattr(step, "STEPS", {name: STEPS[name] for name in outcomes})
    monkeypatch.setattr(step, "run", lambda name, arguments, show: outcomes[name])
    assert step.run_all() == 1
    printed = capsys.readouterr().out
    assert "ok: [testhost]" not in printed and "    fatal: [testhost]: FAILED! => its own words\n" in printed
    assert printed.splitlines()[-3:] == [
        "Failed, and how to repeat it:",
        'integration    make integration TARGETS="node_drain_basic"',
        "1 passed, 1 failed",
    ]


def test_a_line_says_what_runs_and_for_how_long() -> None:
    assert step.running_line({"unit": 31.4, "chaos": 4.0}) == "               running: unit (31 s), chaos (4 s)"
