# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks from a test's parameters, validated as Ansible validates those of a module."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.kubeops.maintenance.plugins.module_utils.drain import options as drain
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout import options as rollout
from ansible_collections.kubeops.maintenance.plugins.modules import k8s_node_drain, k8s_rollout_status


def drain_task(params: Mapping[str, Any], check_mode: bool = False) -> drain.DrainTask:
    """Return the task of k8s_node_drain with these parameters."""
    return drain.task_from(validated(k8s_node_drain.ARGUMENT_SPEC, params), check_mode)


def rollout_task(params: Mapping[str, Any]) -> rollout.RolloutTask:
    """Return the task of k8s_rollout_status with these parameters."""
    return rollout.task_from(validated(k8s_rollout_status.ARGUMENT_SPEC, params))


def validated(spec: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with the defaults of an argument spec; raise ValueError for an unknown or wrong one."""
    # Ansible writes the defaults of suboptions into the spec.
    checked = ArgumentSpecValidator(copy.deepcopy(dict(spec))).validate(dict(params))
    if checked.error_messages:
        raise ValueError("; ".join(checked.error_messages))
    return dict(checked.validated_parameters)
