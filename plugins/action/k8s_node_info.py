# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the kubeconfig of a task that reads nodes."""

from __future__ import annotations

from ..plugin_utils.files import FilesAction


class ActionModule(FilesAction):
    """The task `k8s_node_info`."""
