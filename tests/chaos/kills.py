# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a process die at one of its requests."""

from __future__ import annotations

from typing import Any

from stage import Scene


class Killed(BaseException):
    """The process ends here, without a word."""


def die_at(scene: Scene, nth: int, after: bool) -> None:
    """Let the process die at its n-th request, before or after the API server has carried it out."""
    pool, sent = scene.connection.pool, [0]
    answer = pool.request

    def counted(*args: Any, **settings: Any) -> Any:
        sent[0] += 1
        if sent[0] == nth:
            if after:
                answer(*args, **settings)
            raise Killed
        return answer(*args, **settings)

    pool.request = counted
