# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out whether a maintenance window is open. Times of day are local to the window's time zone."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import InvalidOptions

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)$")
# A window that opens weekly is found within this many days.
_AHEAD = 8


@dataclass(frozen=True)
class Window:
    """A span of each chosen day. minutes since midnight; an end not after the start lies on the next day.

    days: on which it begins; not_before, not_after: the moments between which it exists at all, None for no limit.
    """

    zone: zoneinfo.ZoneInfo
    days: tuple[int, ...]
    start: int
    end: int
    not_before: datetime.datetime | None = None
    not_after: datetime.datetime | None = None


class Opening(NamedTuple):
    """The state of windows at a moment; times in seconds since 1970. past: none of them opens ever again."""

    open: bool
    past: bool
    opens: float | None
    closes: float | None
    message: str


def windows_from(option: str, entries: Iterable[Mapping[str, Any]] | None) -> tuple[Window, ...]:
    """Return the windows that an option describes; raise InvalidOptions for what makes no sense."""
    return tuple(_window_from(f"{option}[{number}]", entry) for number, entry in enumerate(entries or ()))


def opening(windows: tuple[Window, ...], now: float, margin: float = 0) -> Opening:
    """Return the windows' state; open only if one stays open for the margin, in seconds. No windows: always open."""
    if not windows:
        return Opening(True, False, None, None, "")
    spans = sorted(span for window in windows for span in _spans(window, now))
    # Windows that touch are one: an end at midnight and a start at midnight close nothing.
    joined: list[tuple[float, float]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    zone = windows[0].zone
    for start, end in joined:
        if start <= now < end and end - now >= margin:
            return Opening(True, False, start, end, f"the maintenance window is open until {_date(end, zone)}")
    later = [start for start, end in joined if start > now]
    current = [end for start, end in joined if start <= now < end]
    if current:
        text = f"the maintenance window closes {_date(current[0], zone)}, too soon to begin"
        again = f", and opens again {_date(later[0], zone)}" if later else ""
        return Opening(False, False, later[0] if later else None, current[0], text + again)
    if later:
        return Opening(False, False, later[0], None, f"the maintenance window opens {_date(later[0], zone)}")
    ends = [window.not_after.timestamp() for window in windows if window.not_after is not None]
    if ends and max(ends) <= now:
        return Opening(False, True, None, None, f"the maintenance window ended {_date(max(ends), zone)}")
    return Opening(False, False, None, None, "the maintenance window does not open within the next days")


def _spans(window: Window, now: float) -> list[tuple[float, float]]:
    begun = datetime.datetime.fromtimestamp(now, window.zone)
    if window.not_before is not None and window.not_before > begun:
        begun = window.not_before
    spans = []
    for ahead in range(-1, _AHEAD + 1):
        day = begun.date() + datetime.timedelta(days=ahead)
        if day.weekday() not in window.days:
            continue
        last = day + datetime.timedelta(days=1 if window.end <= window.start else 0)
        start, end = _moment(day, window.start, window.zone), _moment(last, window.end, window.zone)
        if window.not_before is not None:
            start = max(start, window.not_before)
        if window.not_after is not None:
            end = min(end, window.not_after)
        if start < end:
            spans.append((start.timestamp(), end.timestamp()))
    return spans


def _moment(day: datetime.date, minutes: int, zone: zoneinfo.ZoneInfo) -> datetime.datetime:
    midnight = datetime.datetime(day.year, day.month, day.day)
    return (midnight + datetime.timedelta(minutes=minutes)).replace(tzinfo=zone)


def _date(moment: float, zone: zoneinfo.ZoneInfo) -> str:
    return datetime.datetime.fromtimestamp(moment, zone).strftime("%Y-%m-%d %H:%M %Z")


def _window_from(option: str, entry: Mapping[str, Any]) -> Window:
    zone = _zone(f"{option}.timezone", entry.get("timezone") or "UTC")
    names = [str(day).strip().lower()[:3] for day in entry.get("days") or DAYS]
    for name in names:
        if name not in DAYS:
            raise InvalidOptions(f"the option {option}.days: {name!r} is not a day; days are {', '.join(DAYS)}")
    window = Window(
        zone,
        tuple(DAYS.index(name) for name in names),
        _minutes(f"{option}.start", entry.get("start") or "00:00"),
        _minutes(f"{option}.end", entry.get("end") or "24:00"),
        _limit(f"{option}.not_before", entry.get("not_before"), zone),
        _limit(f"{option}.not_after", entry.get("not_after"), zone),
    )
    if window.not_before and window.not_after and window.not_before >= window.not_after:
        raise InvalidOptions(f"the option {option} ends (not_after) before it begins (not_before)")
    return window


def _zone(option: str, name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(str(name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidOptions(
            f"the option {option}: there is no time zone {name!r} on the host that runs this task; give one such as "
            "Europe/Berlin, or install the package tzdata if the name is right"
        ) from None


def _minutes(option: str, text: Any) -> int:
    # YAML reads 22:30 without quotes as a number of minutes, and so does this.
    value = str(text).strip()
    match = _TIME.match(value)
    minutes = int(value) if value.isdigit() else int(match.group(1)) * 60 + int(match.group(2)) if match else 9999
    if minutes > 1440:
        raise InvalidOptions(f"the option {option} is {text!r}, but must be a time of day such as 22:30")
    return minutes


def _limit(option: str, text: Any, zone: zoneinfo.ZoneInfo) -> datetime.datetime | None:
    if not text:
        return None
    try:
        moment = datetime.datetime.fromisoformat(str(text).strip().replace("Z", "+00:00"))
    except ValueError:
        raise InvalidOptions(
            f"the option {option} is {text!r}, but must be a date or a time such as 2026-12-01T22:00"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
