# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a recorded run began, and how its time stamps come to the present."""

from __future__ import annotations

import calendar

from golden.recorded_time import moved, present, started_at
from golden_runner.recordings import case, pod

TEN = calendar.timegm((2026, 11, 30, 10, 0, 0))


def stamp(seconds: int) -> str:
    return f"2026-11-30T10:00:{seconds:02}Z"


def test_the_start_is_not_before_the_latest_moment_of_what_was_there() -> None:
    recorded = case(before=[pod("old", creationTimestamp=stamp(1)), pod("new", creationTimestamp=stamp(7))])
    assert started_at(recorded) == TEN + 7


def test_a_deletion_counts_from_when_it_was_asked_for() -> None:
    going = pod("going", deletionTimestamp=stamp(35), deletionGracePeriodSeconds=30)
    assert started_at(case(before=[going])) == TEN + 5


def test_answers_and_events_tell_the_start_more_closely() -> None:
    exchanges = [
        {"t": 2.5, "response": pod("later", creationTimestamp=stamp(10))},
        {"t": 1.0, "response": None, "events": [{"t": 4.0, "object": pod("last", creationTimestamp=stamp(13))}]},
    ]
    recorded = case(before=[pod("web", creationTimestamp=stamp(7))], exchanges=exchanges)
    assert started_at(recorded) == TEN + 9


def test_what_users_wrote_is_no_time_of_the_clusters() -> None:
    recorded = case(before=[pod("web", creationTimestamp=stamp(7), annotations={"valid-until": stamp(50)})])
    assert started_at(recorded) == TEN + 7


def test_a_recording_without_times_is_taken_as_it_is() -> None:
    recorded = case()
    assert present(recorded, TEN) == recorded.before


def test_every_time_stamp_moves_by_the_same() -> None:
    before = {
        "metadata": {"creationTimestamp": stamp(1), "labels": {"when": stamp(1)}, "name": "2026-11-30"},
        "status": {"conditions": [{"lastTransitionTime": "2026-11-30T10:00:02.123456Z"}], "count": 3, "none": None},
    }
    assert moved(before, 3600) == {
        "metadata": {"creationTimestamp": "2026-11-30T11:00:01Z", "labels": {"when": stamp(1)}, "name": "2026-11-30"},
        "status": {"conditions": [{"lastTransitionTime": "2026-11-30T11:00:02.123456Z"}], "count": 3, "none": None},
    }


def test_the_recorded_start_becomes_now() -> None:
    recorded = case(before=[pod("old", creationTimestamp=stamp(1)), pod("new", creationTimestamp=stamp(7))])
    there = present(recorded, TEN + 60.2)
    assert [obj["metadata"]["creationTimestamp"] for obj in there] == ["2026-11-30T10:00:54Z", "2026-11-30T10:01:00Z"]
