# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse option values that Ansible's argument spec accepts but that make no sense."""

from __future__ import annotations

import re
from typing import Any

from .errors import InvalidOptions

# Names and namespaces are DNS labels or names made of them; a path segment must not be one or two dots.
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}")


def check_at_least(option: str, value: Any, least: int, unit: str) -> None:
    """Raise InvalidOptions for a number below the least; None is an option that is not set."""
    if value is not None and value < least:
        raise InvalidOptions(f"the option {option} is {value}, but must be {least} or more ({unit})")


def check_name(what: str, name: str) -> None:
    """Raise InvalidOptions for a text that cannot be a name: the request would be for something else.

    C(..) in a path makes it another path, and a comma ends a field selector. Names that only the API server rejects,
    such as one in capital letters, are left to it, because the error then lists similar names.
    """
    if not _NAME.fullmatch(name):
        raise InvalidOptions(
            f"{what} is {name!r}, which is not a valid name in Kubernetes; if it comes from a variable, check that"
        )


def distinct_texts(option: str, values: Any, meaning: str) -> tuple[str, ...]:
    """Return each text of a list once, in order, () for None. Raise InvalidOptions where the list or an entry is empty.

    An empty list comes from a variable that is not what its author expected, and "no node" must not become "all nodes".
    """
    if values is None:
        return ()
    cleaned = [str(value).strip() for value in values]
    if not cleaned or not all(cleaned):
        raise InvalidOptions(f"the option {option} is empty, but each entry must be {meaning}")
    return tuple(dict.fromkeys(cleaned))
