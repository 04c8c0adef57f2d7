# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Document plugin_utils/files.py for the modules whose action plugin only finds files."""

from __future__ import annotations


class ModuleDocFragment:
    """The attributes of a module whose action plugin only finds files."""

    DOCUMENTATION = r"""
options: {}
attributes:
  action:
    description: Whether there is an action plugin of the same name that runs on the controller.
    support: full
    details:
      - It finds a kubeconfig where Ansible looks for files, decrypts one that is encrypted with Ansible Vault, and
        copies one that exists only on the controller to another host on which the module runs.
  async:
    description: Supports being used with C(async).
    support: full
"""
