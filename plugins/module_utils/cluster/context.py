# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every use case that waits is given: threads, clock, API client, progress lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..api.rest import Rest
from ..runtime.clock import Clock, Deadline
from ..runtime.progress import SILENT, Progress
from ..runtime.workers import Workers


@dataclass
class Context:
    """The surroundings of a use case. rest_for: returns a client of the same API server under another deadline."""

    workers: Workers
    clock: Clock
    rest_for: Callable[[Deadline], Rest]
    progress: Progress = SILENT
