# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up recordings of kubectl runs."""

from __future__ import annotations

from typing import Any

from golden.cases import Case, Obj, case_from

NAMESPACE = "g-made-up"


def pod(name: str, **metadata: Any) -> Obj:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", **metadata},
        "spec": {"nodeName": "node-1"},
    }


def node(name: str, unschedulable: bool = False) -> Obj:
    return {"kind": "Node", "metadata": {"name": name}, "spec": {"unschedulable": True} if unschedulable else {}}


def recording(**changes: Any) -> Obj:
    """Return a run that cordoned node-1 and made pod web go, with these keys changed."""
    return {
        "id": "made-up",
        "namespace": NAMESPACE,
        "module": {"module": "k8s_node_drain", "args": {"name": "node-1"}},
        "before": [node("node-0"), node("node-1"), pod("web"), pod("kept")],
        "after": {"nodes": {"node-0": False, "node-1": True}, "pods": [{"uid": "uid-kept"}]},
        "exit_code": 0,
        "stderr": "",
        "duration_s": 1.5,
        **changes,
    }


def case(**changes: Any) -> Case:
    """Return the case of such a recording."""
    return case_from(recording(**changes))
