# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a node."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.nodes import node_facts
from kubesim import builders


def test_node_facts_are_one_flat_dict() -> None:
    node = {
        "metadata": {
            "name": "w1",
            "labels": {"pool": "a"},
            "annotations": {"note": "rack 7"},
            "creationTimestamp": "2026-11-30T09:46:58Z",
        },
        "spec": {"unschedulable": True, "taints": [{"key": "example.com/repair", "effect": "NoSchedule"}]},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}],
            "addresses": [{"type": "Hostname", "address": "w1"}, {"type": "InternalIP", "address": "10.0.0.11"}],
            "nodeInfo": {
                "bootID": "boot-1",
                "kubeletVersion": "v1.36.2",
                "osImage": "Debian GNU/Linux 12",
                "kernelVersion": "6.1.0",
                "containerRuntimeVersion": "containerd://2.1.4",
                "architecture": "arm64",
            },
        },
    }
    assert node_facts(node) == {
        "name": "w1",
        "ready": True,
        "unschedulable": True,
        "boot_id": "boot-1",
        "kubelet_version": "v1.36.2",
        "os_image": "Debian GNU/Linux 12",
        "kernel_version": "6.1.0",
        "container_runtime_version": "containerd://2.1.4",
        "architecture": "arm64",
        "internal_ip": "10.0.0.11",
        "addresses": [{"type": "Hostname", "address": "w1"}, {"type": "InternalIP", "address": "10.0.0.11"}],
        "labels": {"pool": "a"},
        "annotations": {"note": "rack 7"},
        "taints": [{"key": "example.com/repair", "value": "", "effect": "NoSchedule"}],
        "conditions": {"Ready": "True", "DiskPressure": "False"},
        "created": "2026-11-30T09:46:58Z",
    }


def test_a_node_without_status_has_every_key() -> None:
    assert node_facts({"metadata": {"name": "new"}}) == {
        "name": "new",
        "ready": False,
        "unschedulable": False,
        "boot_id": "",
        "kubelet_version": "",
        "os_image": "",
        "kernel_version": "",
        "container_runtime_version": "",
        "architecture": "",
        "internal_ip": "",
        "addresses": [],
        "labels": {},
        "annotations": {},
        "taints": [],
        "conditions": {},
        "created": "",
    }


@pytest.mark.parametrize("status, ready", [(True, True), (False, False), ("Unknown", False)])
def test_only_a_ready_condition_of_true_is_ready(status: Any, ready: bool) -> None:
    assert node_facts(builders.node("w1", ready=status))["ready"] is ready
