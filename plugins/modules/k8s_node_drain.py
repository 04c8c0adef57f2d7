#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain, cordon or uncordon Kubernetes nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_node_drain
short_description: Drain, cordon or uncordon Kubernetes nodes
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Does what C(kubectl drain), C(kubectl cordon) and C(kubectl uncordon) do.
  - Checks everything before the first change. If the options do not allow the drain, the task fails with all reasons at
    once, and the nodes stay as they were.
  - Evicts many pods at once, retries evictions as soon as their PodDisruptionBudget allows a disruption, and waits
    until the pods are deleted.
  - Accepts every task that was written for M(kubernetes.core.k8s_drain); only the module's name has to be changed.
    Unlike that module, it always waits for the pods, and running out of time is a failure.
options:
  name:
    description:
      - Nodes to work on. A single name may be given as a string.
      - Exactly one of O(name) and O(node_selectors) is required.
    type: list
    elements: str
    aliases: [node, nodes, names]
  node_selectors:
    description:
      - Label selectors that choose the nodes to work on. A node must match all of them.
    type: list
    elements: str
  allow_empty:
    description:
      - Whether O(node_selectors) may match no node. Otherwise that is an error.
    type: bool
    default: false
  state:
    description:
      - V(drain) marks the nodes unschedulable and evicts the pods that run there.
      - V(cordon) only marks the nodes unschedulable.
      - V(uncordon) marks the nodes schedulable again.
    type: str
    choices: [drain, cordon, uncordon]
    default: drain
  pod_selectors:
    description:
      - Label selectors that choose the pods to evict. A pod must match all of them.
      - Pods that do not match are neither checked nor waited for, so the node may not be empty at the end. RV(msg) says
        how many these are, and there is a warning if no pod matches.
    type: list
    elements: str
    aliases: [label_selectors]
  delete_options:
    description:
      - How pods are evicted and waited for.
    type: dict
    default: {}
    suboptions:
      terminate_grace_period:
        description:
          - Seconds that each pod gets to terminate. V(0) kills pods at once.
          - If unset or negative, each pod's own grace period is used.
          - Pods that are already terminating with a longer grace period are given this one.
        type: int
      force:
        description:
          - Whether pods without a controller, which nothing would recreate, are deleted too, and pods whose DaemonSet
            does not exist any more.
        type: bool
        default: false
      ignore_daemonsets:
        description:
          - Whether pods that a DaemonSet manages are left on the node. Otherwise they stop the drain.
        type: bool
        default: false
      delete_emptydir_data:
        description:
          - Whether pods with emptyDir volumes are evicted, which loses the data in them.
        type: bool
        default: false
      disable_eviction:
        description:
          - Whether pods are deleted instead of evicted, which bypasses disruption budgets.
        type: bool
        default: false
      wait_timeout:
        description:
          - Seconds for the whole task, all nodes and every wait included. V(0) sets no limit.
          - A task that runs out of time fails and lists the pods that are left.
        type: int
        default: 900
      wait_sleep:
        description:
          - Seconds between two requests where the account may not watch, and the longest delay before an eviction is
            retried. Less than a second counts as one.
          - Where PodDisruptionBudgets can be watched, an eviction that one of them blocks is retried only when it
            allows a disruption.
        type: int
        default: 5
      skip_wait_for_delete_timeout:
        description:
          - Pods whose deletion timestamp is older than this many seconds are neither evicted nor waited for. Meant
            for nodes whose kubelet is dead. V(0) waits for every pod.
        type: int
        default: 0
      chunk_size:
        description:
          - Items in one page of a list. V(0) requests everything in one page.
        type: int
        default: 500
  eviction_concurrency:
    description:
      - How many evictions may be sent at once, over all nodes of the task.
    type: int
    default: 20
  max_parallel:
    description:
      - How many nodes are drained at once. All nodes are cordoned before the first is drained, so that pods do not move
        from one to the next.
    type: int
    default: 1
  preflight:
    description:
      - What is checked before the first change.
      - V(standard) fails for what can never work, and leaves every node as it was. This concerns pods that the options
        do not allow to be evicted, pods with two PodDisruptionBudgets, and missing rights. Budgets that look deadlocked
        only cause a warning if the drain fails, because some operators free them once a node is cordoned.
      - V(strict) also fails for pods whose budgets look deadlocked.
      - V(skip) starts as kubectl does. The node is cordoned, pods that may not be evicted make the task fail in the
        end, the others are evicted.
    type: str
    choices: [standard, strict, skip]
    default: standard
  on_failure:
    description:
      - What happens to a cordon that this task made when the node's drain fails. A node that was cordoned before stays
        cordoned in any case.
      - V(keep_cordon) keeps it, so that a second run can continue.
      - V(uncordon_if_untouched) removes it if no pod of the node was evicted.
      - V(uncordon) removes it always.
    type: str
    choices: [keep_cordon, uncordon_if_untouched, uncordon]
    default: keep_cordon
  cordon_owner:
    description:
      - Who cordons the node, such as V(patching) or the name of a job template. It is recorded on the node, in the
        annotation C(kubeops.maintenance/cordon-owners).
      - With an owner, O(state=uncordon) removes only this owner's cordon. The node becomes schedulable only when no
        owner is left and it was schedulable before the first one cordoned it. The cordon of another owner stays.
      - Without an owner, cordon and uncordon do what kubectl does.
      - In check mode, an owner needs the Python package jsonpatch where the module runs.
    type: str
  wait_volume_detach:
    description:
      - Whether to wait also until the volumes of the drained pods are detached from the node, which happens some time
        after the pods are deleted. Volumes of pods that stay on the node are not waited for.
      - Needs the rights to list VolumeAttachments and to get PersistentVolumes, and the right to watch
        VolumeAttachments to notice at once that they are deleted.
    type: bool
    default: false
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.progress
  - kubeops.maintenance.attributes
