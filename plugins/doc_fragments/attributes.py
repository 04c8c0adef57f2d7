# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The behaviour that all modules of the collection declare."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes; each module documents how it supports check mode and diff mode."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return the expected result without changing anything.
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), when in diff mode.
  action_group:
    description: Use C(group/kubeops.maintenance.k8s) in C(module_defaults) to set defaults for this module.
    support: full
    membership: [kubeops.maintenance.k8s]
  platform:
    description: Where the module can run. It only needs to reach the API server over the network.
    support: full
    platforms: all
"""
