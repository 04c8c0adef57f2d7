#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check whether nodes may be taken out of a Kubernetes cluster now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_maintenance_gate
short_description: Check whether nodes may be taken out of a Kubernetes cluster now
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Checks the whole cluster before a batch of nodes is drained, and fails with every reason at once if this is not
    the moment for it. Other nodes are not Ready, another maintenance is in progress, the control plane would be at
    risk, the maintenance window is closed, or the account lacks a right.
  - Can wait until the nodes may be taken out, and shows in lines of progress what it waits for.
  - Warns if no node is left to which the pods of the batch could move.
  - Changes nothing.
options:
  name:
    description:
      - The nodes of the batch, that is, all that are to be taken out together.
    type: list
    elements: str
    required: true
    aliases: [node, nodes, names]
  cordon_owner:
    description:
      - The owner in whose name the nodes will be cordoned. A node that another owner has cordoned counts as somebody
        else's maintenance.
    type: str
  checks:
    description:
      - What is checked besides the window.
      - V(nodes_ready) requires every node outside the batch to be Ready.
      - V(foreign_owners) requires that no node is cordoned by another O(cordon_owner).
      - V(control_plane) lets nodes of the control plane go only one at a time, and only while the static pods of the
        others are ready and etcd keeps more than half of its members.
    type: list
    elements: str
    choices: [nodes_ready, foreign_owners, control_plane]
    default: [nodes_ready, foreign_owners, control_plane]
  ignore_nodes:
    description:
      - Nodes outside the batch whose state does not count, for example because they are known to be broken.
    type: list
    elements: str
    default: []
  window:
    description:
      - When maintenance may begin. Without windows it may begin at any time, with several windows in any of them.
    type: list
    elements: dict
    suboptions:
      days:
        description: Days on which the window opens, such as C([sat, sun]). All days if unset.
        type: list
        elements: str
      start:
        description: Time of day at which it opens.
        type: str
        default: "00:00"
      end:
        description: Time of day at which it closes. A time that is not after O(window[].start) is on the next day.
        type: str
        default: "24:00"
      timezone:
        description: The time zone of all times of the window.
        type: str
        default: UTC
      not_before:
        description: A date or time before which the window does not exist, such as V(2026-12-01T22:00).
        type: str
      not_after:
        description: A date or time after which the window does not exist any more. If all windows are in the past, the
          task fails without waiting.
        type: str
  window_margin:
    description:
      - Seconds for which the window must still be open.
    type: int
    default: 0
  rights_for:
    description:
      - Also ask the API server whether the account has the rights that these steps of maintenance need.
      - V(look) stands for this module, V(cordon) and V(drain) for M(kubeops.maintenance.k8s_node_drain), V(delete_pods)
        for its option C(delete_options.disable_eviction), V(volumes) for its option C(wait_volume_detach),
        V(csi_drivers) for reading a node's storage drivers, V(healing) for M(kubeops.maintenance.k8s_rollout_status),
        and V(lock) for M(kubeops.maintenance.k8s_maintenance_lock).
    type: list
    elements: str
    choices: [look, cordon, drain, delete_pods, volumes, csi_drivers, healing, lock]
  lock_namespace:
    description:
      - The namespace of the lock. Only used to check the rights for it.
    type: str
    default: kube-system
  wait_timeout:
    description:
      - Seconds to wait until the nodes may be taken out. V(0) checks once.
    type: int
    default: 0
  wait_sleep:
    description:
      - Seconds between two checks. Less than a second counts as one.
    type: int
    default: 10
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.attributes
  - kubeops.maintenance.progress
attributes:
  check_mode:
    support: full
    details:
      - The module changes nothing, so it does the same in check mode, waiting included, but shows no lines of progress.
  diff_mode:
    support: N/A
    details:
      - Nothing is ever changed.
notes:
  - The account needs the right to list nodes, and to list pods if the batch has a node of the control plane.
  - Time zones come from the system, or from the Python package tzdata.
seealso:
  - module: kubeops.maintenance.k8s_node_drain
  - module: kubeops.maintenance.k8s_node_wait
"""

EXAMPLES = r"""
- name: Check whether two workers may be taken out, on weekend nights only
  kubeops.maintenance.k8s_maintenance_gate:
    name: [worker-1, worker-2]
    cordon_owner: patching
    window:
      - days: [sat, sun]
        start: "22:00"
        end: "04:00"
        timezone: Europe/Berlin