attributes:
  check_mode:
    support: full
    details:
      - Evictions are sent as server-side dry runs. Pods that a PodDisruptionBudget would block at this moment are
        listed in RV(pending_pods); the task does not fail for that. A dry run does not count as a disruption, so the
        API server may allow all pods of one budget, and RV(nodes[].evicted) lists them; RV(msg) says how many of them
        would have to wait.
  diff_mode:
    support: full
    details:
      - Shows each node's patch and the pods that are evicted.
notes:
  - The account needs the rights to get and patch nodes, to list and watch pods, to create pods/eviction (or to delete
    pods), to get DaemonSets, and, to retry at once when a budget allows it, to list and watch PodDisruptionBudgets.
seealso:
  - module: kubeops.maintenance.k8s_node_info
  - module: kubernetes.core.k8s_drain
"""

EXAMPLES = r"""
- name: Drain a node before it is patched
  kubeops.maintenance.k8s_node_drain:
    name: worker-1
    delete_options:
      ignore_daemonsets: true
      delete_emptydir_data: true
      wait_timeout: 1800

- name: Uncordon it
  kubeops.maintenance.k8s_node_drain:
    name: worker-1
    state: uncordon

- name: Drain all nodes of a pool, two at once
  kubeops.maintenance.k8s_node_drain:
    node_selectors: [pool=batch]
    max_parallel: 2
    delete_options:
      ignore_daemonsets: true

- name: Retry only what can succeed without a change
  kubeops.maintenance.k8s_node_drain:
    name: worker-1
    delete_options:
      ignore_daemonsets: true
      wait_timeout: 300
  register: drain
  retries: 3
  until: >-
    drain is success or
    drain.pending_pods | map(attribute='reason')
    | intersect(['unmanaged', 'emptydir', 'daemonset', 'pdb_multiple', 'forbidden']) | length > 0
"""

RETURN = r"""
msg:
  description: What happened, in one or two sentences.
  returned: always
  type: str
  sample: "Drained worker-1: 12 pods gone in 34 s, 3 skipped."
result:
  description: The sentences that M(kubernetes.core.k8s_drain) returns, one or two for each node.
  returned: always
  type: str
  sample: node worker-1 marked unschedulable. 12 Pod(s) deleted from node.
state:
  description: The requested state.
  returned: always
  type: str
  sample: drain
pending_nodes:
  description: Nodes that are not in the requested state.
  returned: always
  type: list
  elements: str
  sample: [worker-1]
