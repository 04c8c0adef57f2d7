# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each reason for which a pod is left comes with what somebody can do."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.eviction import (
    AGAIN,
    FAILED,
    REFUSED,
    Outcome,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.diagnosis import why
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.pod import PodState, State

NOW = 1_700_000_000.0
DELETED = "2023-11-14T22:12:00Z"  # 80 s before
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
DEAD = {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}


def told(state: State, outcome: Outcome | None = None, budget: Any = None, node: Any = None, **pod: Any) -> str:
    """Return what is said of a pod: its reason and the message."""
    meta = {"name": "web-0", "namespace": "shop", "uid": "u", **pod.pop("metadata", {})}
    pod_state = PodState({"metadata": meta, "status": READY, **pod}, state, outcome=outcome)
    return "%s: %s" % why(pod_state, budget, node or {}, NOW)


def budget(healthy: int, expected: int = 4, **status: Any) -> dict[str, Any]:
    """Return a budget that has no room."""
    status = {"currentHealthy": healthy, "expectedPods": expected, "desiredHealthy": 3, **status}
    return {"metadata": {"name": "web-pdb", "namespace": "shop"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("outcome", "state", "words"),
    [
        (
            Outcome(FAILED, "webhook_denied", 'admission webhook "x" denied the request: ask Jo!', 403),
            State.LOST,
            "webhook_denied: see what the webhook or policy asks for, or who runs it:"
            ' admission webhook "x" denied the request: ask Jo!',
        ),
        (
            Outcome(FAILED, "forbidden", "no", 403),
            State.LOST,
            "forbidden: the account may not evict it, so grant it that right: no",
        ),
        (
            Outcome(FAILED, "forbidden", "the API server does not accept the credentials: renew them", 401),
            State.LOST,
            "forbidden: the account may not evict it: the API server does not accept the credentials: renew them",
        ),
        (
            Outcome(FAILED, "pdb_multiple", "This pod has more than one PodDisruptionBudget", 500),
            State.LOST,
            "pdb_multiple: selected by more than one disruption budget, so delete one or change its selector:"
            " This pod has more than one PodDisruptionBudget",
        ),
        (
            Outcome(FAILED, "api_error", "invalid", 422),
            State.LOST,
            "api_error: find out what gives this answer, because another try would get the same: invalid",
        ),
        (
            Outcome(AGAIN, "api_error", "overloaded", 503),
            State.PAUSED,
            "api_error: run the task again once the API server is well: overloaded",
        ),
        (
            Outcome(AGAIN, "namespace_terminating", "no", 403),
            State.PAUSED,
            "namespace_terminating: its namespace is being deleted, and nothing can be evicted there:"
            " see what namespace shop is waiting for",
        ),
        (
            Outcome(REFUSED, "pdb_stale", "is still being processed by the server.", 429, budget="web-pdb"),
            State.HELD,
            "pdb_stale: held by disruption budget shop/web-pdb: is still being processed by the server;"
            " if that lasts, see whether kube-controller-manager is running",
        ),
        (
            Outcome(REFUSED, "pdb_no_budget", "needs 3 healthy pods and has 3", 429, budget="web-pdb"),
            State.HELD,
            "pdb_no_budget: held by disruption budget shop/web-pdb: needs 3 healthy pods and has 3;"
            " it goes as soon as the budget has room again",
        ),
        (
            None,
            State.DUE,
            "not_tried: not tried before the time was up: raise delete_options.wait_timeout or eviction_concurrency",
        ),
        (
            None,
            State.PAUSED,
            "not_tried: not tried any more, because such pods come back although the node is cordoned:"
            " scale down what makes them, or keep it off this node",
        ),
    ],
)
def test_of_an_answer(outcome: Outcome | None, state: str, words: str) -> None:
    assert told(state, outcome) == words


@pytest.mark.parametrize(
    ("healthy", "words"),
    [
        (3, "see why 1 pod of it is not healthy"),
        (2, "see why 2 pods of it are not healthy"),
    ],
)
def test_of_a_budget_with_unhealthy_pods(healthy: int, words: str) -> None:
    refused = Outcome(REFUSED, "pdb_no_budget", "no room", 429, budget="web-pdb")
    assert told(State.HELD, refused, budget(healthy)) == (
        "pdb_no_budget: held by disruption budget shop/web-pdb: no room; " + words
    )


def test_of_a_budget_that_waits_for_evicted_pods_to_be_replaced() -> None:
    refused = Outcome(REFUSED, "pdb_no_budget", "no room", 429, budget="web-pdb")
    found = budget(4, disruptedPods={"web-1": DELETED})
    assert told(State.HELD, refused, found).endswith("no room; it goes as soon as the budget has room again")


def test_of_a_pod_that_is_not_ready_itself() -> None:
    refused = Outcome(REFUSED, "pdb_no_budget", "no room", 429, budget="web-pdb")
    assert told(State.HELD, refused, budget(2), status={}).endswith(
        "; the pod itself is not Ready, and unhealthyPodEvictionPolicy AlwaysAllow of the budget would let it go"
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
            " see what its node's kubelet and container runtime are waiting for",
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
            "finalizer: it has ended, and finalizer example.com/hold holds it:"
            " see why the controller that put it there does not remove it",
        ),
    ],
)
def test_of_a_pod_that_goes(metadata: dict[str, Any], node: Any, words: str) -> None:
    assert told(State.LEAVING, node=node, metadata=metadata) == words
