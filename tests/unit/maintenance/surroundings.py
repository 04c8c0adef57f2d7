# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Context of a use case on a scene."""

from __future__ import annotations

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.context import Context
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import SILENT, Progress
from stage import Scene


def context_of(scene: Scene, progress: Progress = SILENT) -> Context:
    return Context(scene.workers, scene.clock, lambda limit: Rest(scene.connection, scene.clock, limit), progress)