pending_pods:
  description:
    - Pods that should not be on the nodes any more, over all nodes.
    - Lists of more than 200 entries are truncated, here and in RV(nodes). Their full length is then returned too, in
      C(pending_pods_total) and the like.
  returned: always
  type: list
  elements: dict
  contains:
    namespace:
      description: The pod's namespace.
      type: str
    name:
      description: The pod's name.
      type: str
    uid:
      description: The pod's uid.
      type: str
    phase:
      description: The pod's phase.
      type: str
    owner:
      description: Kind and name of the pod's controller, empty if it has none.
      type: str
      sample: ReplicaSet/web-bb9d95677
    reason:
      description:
        - Why the pod is still there. One of the values of this list, which only ever grows.
        - V(pdb_no_budget), its PodDisruptionBudget allows no disruption at present.
        - V(pdb_deadlock), its PodDisruptionBudget allows no disruption although all pods are healthy; it has to be
          changed.
        - V(pdb_multiple), several PodDisruptionBudgets select the pod, and the API server does not evict such a pod.
        - V(pdb_stale), the disruption controller has not processed the latest change of the PodDisruptionBudget.
        - V(terminating), it is terminating within its grace period.
        - V(terminating_overdue), it is still terminating after its grace period.
        - V(finalizer), it has terminated, and a finalizer keeps the object.
        - V(namespace_terminating), its namespace is being deleted, and the pod is not marked as deleted yet.
        - V(webhook_denied), an admission webhook or policy denied the eviction.
        - V(forbidden), the account may not evict it.
        - V(api_error), the API server returned errors until the end.
        - V(unmanaged), it has no controller, and O(delete_options.force) is not set.
        - V(emptydir), it has emptyDir volumes, and O(delete_options.delete_emptydir_data) is not set.
        - V(daemonset), a DaemonSet manages it, and O(delete_options.ignore_daemonsets) is not set.
        - V(daemonset_gone), its DaemonSet does not exist any more, and O(delete_options.force) is not set.
        - V(not_tried), its eviction was not sent.
        - V(volume_attached), the pod is deleted, but its volume is still attached to the node; see
          O(wait_volume_detach).
        - V(mirror) and V(skip_deleted) occur only in RV(nodes[].skipped).
      type: str
      sample: pdb_no_budget
    message:
      description: The reason as text, with the message of the API server or a webhook, and what to do.
      type: str
    attempts:
      description: How many evictions were sent.
      type: int
    last_status:
      description: The HTTP status of the last response to an eviction, 0 if there was none.
      type: int
    pdb:
      description: The PodDisruptionBudget that blocks the eviction, null if none does. Its numbers are null if the
        account may not read them.
      type: dict
      contains:
        name:
          description: The budget's name.
          type: str
        disruptions_allowed:
          description: How many pods may be disrupted at present.
          type: int
        current_healthy:
          description: How many pods are healthy.
          type: int
        desired_healthy:
          description: How many pods must stay healthy.
          type: int
        expected_pods:
          description: How many pods the budget counts.
          type: int
        unhealthy_pod_eviction_policy:
          description: When pods that are not ready may be evicted.
          type: str
        deadlock:
          description: Whether all pods are healthy and still none may be evicted.
          type: bool
    finalizers:
      description: The pod's finalizers.
      type: list
      elements: str
    deletion_timestamp:
      description: When the pod's grace period ends, empty if it is not deleted.
      type: str
    overdue_seconds:
      description: How many seconds ago the grace period ended.
      type: int
