# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of a pod, and which workload it belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.pods import trimmed, workload_of
from ansible_collections.kubeops.maintenance.plugins.module_utils.objects import has_emptydir, parse_time


def owned(version: str, kind: str, name: str, **labels: str) -> dict[str, Any]:
    reference = {"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": True}
    return {"metadata": {"name": "p", "labels": labels, "ownerReferences": [reference]}}


@pytest.mark.parametrize(
    "pod, workload",
    [
        ({"metadata": {"name": "bare"}}, None),
        (owned("apps/v1", "ReplicaSet", "web-5d4", **{"pod-template-hash": "5d4"}), ("apps/v1", "Deployment", "web")),
        (owned("apps/v1", "ReplicaSet", "web"), ("apps/v1", "ReplicaSet", "web")),
        (owned("apps/v1", "ReplicaSet", "-5d4", **{"pod-template-hash": "5d4"}), ("apps/v1", "ReplicaSet", "-5d4")),
        (
            owned("apps/v1", "ReplicaSet", "web-5d4", **{"rollouts-pod-template-hash": "5d4"}),
            ("argoproj.io/v1alpha1", "Rollout", "web"),
        ),
        (owned("apps/v1", "StatefulSet", "db"), ("apps/v1", "StatefulSet", "db")),
        (owned("batch/v1", "Job", "backup-29881440"), ("batch/v1", "CronJob", "backup")),
        (owned("batch/v1", "Job", "backup-20261130"), ("batch/v1", "Job", "backup-20261130")),
        (owned("batch/v1", "Job", "import"), ("batch/v1", "Job", "import")),
        (owned("apps.kruise.io/v1alpha1", "CloneSet", "c"), ("apps.kruise.io/v1alpha1", "CloneSet", "c")),
    ],
)
def test_the_workload_of_a_pod(pod: dict[str, Any], workload: tuple[str, str, str] | None) -> None:
    assert workload_of(pod) == workload


@pytest.mark.parametrize(
    "volumes, found",
    [
        ([{"name": "a", "emptyDir": {}}], True),
        ([{"name": "a", "emptyDir": None}], False),
        ([{"name": "a", "hostPath": {"path": "/x"}}], False),
        ([], False),
        (None, False),
    ],
)
def test_whether_a_pod_has_an_emptydir_volume(volumes: Any, found: bool) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"volumes": volumes}}
    assert (has_emptydir(pod), has_emptydir(trimmed(pod))) == (found, found)


def test_a_trimmed_pod_has_only_the_fields_that_are_read() -> None:
    pod = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u", "managedFields": [{}], "annotations": {"a": "b"}},
        "spec": {"nodeName": "w1", "containers": [{"name": "c", "env": [{"name": "SECRET", "value": "x"}]}]},
        "status": {"phase": "Running", "containerStatuses": [{}], "conditions": [{"type": "Ready", "status": "True"}]},
    }
    assert trimmed(pod) == {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {"nodeName": "w1", "terminationGracePeriodSeconds": None, "volumes": []},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("1970-01-01T00:01:40Z", 100.0),
        ("1970-01-01T00:01:40.250Z", 100.25),
        ("1970-01-01T02:01:40+02:00", 100.0),
        ("1969-12-31T23:01:40-01:00", 100.0),
        ("yesterday", None),
        (None, None),
        (5, None),
    ],
)
def test_times_of_the_api(text: Any, seconds: float | None) -> None:
    assert parse_time(text) == seconds
