#!/usr/bin/python
# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write annotations and labels on a Kubernetes node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: k8s_node_mark
short_description: Write annotations and labels on a Kubernetes node
version_added: 1.0.0
author:
  - kubeops.maintenance contributors (@kubeops)
description:
  - Writes on a node what a later run or other programs need to know, such as when it was patched and to which version.
    Annotations and labels that are not named stay as they are.
  - The node's resource version is sent along, so that no concurrent change is lost.
options:
  name:
    description:
      - The node.
    type: str
    required: true
    aliases: [node]
  annotations:
    description:
      - Annotations that the node is to have. An empty or null value removes the annotation.
    type: dict
  labels:
    description:
      - Labels that the node is to have. An empty or null value removes the label.
    type: dict
extends_documentation_fragment:
  - kubeops.maintenance.auth
  - kubeops.maintenance.attributes
  - kubeops.maintenance.files
attributes:
  check_mode:
    support: full
    details:
      - Sends the change as a server-side dry run.
  diff_mode:
    support: full
notes:
  - The account needs the rights to get and patch nodes.
seealso:
  - module: kubeops.maintenance.k8s_node_info
"""

EXAMPLES = r"""
- name: Write on the node when it was patched
  kubeops.maintenance.k8s_node_mark:
    name: worker-1
    annotations:
      example.com/patched: "{{ now().isoformat() }}"

- name: Remove the mark
  kubeops.maintenance.k8s_node_mark:
    name: worker-1
    annotations:
      example.com/patched:
"""

RETURN = r"""
msg:
  description: What was changed, or why it could not be.
  returned: always
  type: str
  sample: "Changed on node worker-1: example.com/patched."
name:
  description: The node's name.
  returned: always
  type: str
annotations:
  description: Those annotations of O(annotations) that the node has now.
  returned: always
  type: dict
labels:
  description: Those labels of O(labels) that the node has now.
  returned: always
  type: dict
"""

from ..module_utils.cluster.context import Context
from ..module_utils.maintenance.node_mark import MarkTask, NodeMark, task_from
from ..module_utils.module.auth_spec import AUTH_SPEC
from ..module_utils.module.runner import ClusterModule, Ending, RestFor, run
from ..module_utils.runtime.clock import Clock
from ..module_utils.runtime.workers import ThreadWorkers

ARGUMENT_SPEC = dict(
    name=dict(type="str", required=True, aliases=["node"]),
    annotations=dict(type="dict"),
    labels=dict(type="dict"),
)


def write(task: MarkTask, clock: Clock, rest_for: RestFor) -> Ending:
    """Write the marks."""
    result, diff = NodeMark(task, Context(ThreadWorkers(), clock, rest_for)).run()
    return Ending(result, diff=(diff,))


def main() -> None:
    """Run the module."""
    module = ClusterModule(argument_spec=dict(AUTH_SPEC, **ARGUMENT_SPEC), supports_check_mode=True)
    run(
        module,
        read=lambda: task_from(module.params, module.check_mode),
        work=write,
        nothing_done={"changed": False, "name": module.params["name"], "annotations": {}, "labels": {}},
    )


if __name__ == "__main__":
    main()