nodes:
  description: What happened on each node.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: The node's name.
      type: str
    cordoned_before:
      description: Whether the node was cordoned when the task began.
      type: bool
    cordoned:
      description: Whether the node is cordoned now.
      type: bool
    drained:
      description: Whether the drain is complete. Always false for O(state=cordon) and O(state=uncordon).
      type: bool
    rolled_back:
      description: Whether the task removed its cordon after a failure, see O(on_failure).
      type: bool
    resumed:
      description: Whether the task continued where an earlier one of the same O(cordon_owner) had stopped.
      type: bool
    duration:
      description: Seconds from the start of the node's drain until its end.
      type: float
    evicted:
      description: Pods that this task removed from the node. In check mode, those that it would remove.
      type: list
      elements: dict
      contains:
        namespace:
          description: The pod's namespace.
          type: str
        name:
          description: The pod's name.
          type: str
        uid:
          description: The pod's uid.
          type: str
        owner:
          description: Kind and name of its controller.
          type: str
        method:
          description: V(evict) or V(delete).
          type: str
        attempts:
          description: How many evictions were sent for it.
          type: int
        seconds:
          description: Seconds from the first eviction until the pod was deleted.
          type: float
    skipped:
      description:
        - Pods that the drain does not evict, each with its C(namespace), C(name), C(uid) and C(owner), and a C(reason),
          one of V(daemonset), V(mirror) and V(skip_deleted).
      type: list
      elements: dict
    pending_pods:
      description: The entries of RV(pending_pods) that are on this node.
      type: list
      elements: dict
    warnings:
      description: Warnings, which do not make the task fail.
      type: list
      elements: str
    affected_workloads:
      description: The workloads of the evicted pods.
      type: list
      elements: dict
      sample: [{api_version: apps/v1, kind: Deployment, namespace: shop, name: web}]
    volumes:
      description: The volumes that O(wait_volume_detach) waited for. Empty without it.
      type: list
      elements: dict
      sample:
        - volume_attachment: csi-1f0c
          persistent_volume: pv-1
          driver: csi.example.com
          namespace: shop
          claim: data-db-0
          detached: true
"""

from ..module_utils.cluster.context import Context
from ..module_utils.drain.drain import Maintenance
from ..module_utils.drain.options import DrainTask, task_from
from ..module_utils.drain.result import Report, diff_of, result_of, warnings_of
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.progress_spec import PROGRESS_SPEC, progress_of
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.progress import Progress
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    name=dict(type="list", elements="str", aliases=["node", "nodes", "names"]),
    node_selectors=dict(type="list", elements="str"),
    allow_empty=dict(type="bool", default=False),
    state=dict(type="str", choices=["drain", "cordon", "uncordon"], default="drain"),
    pod_selectors=dict(type="list", elements="str", aliases=["label_selectors"]),
    delete_options=dict(
        type="dict",
        default={},
        options=dict(
            terminate_grace_period=dict(type="int"),
            force=dict(type="bool", default=False),
            ignore_daemonsets=dict(type="bool", default=False),
            delete_emptydir_data=dict(type="bool", default=False),
            disable_eviction=dict(type="bool", default=False),
            wait_timeout=dict(type="int", default=900),
            wait_sleep=dict(type="int", default=5),
            skip_wait_for_delete_timeout=dict(type="int", default=0),
            chunk_size=dict(type="int", default=500),
        ),
    ),
    eviction_concurrency=dict(type="int", default=20),
    max_parallel=dict(type="int", default=1),
    preflight=dict(type="str", choices=["standard", "strict", "skip"], default="standard"),
    on_failure=dict(type="str", choices=["keep_cordon", "uncordon_if_untouched", "uncordon"], default="keep_cordon"),
    cordon_owner=dict(type="str"),
    wait_volume_detach=dict(type="bool", default=False),
)


def drain(task: DrainTask, clock: Clock, rest_for: RestFor, progress: Progress) -> Ending:
    """Run the task and return how it ended."""
    report = Maintenance(task, Context(ThreadWorkers(), clock, rest_for, progress)).run()
    return Ending(result_of(report), report.failed, tuple(warnings_of(report)), tuple(diff_of(report)))


def main() -> None:
    """Run the module."""
    module = ClusterModule(
        argument_spec=dict(AUTH_SPEC, **PROGRESS_SPEC, **ARGUMENT_SPEC),
        mutually_exclusive=[("name", "node_selectors")],
        required_one_of=[("name", "node_selectors")],
        supports_check_mode=True,
    )
    run(
        module,
        read=lambda: task_from(module.params, module.check_mode),
        work=lambda task, clock, rest_for: drain(task, clock, rest_for, progress_of(module, clock)),
        nothing_done=result_of(Report(module.params["state"])),
    )


if __name__ == "__main__":
    main()
