#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the state of every node in a table."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_maintenance_report
short_description: Show the state of every node in a table
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Prints a table of the records that the role P(kubeops.maintenance.node_patch#role) keeps of each node, as plain text
    and not as the value of a variable, and optionally writes the records to files.
  - This is an action plugin. Everything happens on the controller, without a connection to any host.
options:
  records:
    description:
      - Records as P(kubeops.maintenance.node_patch_record#filter) returns them.
    type: list
    elements: dict
    required: true
  notes:
    description:
      - Lines to print below the table.
    type: list
    elements: str
    default: []
  json_file:
    description:
      - Path on the controller of a file for the records in JSON format. Its folder must exist.
    type: str
  junit_file:
    description:
      - Path on the controller of a file for the records in JUnit format. Its folder must exist.
    type: str
attributes:
  action:
    description: Runs on the controller alone.
    support: full
  check_mode:
    description: Can run in C(check_mode) and return the expected result without changing anything.
    support: full
    details:
      - Shows the table and writes the files in check mode as well.
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), when in diff mode.
    support: none
  platform:
    description: Where it can run.
    support: full
    platforms: all
notes:
  - If the output of the stdout callback is for programs, as that of a JSON callback, the table goes to the standard
    error output, as lines of progress do.
seealso:
  - plugin: kubeops.maintenance.node_patch_record
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show the state of every node
  kubeops.maintenance.k8s_maintenance_report:
    records: "{{ ansible_play_hosts_all | map('extract', hostvars) | map('kubeops.maintenance.node_patch_record') }}"
    junit_file: nodes.xml
  run_once: true
"""

RETURN = r"""
reasons:
  description: In sentences, why nodes were refused. Sentences that differ only in the names of nodes appear once.
  returned: always
  type: str
  sample: "The maintenance window opens Sat 2026-12-05 22:00 CET. The same is true of worker-2."
table:
  description: The lines that were printed.
  returned: always
  type: list
  elements: str
  sample:
    - "node      state  pods  retries  seconds  kubelet             note"
    - "worker-1  done     11        2     84.2  v1.36.2 -> v1.36.3"
"""
