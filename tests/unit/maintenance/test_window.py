# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a maintenance window is open."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.window import (
    Opening,
    opening,
    windows_from,
)

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, zone: Any = timezone.utc) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def state(now: float, *windows: dict[str, Any], margin: float = 0) -> Opening:
    return opening(windows_from("window", windows), now, margin)


def test_without_windows_it_is_always_open() -> None:
    assert state(at("2026-12-01T12:00")).open


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-12-01T21:59", False),
        ("2026-12-01T22:00", True),
        ("2026-12-02T03:59", True),
        ("2026-12-02T04:00", False),
    ],
)
def test_a_window_over_midnight_is_open_on_both_days(moment: str, is_open: bool) -> None:
    assert state(at(moment), {"start": "22:00", "end": "04:00"}).open is is_open


# 2026-12-05 is a Saturday.
@pytest.mark.parametrize(
    ("moment", "is_open"), [("2026-12-04T23:00", False), ("2026-12-05T23:00", True), ("2026-12-06T03:00", True)]
)
def test_the_day_is_that_on_which_the_window_begins(moment: str, is_open: bool) -> None:
    assert state(at(moment), {"days": ["Saturday"], "start": "22:00", "end": "04:00"}).open is is_open


def test_times_are_those_of_the_time_zone() -> None:
    window = {"start": "22:00", "end": "23:00", "timezone": "Europe/Berlin"}
    assert state(at("2026-07-01T20:30"), window).open
    assert not state(at("2026-12-01T20:30"), window).open


def test_a_window_lasts_longer_in_the_night_in_which_clocks_go_back() -> None:
    window = {"start": "01:00", "end": "05:00", "timezone": "Europe/Berlin"}
    found = state(at("2026-10-25T02:30", BERLIN), window)
    assert found.closes is not None and found.opens is not None
    assert found.closes - found.opens == 5 * 3600


def test_several_windows_are_open_when_one_is() -> None:
    windows = [{"start": "01:00", "end": "02:00"}, {"start": "13:00", "end": "14:00"}]
    assert state(at("2026-12-01T13:30"), *windows).open


def test_windows_that_touch_are_one() -> None:
    found = state(at("2026-12-01T23:50"), {"start": "22:00", "end": "24:00"}, {"start": "00:00", "end": "02:00"})
    assert found.closes == at("2026-12-02T02:00")


def test_a_margin_wants_the_window_to_stay_open_for_a_while() -> None:
    found = state(at("2026-12-01T03:50"), {"start": "22:00", "end": "04:00", "days": ["mon"]}, margin=900)
    assert not found.open


def test_a_window_that_is_not_open_for_long_enough_says_when_it_opens_again() -> None:
    found = state(at("2026-12-01T03:50"), {"start": "22:00", "end": "04:00"}, margin=900)
    assert found.message == (
        "the maintenance window closes 2026-12-01 04:00 UTC, too soon to begin, and opens again 2026-12-01 22:00 UTC"
    )
    assert (found.opens, found.closes) == (at("2026-12-01T22:00"), at("2026-12-01T04:00"))


def test_a_closed_window_says_when_it_opens() -> None:
    found = state(at("2026-12-01T12:00"), {"start": "22:00", "end": "04:00", "timezone": "Europe/Berlin"})
    assert found.message == "the maintenance window opens 2026-12-01 22:00 CET"
    assert found.opens == at("2026-12-01T21:00")


def test_a_window_whose_last_moment_is_over_is_past() -> None:
    found = state(at("2026-12-01T12:00"), {"not_after": "2026-11-30"})
    assert (found.open, found.past) == (False, True)
    assert found.message == "the maintenance window ended 2026-11-30 00:00 UTC"


def test_a_window_that_begins_in_some_weeks_is_closed_and_not_past() -> None:
    found = state(at("2026-12-01T12:00"), {"not_before": "2026-12-24T20:00"})
    assert (found.open, found.past, found.opens) == (False, False, at("2026-12-24T20:00"))


def test_a_time_without_quotes_is_what_yaml_makes_of_it() -> None:
    assert state(at("2026-12-01T22:45"), {"start": "1350", "end": "24:00"}).open


@pytest.mark.parametrize(
    ("window", "says"),
    [
        ({"days": ["caturday"]}, "window[0].days: 'cat' is not a day"),
        ({"start": "25:00"}, "window[0].start is '25:00', but must be a time of day"),
        ({"end": "noon"}, "window[0].end is 'noon', but must be a time of day"),
        ({"timezone": "Mars/Olympus"}, "there is no time zone 'Mars/Olympus' on the host"),
        ({"not_after": "tomorrow"}, "window[0].not_after is 'tomorrow', but must be a date"),
        ({"not_before": "2026-12-02", "not_after": "2026-12-01"}, "ends (not_after) before it begins"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(window: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidOptions) as caught:
        windows_from("window", [window])
    assert says in caught.value.message
