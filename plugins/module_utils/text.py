# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put numbers and names into sentences, and lists into results, that stay short however many there are."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

# How many names a sentence lists before it counts the rest.
MAX_NAMES = 3
# How many entries a list of a result has: results are stored with every job, and people do not read longer lists.
MAX_LIST = 200


def count_noun(number: int, noun: str) -> str:
    """Return "1 pod", "2 pods"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def end_sentence(text: str) -> str:
    """Return a message of others, such as a webhook, as the end of a sentence."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?")) else text + "."


def abbreviate(names: Iterable[str]) -> str:
    """Return the first few names and how many more there are."""
    every = list(names)
    more = len(every) - MAX_NAMES
    return ", ".join(every[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def group_by_text(pods: list[tuple[str, str]]) -> str:
    """Return (name, message) pairs as one text; names with the same message share it."""
    groups: dict[str, list[str]] = {}
    for name, end in pods:
        groups.setdefault(end, []).append(name)
    return "; ".join(f"{abbreviate(names)}: {end.rstrip('.')}" for end, names in groups.items())


def format_duration(seconds: float) -> str:
    """Return "34 s", "4 m 10 s", "2 h 5 m"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    parts = [(hours, "h"), (minutes, "m")] if hours else [(minutes, "m"), (rest, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def truncate_lists(values: dict[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """Cut every longer list of a result, with its full length beside it as <key>_total; return the same dict.

    whole: keys of lists that stay as they are.
    """
    for key, value in list(values.items()):
        if isinstance(value, list) and len(value) > MAX_LIST and key not in whole:
            values[key], values[key + "_total"] = value[:MAX_LIST], len(value)
    return values
