# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The message of each reason says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.eviction import (
    BLOCKED_BY_PDB,
    FAILED,
    RETRY,
    Outcome,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.diagnosis import why
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.pod import PodState, State
from ansible_collections.kubeops.maintenance.plugins.module_utils.reasons import Reason

NOW = 1_700_000_000.0
DELETED = "2023-11-14T22:12:00Z"  # 80 s before
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
DEAD = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}


def message(state: str, outcome: Outcome | None = None, budget: Any = None, node: Any = None, **pod: Any) -> str:
    """Return a pod's reason and message."""
    meta = {"name": "web-0", "namespace": "shop", "uid": "u", **pod.pop("metadata", {})}
    pod_state = PodState({"metadata": meta, "status": READY, **pod}, state, outcome=outcome)
    return "{}: {}".format(*why(pod_state, budget, node or {}, NOW))


def budget(healthy: int, expected: int = 4, **status: Any) -> dict[str, Any]:
    """Return a budget that allows no disruption."""
    status = {"currentHealthy": healthy, "expectedPods": expected, "desiredHealthy": 3, **status}
    return {"metadata": {"name": "web-pdb", "namespace": "shop"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("outcome", "state", "words"),
    [
        (
            Outcome(FAILED, Reason.WEBHOOK_DENIED, 'admission webhook "x" denied the request: ask Jo!', 403),
            State.LOST,
            "webhook_denied: do as the webhook or policy requires, or ask its owner:"
            ' admission webhook "x" denied the request: ask Jo!',
        ),
        (
            Outcome(FAILED, Reason.FORBIDDEN, "no", 403),
            State.LOST,
            "forbidden: the account may not evict it, so grant it that right: no",
        ),
        (
            Outcome(FAILED, Reason.FORBIDDEN, "the API server does not accept the credentials: renew them", 401),
            State.LOST,
            "forbidden: the account may not evict it: the API server does not accept the credentials: renew them",
        ),
        (
            Outcome(FAILED, Reason.PDB_MULTIPLE, "This pod has more than one PodDisruptionBudget", 500),
            State.LOST,
            "pdb_multiple: selected by more than one PDB, so delete one or change its selector:"
            " This pod has more than one PodDisruptionBudget",
        ),
        (
            Outcome(FAILED, Reason.API_ERROR, "invalid", 422),
            State.LOST,
            "api_error: find out what sends this response, because a retry would get the same: invalid",
        ),
        (
            Outcome(RETRY, Reason.API_ERROR, "overloaded", 503),
            State.PAUSED,
            "api_error: run the task again once the API server is well: overloaded",
        ),
        (
            Outcome(RETRY, Reason.NAMESPACE_TERMINATING, "no", 403),
            State.PAUSED,
            "namespace_terminating: its namespace is being deleted, and nothing can be evicted there:"
            " check what namespace shop waits for",
        ),
        (
            Outcome(BLOCKED_BY_PDB, Reason.PDB_STALE, "is still being processed by the server.", 429, budget="web-pdb"),
            State.HELD,
            "pdb_stale: blocked by PDB shop/web-pdb: is still being processed by the server;"
            " if that lasts, check whether kube-controller-manager is running",
        ),
        (
            Outcome(BLOCKED_BY_PDB, Reason.PDB_NO_BUDGET, "needs 3 healthy pods and has 3", 429, budget="web-pdb"),
            State.HELD,
            "pdb_no_budget: blocked by PDB shop/web-pdb: needs 3 healthy pods and has 3;"
            " it is evicted as soon as the PDB allows it",
        ),
        (
            None,
            State.DUE,
            "not_tried: not tried before the time was up: raise delete_options.wait_timeout or eviction_concurrency",
        ),
        (
            None,
            State.PAUSED,
            "not_tried: not tried any more, because its controller recreates such pods although the node is cordoned:"
            " scale it down, or keep it off this node",
        ),
    ],
)
def test_after_an_eviction(outcome: Outcome | None, state: str, words: str) -> None:
    assert message(state, outcome) == words


@pytest.mark.parametrize(
    ("healthy", "words"),
    [
        (3, "check why 1 of its pods is not healthy"),
        (2, "check why 2 of its pods are not healthy"),
    ],
)
def test_a_budget_with_unhealthy_pods(healthy: int, words: str) -> None:
    blocked = Outcome(BLOCKED_BY_PDB, Reason.PDB_NO_BUDGET, "needs 3", 429, budget="web-pdb")
    assert message(State.HELD, blocked, budget(healthy)) == (
        "pdb_no_budget: blocked by PDB shop/web-pdb: needs 3; " + words
    )


def test_a_budget_that_waits_for_evicted_pods_to_be_replaced() -> None:
    blocked = Outcome(BLOCKED_BY_PDB, Reason.PDB_NO_BUDGET, "needs 3", 429, budget="web-pdb")
    found = budget(4, disruptedPods={"web-1": DELETED})
    assert message(State.HELD, blocked, found).endswith("needs 3; it is evicted as soon as the PDB allows it")


def test_a_pod_that_is_not_ready_itself() -> None:
    blocked = Outcome(BLOCKED_BY_PDB, Reason.PDB_NO_BUDGET, "needs 3", 429, budget="web-pdb")
    assert message(State.HELD, blocked, budget(2), status={}).endswith(
        "; the pod itself is not Ready, so unhealthyPodEvictionPolicy AlwaysAllow of the PDB would let it be evicted"
    )


@pytest.mark.parametrize(
    ("metadata", "node", "words"),
    [
        (
            {"deletionTimestamp": "2023-11-14T22:13:30Z"},
            None,
            "terminating: terminating, and may take 10 s more: give the task more time (delete_options.wait_timeout)",
        ),
        (
            {"deletionTimestamp": DELETED},
            None,
            "terminating_overdue: terminating, 80 s past its grace period:"
            " check what its node's kubelet and container runtime wait for",
        ),
        (
            {"deletionTimestamp": DELETED},
            DEAD,
            "terminating_overdue: terminating, 80 s past its grace period; its node is not Ready, and only its kubelet"
            " can end the pod: bring the node back, or stop waiting for the pod with"
            " delete_options.skip_wait_for_delete_timeout",
        ),
        (
            {"deletionTimestamp": DELETED, "finalizers": ["example.com/hold"]},
            None,
            "finalizer: it has ended, and finalizer example.com/hold keeps it:"
            " check why the controller that set it does not remove it",
        ),
    ],
)
def test_a_terminating_pod(metadata: dict[str, Any], node: Any, words: str) -> None:
    assert message(State.LEAVING, node=node, metadata=metadata) == words
