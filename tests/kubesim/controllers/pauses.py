# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pauses of a controller between tries of something that the API server refused."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from ..errors import ApiStatus

FIRST_SECONDS, LONGEST_SECONDS = 0.5, 1000.0
_KeyT = TypeVar("_KeyT", bound=Hashable)


class Pauses(Generic[_KeyT]):
    """Twice as long after each refusal in a row."""

    def __init__(self) -> None:
        self._last: dict[_KeyT, float] = {}

    def after(self, key: _KeyT, refusal: ApiStatus | None) -> float | None:
        """Return the seconds until the next try; None when none is due: nothing refused, or the namespace goes away."""
        if refusal is None or is_final(refusal):
            self._last.pop(key, None)
            return None
        last = self._last.get(key)
        self._last[key] = pause = FIRST_SECONDS if last is None else min(last * 2, LONGEST_SECONDS)
        return pause

    def reset(self, key: _KeyT) -> None:
        """Forget the refusals of a key."""
        self._last.pop(key, None)


def is_final(refusal: ApiStatus) -> bool:
    """Return whether the namespace is going away, so that no further try makes sense."""
    causes = (refusal.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
