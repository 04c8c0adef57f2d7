# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How `make test` counts: from what pytest, ansible-test and the golden runner print."""

from __future__ import annotations

import pytest

from sanity import tally
from steps import count_cases, count_tests

SANITY_FAILED = """\
Running sanity test "compile" on Python 3.10
Running sanity test "compile" on Python 3.11
Running sanity test "pep8"
ERROR: Found 1 pep8 issue(s) which need to be resolved:
Running sanity test "import" on Python 3.11
Running sanity test "yamllint"
FATAL: The 2 sanity test(s) listed below (out of 5) failed. See error output above for details.
import --python 3.11
pep8
"""


@pytest.mark.parametrize(
    ("log", "counts"),
    [
        ("== 12 passed, 3 skipped, 1 warning in 1.20s ==\n", (12, 0)),
        ("FAILED tests/x.py::test_y\n2 failed, 7 passed, 1 error in 0.10s\n", (7, 3)),
        ("target a: passed\n3 passed, 0 failed\n", (3, 0)),
        ("5 passed, 1 failed\nsomething that came last\n", (5, 1)),
    ],
)
def test_tests_are_counted_from_the_last_line_that_counts(log: str, counts: tuple[int, int]) -> None:
    assert count_tests(log) == counts


def test_a_log_without_a_count_counts_as_nothing() -> None:
    assert count_tests("no tests ran in 0.01s\n") is None


def test_golden_cases_are_counted_from_their_closing_line() -> None:
    assert count_cases("case-1 agrees\n54 of 55 cases agree\n") == (54, 0)


def test_a_sanity_test_of_several_python_versions_counts_once() -> None:
    assert tally(SANITY_FAILED) == (2, 2)


def test_sanity_tests_without_a_list_of_failures_have_passed() -> None:
    assert tally('Running sanity test "pep8"\nRunning sanity test "yamllint"\n') == (2, 0)
