# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw boxes on a grid and arrows that point down as an SVG picture. Standard library only.

Arrows run in right angles: down from the source, along the gap below its row, down where no box is in the way, along
the gap above the target's row, and down to the target. The same input always gives the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

# Pixels.
_BOX_WIDTH, _BOX_HEIGHT, _COLUMN_GAP, _MARGIN, _TRACK, _RADIUS = 208, 70, 52, 56, 11, 7
_COLORS = ("#2f6fb7", "#b3532c", "#2d8659", "#8a4fa3", "#a3842a", "#4d6478", "#b03a5b", "#23888f", "#6b7f2a", "#5552b5")


class Box(NamedTuple):
    """row: from the top, 0 first; column: from the left, a fraction moves a box between two columns."""

    name: str
    title: str
    subject: Sequence[str]
    row: int
    column: float
    fill: str

    @property
    def left(self) -> int:
        return _MARGIN + round(self.column * (_BOX_WIDTH + _COLUMN_GAP))


class _Route(NamedTuple):
    """start, channel, end: the x of the three vertical parts."""

    source: Box
    target: Box
    start: int
    channel: int
    end: int

    def parts(self) -> list[tuple[int, int, int]]:
        """Return the horizontal parts as (gap, from x, to x). Gap n is below row n."""
        first, last = self.source.row, self.target.row - 1
        if first == last:
            return [(first, self.start, self.end)]
        return [(first, self.start, self.channel), (last, self.channel, self.end)]


