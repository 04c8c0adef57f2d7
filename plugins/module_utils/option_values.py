# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check values of options that Ansible's argument spec lets through though they cannot be meant."""

from __future__ import annotations

from typing import Any

from .errors import InvalidOptions


def check_at_least(option: str, value: Any, least: int, unit: str) -> None:
    """Raise InvalidOptions for a number below the least; None is an option that is not set."""
    if value is not None and value < least:
        raise InvalidOptions("the option %s is %d, but must be %d or more (%s)" % (option, value, least, unit))


def distinct_texts(option: str, values: Any, meaning: str) -> tuple[str, ...]:
    """Return each text of a list once, in order, () for None. Raise InvalidOptions where the list or an entry is empty.

    An empty list comes from a variable that is not what its author thought, and "no node" must not become "all nodes".
    """
    if values is None:
        return ()
    cleaned = [str(value).strip() for value in values]
    if not cleaned or not all(cleaned):
        raise InvalidOptions("the option %s is empty, but each entry must be %s" % (option, meaning))
    return tuple(dict.fromkeys(cleaned))
