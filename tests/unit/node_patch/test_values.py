# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of variables that would stop a run only after a node was drained."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.values import invalid_values

VERSIONS = "but kubelets name their versions as in v1.36.3, as kubectl get nodes shows them."
WORKLOADS = "The variable node_patch_gate_workloads must be a list, each entry with kind, namespace and name."
UNKNOWN = "has unknown keys:"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"node_patch_soak": 900, "node_patch_ready_timeout": 900},
            "The variable node_patch_soak (900) is a part of node_patch_ready_timeout (900), so it must be shorter.",
        ),
        # Extra variables of the form key=value are texts.
        (
            {"node_patch_soak": "60", "node_patch_ready_timeout": "30"},
            "The variable node_patch_soak (60) is a part of node_patch_ready_timeout (30), so it must be shorter.",
        ),
        ({"node_patch_heal_timeout": -1}, "The variable node_patch_heal_timeout is -1, but must be 0 or more."),
        ({"node_patch_packages_timeout": 0}, "The variable node_patch_packages_timeout is 0, but must be 1 or more."),
        (
            {"node_patch_kubelet_version": "1.36.3"},
            f"The variable node_patch_kubelet_version is '1.36.3', {VERSIONS} Did you mean v1.36.3?",
        ),
        (
            {"node_patch_kubelet_version": " v1.36.3 "},
            f"The variable node_patch_kubelet_version is ' v1.36.3 ', {VERSIONS} Did you mean v1.36.3?",
        ),
        ({"node_patch_kubelet_version": 1.36}, f"The variable node_patch_kubelet_version is '1.36', {VERSIONS}"),
        ({"node_patch_kubelet_version": "latest"}, f"The variable node_patch_kubelet_version is 'latest', {VERSIONS}"),
        (
            {"node_patch_gate_workloads": [{"kind": "Deployment", "name": "a"}, {"name": "web"}]},
            "The variable node_patch_gate_workloads[1] needs both a kind and a name.",
        ),
        (
            {"node_patch_gate_workloads": [{"kind": "Deployment", "namespce": "shop", "name": "web"}]},
            f"The variable node_patch_gate_workloads[0] {UNKNOWN} namespce (did you mean namespace?).",
        ),
        (
            {"node_patch_connection": {"kubconfig": "a secret", "server": "b", "cert_file": "c"}},
            f"The variable node_patch_connection {UNKNOWN} kubconfig (did you mean kubeconfig?), server.",
        ),
        (
            {"node_patch_window": [{"days": ["sat"]}, {"day": ["tue"], "start": "22:00"}]},
            f"The variable node_patch_window[1] {UNKNOWN} day (did you mean days?).",
        ),
        ({"node_patch_gate_workloads": "Deployment/web"}, WORKLOADS),
        ({"node_patch_gate_workloads": {"kind": "Deployment", "name": "web"}}, WORKLOADS),
    ],
)
def test_what_cannot_work_is_said(values: dict[str, Any], said: str) -> None:
    assert invalid_values(values) == said


def test_everything_is_said_at_once() -> None:
    said = invalid_values({"node_patch_soak": -1, "node_patch_reach_timeout": 0})
    assert said == (
        "The variable node_patch_reach_timeout is 0, but must be 1 or more. "
        "The variable node_patch_soak is -1, but must be 0 or more."
    )


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"node_patch_soak": 900, "node_patch_ready_timeout": 0},
        {"node_patch_soak": "perhaps", "node_patch_ready_timeout": 10},
        {"node_patch_kubelet_version": None, "node_patch_gate_workloads": None},
        {"node_patch_kubelet_version": "v1.33.5-gke.1080000"},
        {"node_patch_kubelet_version": "v1.33.4+k3s1"},
        {"node_patch_gate_workloads": [{"kind": "CloneSet", "name": "web"}]},
    ],
    ids=["nothing", "no limit", "no number", "null", "gke", "k3s", "an unsupported kind"],
)
def test_what_can_work_is_not_refused(values: dict[str, Any]) -> None:
    assert invalid_values(values) == ""
