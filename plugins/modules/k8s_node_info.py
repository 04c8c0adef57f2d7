#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what maintenance needs to know about Kubernetes nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_node_info
short_description: Read what maintenance needs to know about Kubernetes nodes
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Reads nodes and returns for each whether it is ready and open to new pods, what its kubelet reports of the machine,
    and its labels, annotations, taints and conditions, in one flat entry.
  - A boot ID that differs from the one before proves that a node was rebooted. A node that is going down may count as
    ready for up to a minute after it fell silent, so RV(nodes[].ready) alone does not prove it.
  - Changes nothing.
options:
  name:
    description:
      - Nodes to read. A single name may be given as a string.
      - The name of a node that does not exist is an error.
      - Without O(name) and O(label_selectors), all nodes are returned.
    type: list
    elements: str
    aliases: [node, nodes, names]
  label_selectors:
    description:
      - Label selectors that choose the nodes. A node must match all of them. It is not an error if none does.
    type: list
    elements: str
    aliases: [node_selectors]
  gather:
    description:
      - What to return in addition to the nodes' own objects. It takes one more request per node for pods, and one for
        storage drivers.
      - V(daemonset_pods) are the pods of DaemonSets on the node, V(static_pods) those that the kubelet runs from files,
        such as the control plane's, V(csi_drivers) the storage drivers that are registered there.
    type: list
    elements: str
    choices: [daemonset_pods, static_pods, csi_drivers]
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.attributes
  - kubeops.maintenance.files
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
    details:
      - Nothing is ever changed.
notes:
  - The account needs the right to get nodes, or to list them if O(name) is not given. O(gather) also needs the rights
    to list pods and to get CSINodes.
  - The module waits for up to a minute for an answer from the API server.
seealso:
  - module: kubeops.maintenance.k8s_node_drain
  - module: kubernetes.core.k8s_info
"""

EXAMPLES = r"""
- name: Read a node before it is patched
  kubeops.maintenance.k8s_node_info:
    name: worker-1
  register: before

- name: Reboot it
  ansible.builtin.command: systemctl reboot
  delegate_to: worker-1

- name: Wait until it has been rebooted and is ready
  kubeops.maintenance.k8s_node_info:
    name: worker-1
  register: after
  until: >-
    after is success and
    after.nodes[0].ready and
    after.nodes[0].boot_id != before.nodes[0].boot_id
  retries: 60
  delay: 10

- name: List the nodes of a pool
  kubeops.maintenance.k8s_node_info:
    label_selectors: [pool=batch]
  register: pool

- name: Show those that run an old kubelet
  ansible.builtin.debug:
    msg: "{{ pool.nodes | rejectattr('kubelet_version', 'equalto', 'v1.36.2') | map(attribute='name') | list }}"
"""

RETURN = r"""
msg:
  description: How many nodes were found, or why they could not be read.
  returned: always
  type: str
  sample: 3 nodes, 1 of them not ready.
nodes:
  description: The nodes, sorted by name. Empty if they could not be read.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The node's name.
      type: str
      sample: worker-1
    ready:
      description: Whether its Ready condition is True.
      type: bool
    unschedulable:
      description: Whether it is cordoned.
      type: bool
    boot_id:
      description: The boot ID, which changes with each start of the machine. Empty if the kubelet reports none.
      type: str
      sample: 3b1f9c0a-5a3c-4d63-a0a4-51b0fd2f7a2e
    kubelet_version:
      description: The kubelet's version.
      type: str
      sample: v1.36.2
    os_image:
      description: The operating system.
      type: str
      sample: Debian GNU/Linux 12 (bookworm)
    kernel_version:
      description: The kernel's version.
      type: str
      sample: 6.1.0-31-amd64
    container_runtime_version:
      description: Name and version of the container runtime.
      type: str
      sample: containerd://2.1.4
    architecture:
      description: The machine's architecture.
      type: str
      sample: amd64
    internal_ip:
      description: The first address of type InternalIP, empty if there is none.
      type: str
      sample: 10.0.0.11
    addresses:
      description: All addresses.
      type: list
      elements: dict
      sample: [{type: InternalIP, address: 10.0.0.11}]
    labels:
      description: The node's labels.
      type: dict
    annotations:
      description: The node's annotations.
      type: dict
    taints:
      description: The node's taints. The value is empty for a taint without one.
      type: list
      elements: dict
      sample: [{key: node.kubernetes.io/unschedulable, value: "", effect: NoSchedule}]
    conditions:
      description: The status of each of the node's conditions, C(True), C(False) or C(Unknown) as text.
      type: dict
      sample: {Ready: "True", MemoryPressure: "False"}
    created:
      description: When the node joined the cluster.
      type: str
      sample: "2026-11-30T09:46:58Z"
    daemonset_pods:
      description: The pods of DaemonSets on the node.
      returned: O(gather) contains V(daemonset_pods)
      type: list
      elements: dict
      sample: [{namespace: kube-system, name: kube-proxy-x7k2q, daemonset: kube-proxy, ready: true}]
    static_pods:
      description: The pods that the kubelet runs from files.
      returned: O(gather) contains V(static_pods)
      type: list
      elements: dict
      sample: [{namespace: kube-system, name: etcd-control-1, component: etcd, ready: true}]
    csi_drivers:
      description: The names of the storage drivers that are registered on the node.
      returned: O(gather) contains V(csi_drivers)
      type: list
      elements: str
      sample: [ebs.csi.aws.com]
"""

from ..module_utils.cluster.context import Context
from ..module_utils.maintenance.node_info import NodeChoice, choice_from, read_nodes
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    name=dict(type="list", elements="str", aliases=["node", "nodes", "names"]),
    label_selectors=dict(type="list", elements="str", aliases=["node_selectors"]),
    gather=dict(type="list", elements="str", choices=["daemonset_pods", "static_pods", "csi_drivers"]),
)


def read(choice: NodeChoice, clock: Clock, rest_for: RestFor) -> Ending:
    """Read the nodes."""
    return Ending(read_nodes(choice, Context(ThreadWorkers(), clock, rest_for)))


def main() -> None:
    """Run the module."""
    module = ClusterModule(
        argument_spec=dict(AUTH_SPEC, **ARGUMENT_SPEC),
        mutually_exclusive=[("name", "label_selectors")],
        supports_check_mode=True,
    )
    run(
        module,
        read=lambda: choice_from(module.params),
        work=read,
        nothing_done={"changed": False, "nodes": []},
    )


if __name__ == "__main__":
    main()
