# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what a node still waits for."""

from __future__ import annotations

from ..plugin_utils.progress.action import ProgressAction


class ActionModule(ProgressAction):
    """The task `k8s_node_wait`."""
