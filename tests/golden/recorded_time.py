# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring recorded time stamps to the present, so that what was deleted ten seconds before a run still was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from golden.cases import Case

# 2026-11-30T10:12:29Z, and with a fraction as in the times of events and managed fields.
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)((?:\.\d+)?)Z")
# What users write there is theirs.
_NOT_OURS = ("annotations", "labels")


def started_at(case: Case) -> float | None:
    """Return when kubectl was started, in seconds since 1970; None where no time stamp tells.

    The files do not say it. But an answer t seconds after the start holds no moment that is later than the start + t,
    so the latest of these moments, less its t, is the start or just before it.
    """
    found = [moment for obj in case.before for moment in moments(obj)]
    for exchange in case.exchanges:
        found += [moment - exchange.get("t", 0.0) for moment in moments(exchange.get("response"))]
        for event in exchange.get("events") or ():
            found += [moment - event.get("t", 0.0) for moment in moments(event)]
    return max(found, default=None)


def moments(value: Any) -> Iterator[float]:
    """Yield the moments that an object tells of. A deletion's time lies ahead: when it was asked for is meant."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "deletionTimestamp":
                grace = value.get("deletionGracePeriodSeconds") or 0
                yield from (moment - grace for moment in moments(item))
            elif key not in _NOT_OURS:
                yield from moments(item)
    elif isinstance(value, list):
        for item in value:
            yield from moments(item)
    elif isinstance(value, str):
        match = _STAMP.fullmatch(value)
        if match:
            yield datetime.fromisoformat(match[1] + "+00:00").timestamp() + float(match[2] or 0)


def moved(value: Any, seconds: int) -> Any:
    """Return a copy in which every time stamp is that much later."""
    if isinstance(value, dict):
        return {key: item if key in _NOT_OURS else moved(item, seconds) for key, item in value.items()}
    if isinstance(value, list):
        return [moved(item, seconds) for item in value]
    match = _STAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    later = datetime.fromisoformat(match[1] + "+00:00") + timedelta(seconds=seconds)
    return f"{later.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S}{match[2]}Z"


def present(case: Case, now: float) -> list[Any]:
    """Return `before` as if kubectl had been started at `now`, seconds since 1970."""
    return list(moved(case.before, shift(case, now)))


def shift(case: Case, now: float) -> int:
    """Return how many seconds later every time stamp must be for kubectl to have been started at `now`."""
    start = started_at(case)
    return 0 if start is None else round(now - start)
