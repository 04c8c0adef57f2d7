# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a workload lacks pods or has too many, from its own status and its events."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import Problem
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.workload_status import (
    create_problem,
    leaving_pods_line,
    missing_pods_problem,
    workload_problem,
)

Object = dict[str, Any]


@pytest.mark.parametrize(
    ("error", "reason", "permanent"),
    [
        ('pods "x" is forbidden: exceeded quota: small, requested: pods=1', "quota", True),
        ("maximum cpu usage per Container is 1, but limit is 2", "quota", True),
        ('pods "x" is forbidden: violates PodSecurity "restricted:latest"', "create_refused", True),
        ('admission webhook "policy.example" denied the request: no', "create_refused", True),
        ('Internal error: failed calling webhook "policy.example": connection refused', "create_refused", False),
        ("error looking up service account shop/web: serviceaccount not found", "create_refused", True),
    ],
)
def test_the_error_decides_the_reason(error: str, reason: str, permanent: bool) -> None:
    found = create_problem(error)
    assert (found.reason, found.permanent, found.message) == (reason, permanent, "cannot create a pod: " + error)


def deployment(**spec: Any) -> Object:
    meta = {"name": "web", "generation": 2}
    return {"metadata": meta, "spec": {"replicas": 3, **spec}, "status": {"observedGeneration": 2, "replicas": 3}}


def test_a_paused_deployment_that_is_complete_is_no_problem() -> None:
    obj = deployment(paused=True)
    obj["status"]["updatedReplicas"] = 3
    assert workload_problem("Deployment", obj) is None


def test_a_condition_of_the_generation_before_is_no_problem() -> None:
    obj = deployment()
    obj["metadata"]["generation"] = 3
    obj["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]
    assert workload_problem("Deployment", obj) is None


def test_a_workload_that_lacks_pods_says_so_and_why_if_an_event_does() -> None:
    obj = {"metadata": {"generation": 1}, "spec": {"replicas": 3}, "status": {"observedGeneration": 1}}
    assert missing_pods_problem("StatefulSet", obj, [{}], []) == Problem("not_created", "lacks 2 pods")
    found = missing_pods_problem("StatefulSet", obj, [{}], [{"reason": "FailedCreate", "message": "exceeded quota: q"}])
    assert found is not None
    assert (found.reason, found.is_fault) == ("quota", True)
    assert missing_pods_problem("StatefulSet", obj, [{}, {}, {}], []) is None


def test_pods_that_must_still_go_keep_a_strict_rollout_from_completing() -> None:
    obj = {"metadata": {}, "spec": {"replicas": 2}, "status": {}}
    going = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert leaving_pods_line("StatefulSet", obj, [{}, {}, going]) == "Waiting for 1 pods to terminate..."
    assert leaving_pods_line("StatefulSet", obj, [{}, {}, {}]) == "Waiting for 1 surplus pods to be removed..."
    assert leaving_pods_line("StatefulSet", obj, [{}, {}, {"status": {"phase": "Failed"}}]) == ""
