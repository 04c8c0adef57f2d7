#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for the rollouts of Kubernetes workloads."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_rollout_status
short_description: Wait for the rollouts of Kubernetes workloads
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Reports how far the rollouts of Deployments, DaemonSets and StatefulSets are and waits until they are complete, as
    C(kubectl rollout status) does, for many workloads at once and within one time limit.
  - Says why a rollout is stuck, and fails before the time is up when pods of the new revision cannot start (see
    O(fail_early)). A failed task lists in RV(pending_pods) the pods that block the rollout, with a reason that
    playbooks can test.
  - All workloads of one kind in one namespace cost one list and one watch. Pods are read only while a rollout makes
    no progress.
  - Changes nothing.
options:
  kind:
    description:
      - The kind of the workloads that O(name) or O(label_selectors) choose.
    type: str
    choices: [Deployment, DaemonSet, StatefulSet]
  name:
    description:
      - Workloads of the O(kind) to wait for. A single name may be given as a string.
      - Exactly one of O(name), O(label_selectors), O(workloads), O(resource_definition) and O(src) is needed.
    type: list
    elements: str
    aliases: [names]
  namespace:
    description:
      - The namespace of the workloads. For O(workloads) and manifests, the namespace of those that do not name one.
      - If unset, the namespace of the kubeconfig's context, else C(default).
    type: str
  api_version:
    description:
      - Group and version of the O(kind). A value other than V(apps/v1) is for kinds that have the same names and the
        same status, such as those of OpenKruise.
    type: str
    default: apps/v1
  label_selectors:
    description:
      - Label selectors that choose workloads of the O(kind). A workload must match all of them.
      - Workloads that match later are not waited for.
    type: list
    elements: str
  workloads:
    description:
      - Workloads by kind, namespace and name, as RV(pending_workloads) and
        RV(kubeops.maintenance.k8s_node_drain#module:nodes[].affected_workloads) hold them.
      - Kinds without a rollout, such as Jobs and ReplicaSets without a Deployment, are skipped, and RV(msg) says so.
    type: list
    elements: dict
    suboptions:
      api_version:
        description: Group and version of the kind.
        type: str
      kind:
        description: The workload's kind.
        type: str
        required: true
      namespace:
        description: The workload's namespace. O(namespace) if unset.
        type: str
      name:
        description: The workload's name.
        type: str
        required: true
  resource_definition:
    description:
      - The manifests that name the workloads, as a text with one or more YAML or JSON documents, as one object, or as a
        list of these. Objects of kind List are expanded, objects of other kinds are skipped.
    type: raw
    aliases: [definition, inline]
  src:
    description:
      - Files with manifests as for O(resource_definition), or folders with such files. In a folder, all files are read
        whose names end in V(.yaml), V(.yml) or V(.json), but no subfolders.
      - Paths are those of the host that the task runs on.
    type: list
    elements: path
  revision:
    description:
      - The revision that a Deployment must be at. If it is at another one, for example because a newer rollout has
        begun, the task fails. V(0) accepts any.
      - DaemonSets and StatefulSets have no revision numbers, so this option is an error for them.
    type: int
    default: 0
  watch:
    description:
      - Whether to wait. If V(false), the task checks once and does not fail for an unfinished rollout; see RV(done).
    type: bool
    default: true
  wait_timeout:
    description:
      - Seconds for all workloads together. V(0) sets no limit.
      - A task that runs out of time fails and lists the pods that block the rollouts.
    type: int
    default: 900
  wait_sleep:
    description:
      - Seconds between two requests where the account may not list or watch. Less than a second counts as one.
    type: int
    default: 5
  allow_empty:
    description:
      - Whether it is fine if there is nothing to wait for. Otherwise that is an error.
    type: bool
    default: false
  allow_missing:
    description:
      - Whether workloads that do not exist, or are deleted during the wait, are skipped. Otherwise that is an error.
      - Meant for workloads of other owners, such as those whose pods a drain has evicted.
    type: bool
    default: false
  fail_early:
    description:
      - Whether to fail before O(wait_timeout) when pods of the new revision cannot start. Pods of older revisions never
        cause this.
      - V(off) waits as kubectl does, until the rollout is complete, its progress deadline is exceeded, or time is up.
      - V(tolerant) fails when a pod shows the same reason for O(fail_early_window).
      - V(strict) also fails as soon as it finds a reason that does not go away by itself. These are an image that the
        registry refuses, a container that cannot be configured or started, one that crashes repeatedly or runs out of
        memory, an init container that fails, a paused Deployment whose template has changed, and pods that are refused
        by an admission plugin, or by a quota of which no old pod can free a share.
    type: str
    choices: ["off", tolerant, strict]
    default: tolerant
  fail_early_window:
    description:
      - Seconds for which a reason must last with V(fail_early=tolerant), and with V(fail_early=strict) if it may go
        away by itself.
    type: int
    default: 90
  semantics:
    description:
      - When a rollout counts as complete.
      - V(kubectl) agrees with C(kubectl rollout status).
      - V(strict) also wants the pods of a StatefulSet to have been ready for its minReadySeconds, no surplus pod and
        none that is still terminating, and judges workloads with the strategy OnDelete by the revision of their pods.
      - The guide on rollout status lists every difference.
    type: str
    choices: [kubectl, strict]
    default: kubectl
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.progress
  - kubeops.maintenance.attributes
attributes:
  check_mode:
    support: full
    details:
      - The module changes nothing, so it does the same in check mode, waiting included.
  diff_mode:
    support: N/A
    details:
      - Nothing is ever changed.
notes:
  - The account needs the right to get the workloads; with list and watch, changes are seen at once instead of every
    O(wait_sleep). To find out why a rollout is stuck, it needs to list and watch pods, get ReplicaSets, list
    ControllerRevisions and events, and get pods/log. RV(msg) says what it may not read.
  - Unlike kubectl, the module does not call a Deployment that is being scaled down complete while surplus pods are
    counted. And if an exceeded progress deadline is the first thing it sees of a new generation, it confirms that by a
    second read two seconds later.
seealso:
  - module: kubeops.maintenance.k8s_node_drain
  - module: kubernetes.core.k8s
  - module: kubernetes.core.k8s_rollback
"""

EXAMPLES = r"""
- name: Wait for a Deployment
  kubeops.maintenance.k8s_rollout_status:
    kind: Deployment
    name: web
    namespace: shop

- name: Apply manifests
  kubernetes.core.k8s:
    src: manifests/shop.yml
    state: present

- name: Wait for what they name, and fail soon if its pods cannot start
  kubeops.maintenance.k8s_rollout_status:
    src: manifests/shop.yml
    fail_early: strict
    fail_early_window: 60
    wait_timeout: 600

- name: Wait for all DaemonSets of a team
  kubeops.maintenance.k8s_rollout_status:
    kind: DaemonSet
    namespace: monitoring
    label_selectors: [team=ops]

- name: Drain a node
  kubeops.maintenance.k8s_node_drain:
    name: worker-1
    delete_options:
      ignore_daemonsets: true
  register: drain

- name: Go on only when the workloads that were moved are available again
  kubeops.maintenance.k8s_rollout_status:
    workloads: "{{ drain.nodes | map(attribute='affected_workloads') | flatten }}"
    allow_empty: true
    semantics: strict

- name: Roll back when the image cannot be pulled
  block:
    - name: Wait
      kubeops.maintenance.k8s_rollout_status:
        kind: Deployment
        name: web
        namespace: shop
      register: rollout
  rescue:
    - name: Go back to the revision before
      kubernetes.core.k8s_rollback:
        api_version: apps/v1
        kind: Deployment
        name: web
        namespace: shop
      when: "'image_pull' in rollout.pending_pods | map(attribute='reason')"

- name: Check without waiting
  kubeops.maintenance.k8s_rollout_status:
    kind: StatefulSet
    name: [db, queue]
    namespace: shop
    watch: false
  register: check
"""

RETURN = r"""
msg:
  description: How the rollouts ended, and for a failure, what blocks them.
  returned: always
  type: str
  sample: >-
    Failed early (fail_early=strict): Deployment shop/web: pod web-5d9c7b6f4-x2k8p: container app cannot pull image
    registry.example/web:2: not found; correct the image's name or the pull secret.
done:
  description: Whether all rollouts are complete.
  returned: always
  type: bool
messages:
  description:
    - The lines that C(kubectl rollout status) prints, each change once, workload by workload in the order in which
      kubectl goes through them. The lines of one workload are in the order in which they occurred.
    - Lists of more than 200 entries are truncated, here and below. Their full length is then returned too, in
      C(messages_total) and the like.
  returned: always
  type: list
  elements: str
  sample:
    - 'Waiting for deployment "web" rollout to finish: 1 of 3 updated replicas are available...'
    - deployment "web" successfully rolled out
workloads:
  description: The workloads.
  returned: always
  type: list
  elements: dict
  contains:
    api_version:
      description: Group and version of the kind.
      type: str
      sample: apps/v1
    kind:
      description: The workload's kind.
      type: str
      sample: Deployment
    namespace:
      description: The workload's namespace.
      type: str
    name:
      description: The workload's name.
      type: str
    done:
      description: Whether its rollout is complete.
      type: bool
    message:
      description: The last of its lines in RV(messages), empty if there is none.
      type: str
    revision:
      description:
        - The revision that is being rolled out. A number for a Deployment, a hash for a StatefulSet, empty for a
          DaemonSet, whose status does not have it.
      type: str
    desired:
      description: How many pods it should have.
      type: int
    updated:
      description: How many are of the new revision.
      type: int
    ready:
      description: How many are ready.
      type: int
    available:
      description: How many have been ready for its minReadySeconds.
      type: int
    generation:
      description: The generation of its spec.
      type: int
    observed_generation:
      description: The generation that its controller has seen.
      type: int
    failure:
      description:
        - Why the rollout failed, empty if it did not. A rollout that is only unfinished has not failed.
        - If a workload does not exist, or the account may not read it, the task fails before it waits and says so here;
          the other workloads are listed as they are.
      type: str
      sample: deployment "web" exceeded its progress deadline
pending_workloads:
  description: The workloads whose rollouts are not complete, in the form that O(workloads) takes.
  returned: always
  type: list
  elements: dict
  sample: [{api_version: apps/v1, kind: Deployment, namespace: shop, name: web}]
pending_pods:
  description:
    - For a failed task, the pods that block the rollouts. Pods of older revisions are left out, as far as the account
      has the rights to distinguish them.
  returned: always
  type: list
  elements: dict
  contains:
    namespace:
      description: The pod's namespace.
      type: str
    name:
      description: The pod's name, empty for a pod that does not exist.
      type: str
    workload:
      description: Kind and name of the workload.
      type: str
      sample: Deployment/web
    revision:
      description: The hash by which the pod's controller distinguishes revisions.
      type: str
    node:
      description: The node that the pod is on, empty if it is on none.
      type: str
    phase:
      description: The pod's phase.
      type: str
    reason:
      description:
        - Why the pod is not ready. One of the values of this list, which only ever grows.
        - V(image_pull), an image cannot be pulled.
        - V(container_config), a container's configuration lacks something, such as a ConfigMap or Secret.
        - V(container_create), a container cannot be created or started.
        - V(crash_loop), a container exits when it should run.
        - V(oom_killed), a container ran out of memory.
        - V(init_failed), an init container fails.
        - V(probe_failed), a container runs and its readiness probe fails.
        - V(unschedulable), the scheduler finds no node.
        - V(volume), a volume does not attach or mount.
        - V(sandbox), the node cannot set up the pod, for example its network.
        - V(pod_failed), the node ended the pod, for example because it ran out of resources.
        - V(quota), a quota or a limit range forbids the pod.
        - V(create_refused), the API server or a webhook refuses to create the pod.
        - V(paused), the Deployment is paused and its template has changed.
        - V(not_created), the pod is missing and no event says why.
        - V(scheduling_gated), the pod has a scheduling gate.
        - V(starting), the pod is starting.
        - V(not_ready), its containers run but are not ready.
        - V(terminating), the pod is terminating, and its successor may wait for that.
        - V(forbidden), the account may not read the pods.
        - The last seven, from V(not_created) on, never make a task fail early.
      type: str
      sample: image_pull
    message:
      description:
        - The reason as text, with the error of the kubelet, the registry, the scheduler or the API server, and what to
          do.
      type: str
    container:
      description: The container with the problem, empty if the reason is not about one.
      type: str
    exit_code:
      description: The exit code of the container, null if it has not ended.
      type: int
    restarts:
      description: How often the container was restarted.
      type: int
    last_log:
      description: The last lines that a crashed container wrote. Read for a few pods only.
      type: str
"""

from ..module_utils.cluster.context import Context
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.progress_spec import PROGRESS_SPEC, progress_of
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.rollout.options import RolloutTask, task_from
from ..module_utils.rollout.result import result_of
from ..module_utils.rollout.rollout import Rollouts
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.progress import Progress
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    kind=dict(type="str", choices=["Deployment", "DaemonSet", "StatefulSet"]),
    name=dict(type="list", elements="str", aliases=["names"]),
    namespace=dict(type="str"),
    api_version=dict(type="str", default="apps/v1"),
    label_selectors=dict(type="list", elements="str"),
    workloads=dict(
        type="list",
        elements="dict",
        options=dict(
            api_version=dict(type="str"),
            kind=dict(type="str", required=True),
            namespace=dict(type="str"),
            name=dict(type="str", required=True),
        ),
    ),
    resource_definition=dict(type="raw", aliases=["definition", "inline"]),
    src=dict(type="list", elements="path"),
    revision=dict(type="int", default=0),
    watch=dict(type="bool", default=True),
    wait_timeout=dict(type="int", default=900),
    wait_sleep=dict(type="int", default=5),
    allow_empty=dict(type="bool", default=False),
    allow_missing=dict(type="bool", default=False),
    fail_early=dict(type="str", choices=["off", "tolerant", "strict"], default="tolerant"),
    fail_early_window=dict(type="int", default=90),
    semantics=dict(type="str", choices=["kubectl", "strict"], default="kubectl"),
)
# The result of a task that could not start.
NOTHING_DONE = dict(changed=False, done=False, messages=[], workloads=[], pending_workloads=[], pending_pods=[])


def follow(task: RolloutTask, clock: Clock, rest_for: RestFor, progress: Progress) -> Ending:
    """Run the task and return how it ended."""
    report = Rollouts(task, Context(ThreadWorkers(), clock, rest_for, progress)).run()
    return Ending(result_of(report), report.failed, tuple(report.warnings))


def main() -> None:
    """Run the module."""
    module = ClusterModule(argument_spec=dict(AUTH_SPEC, **PROGRESS_SPEC, **ARGUMENT_SPEC), supports_check_mode=True)
    run(
        module,
        read=lambda: task_from(module.params),
        work=lambda task, clock, rest_for: follow(task, clock, rest_for, progress_of(module, clock)),
        nothing_done=NOTHING_DONE,
    )


if __name__ == "__main__":
    main()
