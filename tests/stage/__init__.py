# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage for unit tests: the simulated cluster below the collection's REST layer, and one clock for both.

No socket, no thread, no real sleep. Whatever waits, advances the cluster's agenda.
"""

from __future__ import annotations

from .crew import InlineCrew
from .line import SimClock, SimConnection
from .scene import Scene, drained

__all__ = ["InlineCrew", "Scene", "SimClock", "SimConnection", "drained"]