def draw(boxes: Sequence[Box], arrows: Iterable[tuple[str, str]], notes: Sequence[str]) -> str:
    """Return the picture; `arrows` are pairs of names of which the first is in a higher row; `notes` stand below."""
    by_name = {box.name: box for box in boxes}
    routes = _routes(boxes, [(by_name[source], by_name[target]) for source, target in sorted(arrows)])
    tracks, used = _tracks(routes)
    rows = max(box.row for box in boxes) + 1
    tops = [_MARGIN // 2]
    for gap in range(rows - 1):
        tops.append(tops[-1] + _BOX_HEIGHT + 36 + _TRACK * used.get(gap, 1))
    width = max(box.left for box in boxes) + _BOX_WIDTH + _MARGIN
    height = tops[-1] + _BOX_HEIGHT + 24 + 20 * len(notes)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    colors = {name: _COLORS[number % len(_COLORS)] for number, name in enumerate(by_name)}
    for number, route in enumerate(routes):
        points = _points(route, number, tracks, tops)
        lines += _arrow(points, colors[route.source.name], f"{route.source.name} imports {route.target.name}")
    for box in boxes:
        lines += _box(box, tops[box.row], colors[box.name])
    for number, note in enumerate(notes):
        lines.append(_text(_MARGIN, height - 20 * (len(notes) - number) + 4, note, 14, anchor="start"))
    return "\n".join([*lines, "</svg>", ""])


def _routes(boxes: Sequence[Box], arrows: Sequence[tuple[Box, Box]]) -> list[_Route]:
    """Choose the x of every vertical part. Short arrows first: they have less choice."""
    routes: list[_Route] = []
    for source, target in sorted(arrows, key=lambda arrow: (arrow[1].row - arrow[0].row, arrow[0].name, arrow[1].name)):
        start = _port(source, target, [other for one, other in arrows if one == source])
        end = _port(target, source, [one for one, other in arrows if other == target])
        if len({source.column, target.column}) == 1 and _free(start, source, target, boxes, routes):
            end = start  # a straight line, where there is one
        ends = {
            _port(other, one, [source for source, target in arrows if target == other])
            for one, other in arrows
            if other.row in range(source.row + 1, target.row + 1) and (one, other) != (source, target)
        }
        free = [x for x in _channels(start, end, boxes) if _free(x, source, target, boxes, routes)]
        # Where another arrow ends, a line that passes would look like a part of it.
        clear = [x for x in free if x == start == end or all(abs(x - other) > 7 for other in ends)]
        channel = min(clear or free, key=lambda x: (abs(start - x) + abs(x - end), abs(start - x)))
        routes.append(_Route(source, target, start, channel, end))
    return routes


def _port(box: Box, other: Box, others: Sequence[Box]) -> int:
    """Return where on the edge of `box` the arrow to or from `other` is: they are side by side, as the others are."""
    order = sorted(others, key=lambda one: (one.column, one.row if one.column < box.column else -one.row))
    number, count = order.index(other), len(order)
    if other.row < box.row:
        return box.left + _BOX_WIDTH * (number + 1) // (count + 1)
    return box.left + _BOX_WIDTH * (2 * number + 1) // (2 * count)  # not below the arrows that end here


def _channels(start: int, end: int, boxes: Sequence[Box]) -> list[int]:
    edges = sorted({box.left for box in boxes} | {max(box.left for box in boxes) + _BOX_WIDTH + _COLUMN_GAP})
    shifts = (0, 10, -10, 20, -20)
    return [start, end, *(edge - _COLUMN_GAP // 2 + shift for edge in edges for shift in shifts)]


def _free(x: int, source: Box, target: Box, boxes: Sequence[Box], routes: Sequence[_Route]) -> bool:
    """Return whether a vertical line between the rows of two boxes meets no box and no other line."""
    between = range(source.row + 1, target.row)
    meets_box = any(box.row in between and box.left - 8 < x < box.left + _BOX_WIDTH + 8 for box in boxes)
    meets_line = any(
        abs(route.channel - x) < 8 and set(between) & set(range(route.source.row + 1, route.target.row))
        for route in routes
    )
    return not meets_box and not meets_line


def _tracks(routes: Sequence[_Route]) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """Spread the horizontal parts of each gap over tracks; return {(route, gap): track} and {gap: tracks used}."""
    tracks: dict[tuple[int, int], int] = {}
    taken: dict[int, list[list[tuple[int, int]]]] = {}
    parts = [(gap, min(a, b), max(a, b), number) for number, r in enumerate(routes) for gap, a, b in r.parts()]
    for gap, left, right, number in sorted(parts, key=lambda part: (part[0], part[2] - part[1], part)):
        rows = taken.setdefault(gap, [])
        fits = (i for i, row in enumerate(rows) if all(right + 12 < a or b + 12 < left for a, b in row))
        track = next(fits, len(rows))
        if track == len(rows):
            rows.append([])
        rows[track].append((left, right))
        tracks[number, gap] = track
    return tracks, {gap: len(rows) for gap, rows in taken.items()}


def _points(
    route: _Route, number: int, tracks: dict[tuple[int, int], int], tops: Sequence[int]
) -> list[tuple[int, int]]:
    points = [(route.start, tops[route.source.row] + _BOX_HEIGHT)]
    for gap, left, right in route.parts():
        y = tops[gap] + _BOX_HEIGHT + 16 + _TRACK * tracks[number, gap]
        points += [(left, y), (right, y)]
    points.append((route.end, tops[route.target.row] - 2))
    return [point for i, point in enumerate(points) if i == 0 or point != points[i - 1]]


def _arrow(points: Sequence[tuple[int, int]], color: str, title: str) -> list[str]:
    (x, y), (end_x, end_y) = points[0], points[-1]
    path = [f"M{x} {y}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        (ax, ay), (bx, by) = _towards(corner, before), _towards(corner, after)
        path.append(f"L{ax} {ay} Q{corner[0]} {corner[1]} {bx} {by}")
    path.append(f"L{end_x} {end_y - 6}")
    line = f'fill="none" stroke="{color}" stroke-width="1.8"'
    return [
        f'<path d="{" ".join(path)}" {line}><title>{escape(title)}</title></path>',
        f'<path d="M{end_x - 5} {end_y - 9} L{end_x} {end_y} L{end_x + 5} {end_y - 9} z" fill="{color}"/>',
    ]


def _towards(corner: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the point where the rounding of a corner begins, on the line to another point."""
    (x, y), (to_x, to_y) = corner, other
    far = max(abs(to_x - x), abs(to_y - y))
    step = min(_RADIUS, far // 2)
    return x + (to_x > x) * step - (to_x < x) * step, y + (to_y > y) * step - (to_y < y) * step


def _box(box: Box, top: int, color: str) -> list[str]:
    middle = box.left + _BOX_WIDTH // 2
    return [
        f'<rect x="{box.left}" y="{top}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8" fill="{box.fill}" '
        f'stroke="{color}" stroke-width="1.8"/>',
        _text(middle, top + 24, box.title, 17, weight="bold"),
        *(_text(middle, top + 43 + 16 * number, line, 13) for number, line in enumerate(box.subject)),
    ]


def _text(x: int, y: int, text: str, size: int, anchor: str = "middle", weight: str = "normal") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" fill="#1c2733">'
        f"{escape(text)}</text>"
    )
