#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a lock on a Kubernetes cluster during maintenance."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_maintenance_lock
short_description: Hold a lock on a Kubernetes cluster during maintenance
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Takes, renews or releases a lock, so that two runs of maintenance on one cluster never overlap. The lock is a Lease
    of the API group C(coordination.k8s.io).
  - A lock that is not renewed within its O(duration) may be taken by anybody, so a run that crashed does not hold
    others up for long.
  - Two runs with the same O(holder) are told apart by their C(ansible-playbook) process, if the module runs on the same
    machine. If the earlier run has ended there without releasing its lock, the next one takes it over at once, with a
    warning.
options:
  state:
    description:
      - V(present) takes the lock, or renews it if it is held already. It fails if another holder has it.
      - V(absent) releases the lock. Another holder's lock is left alone, which is not a failure.
    type: str
    choices: [present, absent]
    default: present
  name:
    description:
      - The lock's name.
    type: str
    default: kubeops-maintenance
  namespace:
    description:
      - The namespace of the Lease.
    type: str
    default: kube-system
  holder:
    description:
      - Who takes the lock, for others to read, for example C(patching) or the name and number of a job.
    type: str
    required: true
  duration:
    description:
      - Seconds after which the lock expires unless it is renewed. Must be longer than the longest step between two
        renewals.
      - A renewal within the first third of this time changes nothing.
    type: int
    default: 3600
  steal:
    description:
      - Whether to take a lock that another holder has, or with O(state=absent) to release it. Meant for locks whose
        holder is known to be dead.
    type: bool
    default: false
  wait_timeout:
    description:
      - Seconds to wait for a lock that another holder has. V(0) tries once. Progress lines name it.
    type: int
    default: 0
  wait_sleep:
    description:
      - Seconds between two tries. Less than a second counts as one.
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
      - Sends changes as server-side dry runs.
  diff_mode:
    support: none
notes:
  - The account needs the rights to get, create, patch and delete Leases in O(namespace).
  - Whether a lock has expired is judged by the clock of the machine that the module runs on.
seealso:
  - module: kubeops.maintenance.k8s_maintenance_gate
"""

EXAMPLES = r"""
- name: Patch under a lock
  block:
    - name: Take the lock
      kubeops.maintenance.k8s_maintenance_lock:
        holder: patching
        duration: 7200

    - name: Patch
      ansible.builtin.include_tasks: patch.yml
  always:
    - name: Release the lock
      kubeops.maintenance.k8s_maintenance_lock:
        holder: patching
        state: absent
"""

RETURN = r"""
msg:
  description: What happened, or who holds the lock.
  returned: always
  type: str
  sample: >-
    The lock kube-system/kubeops-maintenance is held by night-job since 2026-11-30T22:00:05Z, and expires
    2026-11-30T23:00:05Z unless it is renewed; set steal (node_patch_lock_steal) if that holder is dead.
held:
  description: Whether the O(holder) of this task holds the lock now.
  returned: always
  type: bool
holder:
  description: Who holds the lock now, empty if nobody does.
  returned: always
  type: str
since:
  description: Since when the lock has been held, empty if nobody holds it.
  returned: always
  type: str
expires:
  description: When the lock expires unless it is renewed, empty if nobody holds it.
  returned: always
  type: str
"""

from ..module_utils.cluster.context import Context
from ..module_utils.maintenance.lock import Lock, LockTask, task_from
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.progress_spec import PROGRESS_SPEC, progress_of
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.processes import this_run
from ..module_utils.runtime.progress import Progress
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    state=dict(type="str", choices=["present", "absent"], default="present"),
    name=dict(type="str", default="kubeops-maintenance"),
    namespace=dict(type="str", default="kube-system"),
    holder=dict(type="str", required=True),
    duration=dict(type="int", default=3600),
    steal=dict(type="bool", default=False),
    wait_timeout=dict(type="int", default=0),
    wait_sleep=dict(type="int", default=5),
)


def hold(task: LockTask, clock: Clock, rest_for: RestFor, progress: Progress) -> Ending:
    """Take, renew or release the lock."""
    lock = Lock(task, Context(ThreadWorkers(), clock, rest_for, progress))
    result = lock.run()
    return Ending(result, failed=task.wanted and not result["held"], warnings=tuple(lock.warnings))


def main() -> None:
    """Run the module."""
    module = ClusterModule(argument_spec=dict(AUTH_SPEC, **PROGRESS_SPEC, **ARGUMENT_SPEC), supports_check_mode=True)
    run(
        module,
        read=lambda: task_from(module.params, module.check_mode, this_run()),
        work=lambda task, clock, rest_for: hold(task, clock, rest_for, progress_of(module, clock)),
        nothing_done={"changed": False, "held": False, "holder": "", "since": "", "expires": ""},
    )


if __name__ == "__main__":
    main()
