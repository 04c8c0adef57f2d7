# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a reason has lasted long enough to fail early."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.fail_fast import FailFast, Finding
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import Problem

KEY = ("Deployment", "shop", "web")


def finding(reason: str = "image_pull", uid: str = "u1", permanent: bool = False, is_fault: bool = True) -> Finding:
    return Finding(KEY, {"metadata": {"uid": uid}}, Problem(reason, "x", is_fault, permanent))


def ends_task(fail_fast: FailFast, found: Finding, *moments: float) -> list[bool]:
    """Return for each moment at which a finding is recorded whether it ends the task."""
    ends = []
    for now in moments:
        fail_fast.record([found], now)
        ends.append(bool(fail_fast.decisive([found], now)))
    return ends


def test_the_same_reason_must_last_for_the_window() -> None:
    assert ends_task(FailFast("tolerant", 30), finding(), 0, 10, 20, 29, 30) == [False, False, False, False, True]


def test_strictly_a_final_reason_ends_it_at_first_sight_and_another_after_the_window() -> None:
    assert ends_task(FailFast("strict", 30), finding(permanent=True), 0) == [True]
    assert ends_task(FailFast("strict", 30), finding(), 0, 8, 16, 24, 30) == [False] * 4 + [True]


@pytest.mark.parametrize("mode", ["off", "tolerant", "strict"])
def test_what_is_only_a_matter_of_time_never_ends_it(mode: str) -> None:
    assert ends_task(FailFast(mode, 10), finding("starting", is_fault=False), 0, 5, 10, 20, 30) == [False] * 5


def test_switched_off_nothing_ends_it() -> None:
    assert ends_task(FailFast("off", 10), finding(permanent=True), 0, 10, 20) == [False] * 3


def test_a_reason_that_flickers_is_one_reason() -> None:
    fail_fast = FailFast("tolerant", 30)
    assert ends_task(fail_fast, finding("crash_loop"), 0, 9, 18, 27, 31) == [False] * 4 + [True]


def test_a_reason_that_went_away_starts_again() -> None:
    fail_fast = FailFast("tolerant", 30)
    ends_task(fail_fast, finding(), 0, 5)
    fail_fast.record([], 20)
    assert ends_task(fail_fast, finding(), 25, 34, 43, 52, 55) == [False] * 4 + [True]


def test_each_pod_has_its_own_time() -> None:
    fail_fast = FailFast("tolerant", 30)
    ends_task(fail_fast, finding(uid="u1"), 0, 9, 18, 27)
    assert ends_task(fail_fast, finding(uid="u2"), 28, 31) == [False, False]


def test_pods_that_nodes_fail_one_after_the_other_share_theirs() -> None:
    fail_fast = FailFast("tolerant", 30)
    ends_task(fail_fast, finding("pod_failed", "u1"), 0, 9, 18, 27)
    assert ends_task(fail_fast, finding("pod_failed", "u2"), 31) == [True]


def test_what_an_event_explains_has_lasted_since_it_was_first_seen() -> None:
    fail_fast = FailFast("tolerant", 30)
    ends_task(fail_fast, finding("starting", is_fault=False), 0, 9, 18, 27)
    assert ends_task(fail_fast, finding("volume"), 30) == [True]
