#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the record of a node while the role node_patch patches it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_patch_record
short_description: Keep the record of a node while the role node_patch patches it
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - A part of the role P(kubeops.maintenance.node_patch#role), and not meant for other use. Takes the variable
    C(node_patch_record) and the results that earlier tasks registered, and returns the record as it is after a step.
    The task registers it as C(node_patch_record) again.
  - Texts of the cluster are taken from these results as they are, and never templated.
  - This is an action plugin. Everything happens on the controller, without a connection to any host.
options:
  step:
    description:
      - V(begin) starts the record from the node and the mark of an earlier run.
      - V(drain), V(reboot), V(wait) and V(heal) begin a step and decide what it has to do, V(drained), V(returned) and
        V(done) record how it ended.
      - V(assess) and V(refuse) record what the preflight found.
      - V(fail) records why the node failed, V(left) how it was left, and V(finish) decides whether the run stops.
    type: str
    required: true
    choices: [begin, drain, drained, reboot, wait, returned, heal, done, assess, refuse, fail, left, finish]
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
  - module: kubeops.maintenance.node_patch_input
  - plugin: kubeops.maintenance.node_patch_record
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Begin the record
  kubeops.maintenance.node_patch_record:
    step: begin
  register: node_patch_record
"""

RETURN = r"""
host:
  description: The host.
  returned: always
  type: str
node:
  description: Its node.
  returned: always
  type: str
state:
  description:
    - V(in progress), V(done) or V(failed); V(skipped) if the node was done before, V(unfinished) if an earlier run left
      it in the middle of its patch; in the preflight V(ready) or V(refused).
  returned: always
  type: str
step:
  description: The step that the node is at.
  returned: always
  type: str
begun:
  description: When each step began, in seconds since 1970.
  returned: always
  type: dict
message:
  description: Why the node failed or was refused, or a note.
  returned: always
  type: str
pods:
  description: How many pods were evicted.
  returned: always
  type: int
retries:
  description: How many evictions had to be repeated because they were refused.
  returned: always
  type: int
blockers:
  description: The pods that prevented the drain, as RV(kubeops.maintenance.k8s_node_drain#module:pending_pods).
  returned: always
  type: list
  elements: dict
"""
