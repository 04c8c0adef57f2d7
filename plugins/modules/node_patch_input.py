#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check what the role node_patch was given."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_patch_input
short_description: Check what the role node_patch was given
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - A part of the role P(kubeops.maintenance.node_patch#role) and of the playbooks, and not meant for other use. Reads
    the variables of the role, fails if they cannot work, and returns them in the form that later tasks need.
  - This is an action plugin. Everything happens on the controller, without a connection to any host.
options:
  check:
    description:
      - What to check.
      - V(variables) checks the names and values of the role's variables and the task files that they name; if the
        variable C(node_patch_preflight) is true, problems are only returned.
      - V(names) checks only the names of variables, V(playbook) the variables of all hosts of a playbook.
      - V(rights) checks nothing, and returns which steps an account needs rights for.
      - V(host) and V(packages) check what earlier tasks found out about the host.
    type: str
    choices: [variables, names, playbook, rights, host, packages]
    default: variables
  playbook:
    description:
      - The playbook for V(playbook), by its name.
    type: str
    choices: [upgrade, drain, uncordon]
  hosts:
    description:
      - The hosts of that playbook.
    type: list
    elements: str
    default: []
  problems:
    description:
      - Sentences about problems that are known already. Empty ones are ignored.
    type: list
    elements: str
    default: []
attributes:
  action:
    description: Runs on the controller alone.
    support: full
  check_mode:
    description: Can run in C(check_mode) and return the expected result without changing anything.
    support: full
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), when in diff mode.
    support: none
  platform:
    description: Where it can run.
    support: full
    platforms: all
seealso:
  - module: kubeops.maintenance.node_patch_record
"""

EXAMPLES = r"""
- name: Check the variables and task files
  kubeops.maintenance.node_patch_input:
  register: node_patch_input
"""

RETURN = r"""
problems:
  description: What is wrong, in sentences; empty if nothing is.
  returned: always
  type: str
  sample: "Unknown variable: node_patch_sok (did you mean node_patch_soak?)."
started:
  description: When the check began, in seconds since 1970.
  returned: always
  type: float
invalid:
  description: Whether one of the values is invalid.
  returned: with O(check=variables)
  type: bool
files:
  description: The path of each task file, by the name in the variables; empty if there is no such file.
  returned: with O(check=variables)
  type: dict
  sample: {patch.yml: /srv/patch.yml}
pre_hooks:
  description: The names of the task files to run before the drain.
  returned: with O(check=variables)
  type: list
  elements: str
post_hooks:
  description: The names of the task files to run once the node is back.
  returned: with O(check=variables)
  type: list
  elements: str
ignored_nodes:
  description: The nodes whose state the gate ignores.
  returned: with O(check=variables)
  type: list
  elements: str
waits_for_workloads:
  description: Whether the run waits for the workloads in the end.
  returned: with O(check=variables)
  type: bool
local:
  description: Whether the host is the machine that Ansible runs on.
  returned: with O(check=variables)
  type: bool
becomes:
  description: Whether another user is needed on the host.
  returned: with O(check=variables)
  type: bool
rights:
  description: The steps that need rights, as in O(kubeops.maintenance.k8s_maintenance_gate#module:rights_for).
  returned: with O(check=variables) and O(check=rights)
  type: list
  elements: str
  sample: [look, drain, csi_drivers, healing]
"""
