# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Document the options of module_utils/module/progress_spec.py for every module whose action plugin shows progress."""

from __future__ import annotations


class ModuleDocFragment:
    """Options that say how much is shown while a task runs."""

    DOCUMENTATION = r"""
options:
  progress:
    description:
      - How much is shown in the playbook's output while the task runs. There are at most two lines a second.
      - V(changes) shows what changes, and once a minute the current state. With C(-v) the lines name more pods.
      - V(summary) shows the current state once a minute, and the result.
      - V(off) shows nothing.
      - Nothing is shown for a task with C(no_log) or C(async). A task in check mode shows one line at its end.
      - If the value is not specified in the task, the value of the environment variable E(K8S_MAINTENANCE_PROGRESS)
        is used, on the controller or where the module runs.
    type: str
    choices: ["changes", "summary", "off"]
    default: changes
    version_added: 1.0.0
attributes:
  action:
    description: Whether there is an action plugin of the same name that runs on the controller.
    support: full
    details:
      - It shows lines of progress while the module runs. It also finds a kubeconfig where Ansible looks for files,
        decrypts one that is encrypted with Ansible Vault, and copies one that exists only on the controller to another
        host on which the module runs.
  async:
    description: Supports being used with C(async).
    support: full
    details:
      - No lines of progress are shown.
"""
