# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of the packages: every arrow that is needed, around the boxes."""

from __future__ import annotations

import re

import pytest

import packages
from packages import SUBJECTS, needed_arrows, picture

Point = tuple[float, float]


def boxes() -> list[tuple[float, float, float, float]]:
    found = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx', picture())
    return [(float(x), float(y), float(x) + float(w), float(y) + float(h)) for x, y, w, h in found]


def lines() -> list[tuple[Point, Point]]:
    """Return the straight parts of all arrows."""
    found = []
    for path in re.findall(r'<path d="([^"]*)" fill="none"', picture()):
        points = [(float(x), float(y)) for x, y in re.findall(r"(-?\d+) (-?\d+)", path)]
        found += list(zip(points, points[1:], strict=False))
    return found


def test_every_package_and_every_needed_arrow_is_drawn() -> None:
    drawn = set(re.findall(r"<title>(\S+) imports (\S+)</title>", picture()))
    assert drawn == {pair for pair in needed_arrows() if set(pair) <= SUBJECTS.keys()}
    assert len(boxes()) == len(SUBJECTS)


def test_no_arrow_crosses_a_box() -> None:
    crossing = [
        (start, end)
        for start, end in lines()
        for left, top, right, bottom in boxes()
        if min(start[0], end[0]) < right and max(start[0], end[0]) > left
        if min(start[1], end[1]) < bottom and max(start[1], end[1]) > top
    ]
    assert crossing == []


def test_what_follows_from_other_arrows_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    top, middle, ground = "modules", "module_utils/api", "module_utils"
    monkeypatch.setattr(packages, "arrows", lambda: {(top, middle), (middle, ground), (top, ground)})
    assert needed_arrows() == {(top, middle), (middle, ground)}
