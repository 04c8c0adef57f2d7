# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage for unit tests: the simulated cluster below the collection's REST layer, and one clock for both.

No socket, no real sleep. Whatever waits, advances the cluster's agenda. A Scene does one thing after the other; a
ConcurrentScene lets requests and watches run at once, as threads that take turns.
"""

from __future__ import annotations

from .line import SimClock, SimConnection
from .options import drain_task, rollout_task, validated
from .scene import Scene, drained
from .turns import ConcurrentScene
from .workers import InlineWorkers

__all__ = [
    "ConcurrentScene",
    "InlineWorkers",
    "Scene",
    "SimClock",
    "SimConnection",
    "drain_task",
    "drained",
    "rollout_task",
    "validated",
]