- name: Wait up to ten minutes until all other nodes are Ready
  kubeops.maintenance.k8s_maintenance_gate:
    name: worker-3
    checks: [nodes_ready]
    wait_timeout: 600

- name: Check beforehand that the account has all rights
  kubeops.maintenance.k8s_maintenance_gate:
    name: worker-3
    rights_for: [look, drain, healing]
"""

RETURN = r"""
msg:
  description: Whether the batch may be taken out, all reasons why not, and what to do about them.
  returned: always
  type: str
  sample: >-
    worker-1 may not be taken out of the cluster now: node worker-3 is not Ready (kubelet stopped). Repair
    worker-3, or list it in ignore_nodes (node_patch_gate_ignore_nodes).
open:
  description: Whether the batch may be taken out.
  returned: always
  type: bool
refusals:
  description: What blocks the batch. Empty if it may be taken out.
  returned: always
  type: list
  elements: dict
  contains:
    reason:
      description: One of V(node_not_ready), V(foreign_owner), V(control_plane_batch), V(control_plane_unready),
        V(etcd_quorum), V(window_closed), V(window_past), V(forbidden) and V(api_server).
      type: str
      sample: node_not_ready
    node:
      description: The node concerned, empty if it is not about a single one.
      type: str
    message:
      description: The reason in words.
      type: str
    remedy:
      description: What to do about it. Empty if all one can do is wait.
      type: str
      sample: Repair worker-3, or list it in ignore_nodes (node_patch_gate_ignore_nodes).
window:
  description: Whether a maintenance window is open, and until when.
  returned: always
  type: dict
  contains:
    open:
      description: Whether one is open.
      type: bool
    opens:
      description: When the current window opened or the next one opens, in seconds since 1970. Null if there is none.
      type: float
    closes:
      description: When the current window closes, in seconds since 1970. Null if none is open.
      type: float
    message:
      description: The same in words.
      type: str
waited:
  description: Seconds from the first check to the last.
  returned: always
  type: float
"""

from ..module_utils.cluster.context import Context
from ..module_utils.maintenance.gate import Gate, GateTask, task_from
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.progress_spec import PROGRESS_SPEC, progress_of
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.progress import Progress
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    name=dict(type="list", elements="str", required=True, aliases=["node", "nodes", "names"]),
    cordon_owner=dict(type="str"),
    checks=dict(
        type="list",
        elements="str",
        choices=["nodes_ready", "foreign_owners", "control_plane"],
        default=["nodes_ready", "foreign_owners", "control_plane"],
    ),
    ignore_nodes=dict(type="list", elements="str", default=[]),
    window=dict(
        type="list",
        elements="dict",
        options=dict(
            days=dict(type="list", elements="str"),
            start=dict(type="str", default="00:00"),
            end=dict(type="str", default="24:00"),
            timezone=dict(type="str", default="UTC"),
            not_before=dict(type="str"),
            not_after=dict(type="str"),
        ),
    ),
    window_margin=dict(type="int", default=0),
    rights_for=dict(
        type="list",
        elements="str",
        choices=["look", "cordon", "drain", "delete_pods", "volumes", "csi_drivers", "healing", "lock"],
    ),
    lock_namespace=dict(type="str", default="kube-system"),
    wait_timeout=dict(type="int", default=0),
    wait_sleep=dict(type="int", default=10),
)


def check(task: GateTask, clock: Clock, rest_for: RestFor, progress: Progress) -> Ending:
    """Check whether the batch may be taken out."""
    gate = Gate(task, Context(ThreadWorkers(), clock, rest_for, progress))
    result = gate.run()
    return Ending(result, failed=not result["open"], warnings=tuple(gate.warnings))


def main() -> None:
    """Run the module."""
    module = ClusterModule(argument_spec=dict(AUTH_SPEC, **PROGRESS_SPEC, **ARGUMENT_SPEC), supports_check_mode=True)
    window = {"open": False, "opens": None, "closes": None, "message": ""}
    run(
        module,
        read=lambda: task_from(module.params),
        work=lambda task, clock, rest_for: check(task, clock, rest_for, progress_of(module, clock)),
        nothing_done={"changed": False, "open": False, "refusals": [], "window": window, "waited": 0.0},
    )


if __name__ == "__main__":
    main()
