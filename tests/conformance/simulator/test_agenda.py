# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator's clock."""

from __future__ import annotations

from kubesim.agenda import TEST_EPOCH, Agenda, seconds_of, timestamp


def test_items_run_in_order_of_time_then_of_insertion() -> None:
    agenda, done = Agenda(100.0), list[str]()
    agenda.after(2, lambda: done.append("late"))
    agenda.after(1, lambda: done.append("first"))
    agenda.after(1, lambda: done.append("second"))
    agenda.advance(5)
    assert done == ["first", "second", "late"]


def test_an_item_sees_its_own_time() -> None:
    agenda, seen = Agenda(100.0), list[float]()
    agenda.after(1.5, lambda: seen.append(agenda.now))
    agenda.advance(10)
    assert (seen, agenda.now) == ([101.5], 110.0)


def test_an_item_planned_meanwhile_runs_when_it_is_due() -> None:
    agenda, seen = Agenda(100.0), list[float]()

    def plan_more() -> None:
        agenda.after(1, lambda: seen.append(agenda.now))

    agenda.after(1, plan_more)
    agenda.advance(2)
    assert seen == [102.0]


def test_what_is_not_due_waits() -> None:
    agenda, done = Agenda(100.0), list[str]()
    agenda.after(3, lambda: done.append("x"))
    agenda.advance(2.9)
    assert (done, agenda.next_due()) == ([], 103.0)


def test_a_cancelled_item_never_runs() -> None:
    agenda, done = Agenda(100.0), list[str]()
    agenda.after(1, lambda: done.append("x")).cancel()
    agenda.advance(2)
    assert (done, agenda.next_due()) == ([], None)


def test_times_are_written_as_the_api_writes_them() -> None:
    assert timestamp(TEST_EPOCH + 0.9) == "2026-09-21T14:13:20Z"


def test_written_times_can_be_read_again() -> None:
    assert seconds_of("2026-09-21T14:13:20Z") == TEST_EPOCH
