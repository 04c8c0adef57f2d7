# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module returns is what its documentation says: no key more, and no key less."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance import gate as maintenance_gate
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance import lock as maintenance_lock
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance import node_info, node_mark, node_wait
from drain.situations import app, guarded
from kubesim import builders
from maintenance.surroundings import context_of
from rollout.situations import deployment, still
from stage import Scene

Result = dict[str, Any]
# Ansible's own keys, and the length of a list that was cut, which one sentence of the documentation tells of all lists.
GENERAL = {"changed", "failed", "warnings", "diff"}


def nodes() -> Scene:
    return Scene(builders.node("w1"), builders.namespace("kube-system"), controllers=False)


def drained() -> Result:
    return Scene(*app("web")).run()


def stuck() -> Result:
    return Scene(*guarded(2)).run(delete_options={"wait_timeout": 5})


def unfinished() -> Result:
    return still(deployment("web", 2, updatedReplicas=1)).follow(name=["web"], namespace="default", wait_timeout=5)


def gate() -> Result:
    scene, params = nodes(), {"name": ["w1"], "window": [{"not_after": "2020-01-01"}]}
    return maintenance_gate.Gate(maintenance_gate.task_from(params), context_of(scene)).run()


def lock() -> Result:
    scene, params = nodes(), {"name": "lock", "namespace": "kube-system", "holder": "me"}
    task = maintenance_lock.task_from(params, False, None)
    return maintenance_lock.Lock(task, context_of(scene)).run()


def info() -> Result:
    scene, params = nodes(), {"gather": ["daemonset_pods", "static_pods", "csi_drivers"]}
    return node_info.read_nodes(node_info.choice_from(params), context_of(scene))


def wait() -> Result:
    scene, params = nodes(), {"name": "w1", "kubelet_version": "v0.1.0", "wait_timeout": 5, "wait_sleep": 5}
    return node_wait.NodeWait(node_wait.task_from(params), context_of(scene)).run()


def mark() -> Result:
    scene, params = nodes(), {"name": "w1", "labels": {"pool": "a"}}
    return node_mark.NodeMark(node_mark.task_from(params, False), context_of(scene)).run()[0]


RESULTS = [
    ("k8s_node_drain", drained),
    ("k8s_node_drain", stuck),
    ("k8s_rollout_status", unfinished),
    ("k8s_maintenance_gate", gate),
    ("k8s_maintenance_lock", lock),
    ("k8s_node_info", info),
    ("k8s_node_wait", wait),
    ("k8s_node_mark", mark),
]


def differences(documented: dict[str, Any], result: Result, place: str = "") -> Iterator[str]:
    """Yield each key of a result, at any depth, that is not documented, and each documented one that is not there."""
    for key in sorted(result.keys() - documented.keys() - GENERAL):
        yield f"{place}{key} is not documented"
    for key in sorted(documented.keys() - result.keys()):
        yield f"{place}{key} is not returned"
    for key in documented.keys() & result.keys():
        inner = documented[key].get("contains")
        for entry in result[key] if isinstance(result[key], list) else [result[key]]:
            if inner and isinstance(entry, dict):
                yield from differences(inner, entry, f"{place}{key}.")


@pytest.mark.parametrize(("name", "result"), RESULTS, ids=[f"{name}-{made.__name__}" for name, made in RESULTS])
def test_a_module_returns_the_keys_that_its_documentation_has(name: str, result: Callable[[], Result]) -> None:
    module = importlib.import_module(f"ansible_collections.kubeops.maintenance.plugins.modules.{name}")
    assert list(differences(yaml.safe_load(module.RETURN), result())) == []


def test_a_pod_that_is_left_shows_the_keys_of_pending_pods() -> None:
    assert [pod["pdb"]["name"] for pod in stuck()["pending_pods"]] == ["db-pdb", "db-pdb"]
