# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as no server should send them: whatever is absent, null, of another type or huge, a drain has an answer.

Each case is drawn from a seed, which a failure names.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.list_watch import Changed, Listed
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.responses import error_of, value_of
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster import eviction as evictions
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.budgets import (
    BudgetBook,
    budget_facts,
    is_deadlocked,
    lets_unready_go,
    room_in,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.cordon_owners import (
    ANNOTATION,
    claim,
    holders,
    release,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.nodes import node_facts
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.pods import trimmed, workload_of
from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.volumes import claims_of, volume_on
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.diagnosis import pending_pod
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.filters import (
    BLOCK,
    EVICT,
    SKIP,
    Facts,
    PodOptions,
    judge,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.node import NodeState, Phase
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.pod import PodState, State
from ansible_collections.kubeops.maintenance.plugins.module_utils.drain.preflight import look_at_budgets, node_warning
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError, Unreachable
from drain.situations import no_budget, status
from kubesim import builders
from kubesim.agenda import TEST_EPOCH, timestamp

SEEDS = range(400)
REASONS = frozenset(
    ["pdb_no_budget", "pdb_deadlock", "pdb_multiple", "pdb_stale", "terminating", "terminating_overdue", "finalizer"]
    + ["namespace_terminating", "webhook_denied", "forbidden", "api_error", "unmanaged", "emptydir", "daemonset"]
    + ["daemonset_gone", "mirror", "skip_deleted", "volume_attached", "not_tried"]
)
ODD: list[Any] = [
    None, "", "x", "y" * 5000, 0, -1, 10**30, 1.5, float("inf"), True, False, [], [None], [1, "a", {}], {}, {"a": None},
    {"matchLabels": None}, {"": ""}, [[[]]], "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    "\ud83d\ude00", "nul\0", "None",
]  # fmt: skip


def spoil(obj: Any, draw: random.Random) -> Any:
    """Return a copy in which some fields are absent or odd."""
    obj = copy.deepcopy(obj)
    for _spot in range(draw.randint(1, 4)):
        _spoil_one(obj, draw)
    return obj


def _spoil_one(obj: Any, draw: random.Random) -> None:
    while True:
        keys = list(obj) if isinstance(obj, dict) else list(range(len(obj)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(obj[key], (dict, list)) and obj[key] and draw.random() < 0.75:
            obj = obj[key]
            continue
        if draw.random() < 0.3:
            del obj[key]
        else:
            obj[key] = copy.deepcopy(draw.choice(ODD))
        return


def some_pod(draw: random.Random) -> dict[str, Any]:
    owner = draw.choice(["DaemonSet/agent", "ReplicaSet/web-1", "Node/w1", "Widget/w", None])
    pod = builders.pod(
        "web-0",
        node_name="w1",
        phase=draw.choice(["Running", "Pending", "Failed"]),
        labels={"app": "web", "pod-template-hash": "1"},
        owner=owner,
        finalizers=["example.com/f"] if draw.random() < 0.5 else None,
        deleted=timestamp(TEST_EPOCH) if draw.random() < 0.5 else None,
        emptydir=draw.random() < 0.5,
        claims=["data"] if draw.random() < 0.5 else None,
        mirror=draw.random() < 0.1,
    )
    return spoil(pod, draw)


def some_budget(draw: random.Random) -> dict[str, Any]:
    counts = {"disruptionsAllowed": draw.randint(0, 1), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    state = {**counts, "observedGeneration": 1, "disruptedPods": {"web-0": timestamp(TEST_EPOCH)}}
    expression = {"key": "app", "operator": "In", "values": ["web"]}
    selector = {"matchLabels": {"app": "web"}, "matchExpressions": [expression]}
    return spoil(builders.budget("web", selector=selector, min_available=1, status=state), draw)


def some_node(draw: random.Random) -> dict[str, Any]:
    book = json.dumps({"job": {"since": timestamp(TEST_EPOCH), "prior_unschedulable": True}, "b": None})
    node = builders.node("w1", unschedulable=draw.random() < 0.5, annotations={ANNOTATION: book})
    if draw.random() < 0.3:
        node["metadata"]["annotations"][ANNOTATION] = draw.choice(["[]", "{", "7", '{"job": 3}', '{"job": null}', "{}"])
    return spoil(node, draw)


def some_answer(draw: random.Random) -> tuple[int, dict[str, str], bytes]:
    bodies = [
        no_budget(retryAfterSeconds=10),
        status(403, "no", "Forbidden", causes=[{"reason": "NamespaceTerminating", "message": "m"}]),
        status(404, "gone", "NotFound", name="web-0", kind="pods"),
        status(403, "full", "Forbidden", kind="poddisruptionbudgets", name="web"),
        status(500, "This pod has more than one PodDisruptionBudget", ""),
    ]
    body = spoil(draw.choice(bodies), draw)
    code = draw.choice([200, 201, 204, 301, 400, 401, 403, 404, 405, 408, 409, 410, 418, 422, 429, 500, 502, 503, 599])
    headers = {"Retry-After": draw.choice(["", "x", "-1", "1e400", "5", "nan"])} if draw.random() < 0.5 else {}
    data = json.dumps(body).encode() if draw.random() < 0.8 else draw.choice([b"", b"<html>", b"\xff\xfe", b"[]", b"7"])
    return code, headers, data


def answer_of(draw: random.Random) -> MaintenanceError | None:
    if draw.random() < 0.1:
        return Unreachable("gone", final=draw.random() < 0.5)
    try:
        value_of(*some_answer(draw))
    except MaintenanceError as exc:
        return exc
    return None


def each_seed(check: Callable[[random.Random], None]) -> None:
    for seed in SEEDS:
        try:
            check(random.Random(seed))
        except Exception as exc:
            raise AssertionError(f"seed {seed}: {exc!r}") from exc


def choices(draw: random.Random) -> PodOptions:
    return PodOptions(*(draw.random() < 0.5 for _flag in range(3)), draw.choice([0, 60]))


def test_every_pod_gets_a_verdict_whole_and_trimmed() -> None:
    def check(draw: random.Random) -> None:
        pod, wanted = some_pod(draw), choices(draw)
        facts = Facts(TEST_EPOCH + 100, {("default", "agent"): draw.choice([True, False, None])})
        whole, small = judge(pod, wanted, facts), judge(trimmed(pod), wanted, facts)
        assert whole == small
        assert whole.action in (EVICT, SKIP, BLOCK)
        assert (whole.reason in REASONS and bool(whole.message)) or whole.action == EVICT
        workload_of(pod)
        claims_of(trimmed(pod))

    each_seed(check)


def test_every_pod_that_is_left_has_a_reason_and_a_result_that_can_be_written() -> None:
    states = [State.DUE, State.TRYING, State.HELD, State.PAUSED]

    def check(draw: random.Random) -> None:
        pod = PodState(trimmed(some_pod(draw)))
        if draw.random() < 0.8:
            pod.record_attempt(1.0, "7")
            pod.on_eviction_response(evictions.outcome_of(answer_of(draw)), 2.0, 5.0, 1.0)
        if pod.outcome is None:
            pod.state = draw.choice(states)
        entry = pending_pod(pod, draw.choice([None, some_budget(draw)]), some_node(draw), TEST_EPOCH + 100)
        assert (entry["reason"] in REASONS, bool(entry["message"])) == (True, True), entry
        json.dumps(entry)

    each_seed(check)


def test_every_answer_is_a_value_or_an_error_of_the_family_and_means_something() -> None:
    kinds = {evictions.ACCEPTED, evictions.GONE, evictions.REFUSED, evictions.AGAIN, evictions.FAILED}

    def check(draw: random.Random) -> None:
        outcome = evictions.outcome_of(answer_of(draw))
        assert outcome.kind in kinds
        assert outcome.reason in REASONS or outcome.kind in (evictions.ACCEPTED, evictions.GONE)
        assert outcome.pause is None or 0 < outcome.pause < 86400

    each_seed(check)


def test_every_error_of_a_watch_is_one_of_the_family() -> None:
    def check(draw: random.Random) -> None:
        error = error_of(spoil(status(410, "too old", "Expired", retryAfterSeconds=3), draw))
        assert isinstance(error, MaintenanceError) and error.message

    each_seed(check)


def test_budgets_are_read_whatever_they_look_like() -> None:
    def check(draw: random.Random) -> None:
        budget = some_budget(draw)
        book = BudgetBook()
        book.apply(Listed([budget, some_budget(draw)]))
        book.apply(Changed(draw.choice(["ADDED", "DELETED"]), some_budget(draw)))
        book.of(trimmed(some_pod(draw)))
        assert room_in(budget) >= 0
        assert isinstance(lets_unready_go(budget), bool) and isinstance(is_deadlocked(budget), bool)
        json.dumps(budget_facts(budget))

    each_seed(check)


def test_owners_of_a_cordon_can_always_be_written_down_and_taken_out() -> None:
    def check(draw: random.Random) -> None:
        node = some_node(draw)
        for patch in (claim(node, "job", "now"), release(node, "job"), claim(node, "c", "now"), release(node, "b")):
            if patch is not None:
                json.dumps(patch)
        assert isinstance(holders(node), str)
        json.dumps(node_facts(node))

    each_seed(check)


@pytest.mark.parametrize("strict", [False, True])
def test_a_node_of_odd_pods_and_budgets_is_looked_at_and_followed(strict: bool) -> None:
    def check(draw: random.Random) -> None:
        node = NodeState("w1", some_node(draw), choices(draw), draw.choice([None, 0, 10]), {})
        listed = Listed([trimmed(some_pod(draw)) for _pod in range(3)], draw.choice(["", "x", "12"]))
        node.update(listed, 0.0, TEST_EPOCH)
        node.daemonsets.update(dict.fromkeys(node.lookups(), draw.choice([True, False, None])))
        node.review(1.0, TEST_EPOCH + 1)
        book = BudgetBook()
        book.apply(Listed([some_budget(draw) for _budget in range(2)]))
        findings = look_at_budgets([node], {"default": book}, strict)
        assert all(isinstance(text, str) for text in findings.forecasts + findings.refusals)
        assert all(pod.verdict is not None and pod.verdict.reason in REASONS for pod in node.blocked())
        assert isinstance(node_warning(node), str)
        node.enter(Phase.DRAINING)
        event = Changed(draw.choice(["ADDED", "MODIFIED", "DELETED"]), trimmed(some_pod(draw)))
        node.update(event, 2.0, TEST_EPOCH + 2)

    each_seed(check)


def test_attachments_are_read_whatever_they_look_like() -> None:
    def check(draw: random.Random) -> None:
        volume = volume_on(spoil(builders.volume_attachment("va", "w1", "pv"), draw), "w1")
        assert volume is None or json.dumps(volume.facts())

    each_seed(check)
