#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a Kubernetes node is ready again after maintenance."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_node_wait
short_description: Wait until a Kubernetes node is ready again after maintenance
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Waits until a node that was patched or rebooted is Ready, everything else about it is as it should be, and it has
    stayed so for a while. A task that runs out of time fails and says what is missing.
  - A boot ID that differs from the one before proves the reboot. A node that went down a moment ago still looks Ready.
  - If the API server goes away in the meantime, because its own node is the one that reboots, the module waits for that
    too.
  - Shows what the node still lacks in progress lines.
  - Changes nothing.
options:
  name:
    description:
      - The node to wait for.
    type: str
    required: true
    aliases: [node]
  ready_for:
    description:
      - Seconds for which the node must be as it should without interruption. Only time between two checks counts
        that both found it so. Time in which the API server does not answer does not count, but does not restart the
        wait either. If the node is rebooted or replaced in between, the wait restarts.
    type: int
    default: 0
  boot_id_before:
    description:
      - The boot ID that the node had before its reboot, as M(kubeops.maintenance.k8s_node_info) returns it. The node
        counts as ready only once it has another one. Leave this unset if the node was not rebooted.
      - With this option the node may be missing from the cluster for a while, because some clouds remove nodes whose
        machines are down. Without it, a node that does not exist is an error.
    type: str
  kubelet_version:
    description:
      - The version that the kubelet must have, such as V(v1.36.3); the V(v) may be left out.
    type: str
  daemonsets:
    description:
      - DaemonSets that must have a ready pod on the node, as C(namespace/name).
    type: list
    elements: str
  csi_drivers:
    description:
      - Storage drivers that must be registered on the node.
    type: list
    elements: str
  taints:
    description:
      - The only taints that the node may have, besides that of its cordon. The module waits until all others are gone,
        for example that of a network plugin that is not up yet. Leave this unset if taints do not matter.
    type: list
    elements: dict
    suboptions:
      key:
        description: The taint's key.
        type: str
        required: true
      value:
        description: The taint's value.
        type: str
      effect:
        description: The taint's effect.
        type: str
        required: true
  wait_timeout:
    description:
      - Seconds to wait, O(ready_for) included. V(0) sets no limit.
    type: int
    default: 900
  wait_sleep:
    description:
      - Seconds between two checks. Less than a second counts as one.
    type: int
    default: 5
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.attributes
  - kubeops.maintenance.progress
attributes:
  check_mode:
    support: full
    details:
      - Checks once and never fails because the node is not ready, as nothing was done that could be waited for.
  diff_mode:
    support: N/A
    details:
      - Nothing is ever changed.
notes:
  - The account needs the rights to get nodes, to list pods for O(daemonsets), and to get CSINodes for O(csi_drivers).
seealso:
  - module: kubeops.maintenance.k8s_node_info
  - module: kubeops.maintenance.k8s_node_drain
"""

EXAMPLES = r"""
- name: Read a node before it is patched
  kubeops.maintenance.k8s_node_info:
    name: worker-1
    gather: [daemonset_pods, csi_drivers]
  register: before

- name: Reboot it
  ansible.builtin.reboot:
  delegate_to: worker-1

- name: Wait until it is ready as before, and stays healthy for a minute
  kubeops.maintenance.k8s_node_wait:
    name: worker-1
    boot_id_before: "{{ before.nodes[0].boot_id }}"
    daemonsets: [kube-system/kube-proxy]
    csi_drivers: "{{ before.nodes[0].csi_drivers }}"
    ready_for: 60
"""

RETURN = r"""
msg:
  description: How long it took, or what is missing.
  returned: always
  type: str
  sample: "Node worker-1 is not ready after 15 m: it has not been rebooted yet."
back:
  description: Whether the node is ready again.
  returned: always
  type: bool
lacks:
  description: What was missing at the last check. Empty if nothing was.
  returned: always
  type: list
  elements: dict
  contains:
    reason:
      description: One of V(not_rebooted), V(not_ready), V(kubelet_version), V(taints), V(daemonset_pods),
        V(csi_drivers), V(gone) and V(api_server).
      type: str
      sample: not_ready
    message:
      description: The reason in words.
      type: str
node:
  description:
    - The node at the last check, in the form of RV(kubeops.maintenance.k8s_node_info#module:nodes). Empty if it was
      never seen.
  returned: always
  type: dict
waited:
  description: Seconds from the first check to the last.
  returned: always
  type: float
"""

from ..module_utils.cluster.context import Context
from ..module_utils.maintenance.node_wait import NodeWait, WaitTask, task_from
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.progress_spec import PROGRESS_SPEC, progress_of
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    name=dict(type="str", required=True, aliases=["node"]),
    ready_for=dict(type="int", default=0),
    boot_id_before=dict(type="str"),
    kubelet_version=dict(type="str"),
    daemonsets=dict(type="list", elements="str"),
    csi_drivers=dict(type="list", elements="str"),
    taints=dict(
        type="list",
        elements="dict",
        options=dict(
            key=dict(type="str", required=True, no_log=False),
            value=dict(type="str"),
            effect=dict(type="str", required=True),
        ),
    ),
    wait_timeout=dict(type="int", default=900),
    wait_sleep=dict(type="int", default=5),
)


def main() -> None:
    """Run the module."""
    module = ClusterModule(argument_spec=dict(AUTH_SPEC, **PROGRESS_SPEC, **ARGUMENT_SPEC), supports_check_mode=True)

    def wait(task: WaitTask, clock: Clock, rest_for: RestFor) -> Ending:
        node_wait = NodeWait(task, Context(ThreadWorkers(), clock, rest_for, progress_of(module, clock)))
        result = node_wait.run(module.check_mode)
        failed = not result["back"] and not module.check_mode
        return Ending(result, failed, tuple(node_wait.warnings))

    run(
        module,
        read=lambda: task_from(module.params),
        work=wait,
        nothing_done={"changed": False, "back": False, "lacks": [], "node": {}, "waited": 0.0},
    )


if __name__ == "__main__":
    main()
