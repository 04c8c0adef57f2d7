# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what blocks the maintenance."""

from __future__ import annotations

from typing import ClassVar

from ..plugin_utils.progress.action import ProgressAction


class ActionModule(ProgressAction):
    """The task `k8s_maintenance_gate`."""

    BRIEF: ClassVar = {"wait_timeout": (None, 0, "0")}
