# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a reason has stood long enough, told by the clock alone; and pods that no rule of one pod explains."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.diagnosis import (
    FailFast,
    Finding,
    held_back,
    lacking,
    refusal,
    workload_trouble,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import Trouble

KEY = ("Deployment", "shop", "web")
Object = dict[str, Any]


def finding(reason: str = "image_pull", uid: str = "u1", final: bool = False, blamed: bool = True) -> Finding:
    return Finding(KEY, {"metadata": {"uid": uid}}, Trouble(reason, "x", blamed, final))


def given_up(judgement: FailFast, found: Finding, *moments: float) -> list[bool]:
    """Return for each moment at which a finding is seen whether it ends the task."""
    ends = []
    for now in moments:
        judgement.note([found], now)
        ends.append(bool(judgement.hopeless([found], now)))
    return ends


def test_the_same_reason_must_stand_for_the_window() -> None:
    assert given_up(FailFast("tolerant", 30), finding(), 0, 10, 20, 29, 30) == [False, False, False, False, True]


def test_strictly_a_final_reason_ends_it_at_first_sight_and_another_after_the_window() -> None:
    assert given_up(FailFast("strict", 30), finding(final=True), 0) == [True]
    assert given_up(FailFast("strict", 30), finding(), 0, 8, 16, 24, 30) == [False] * 4 + [True]


@pytest.mark.parametrize("mode", ["off", "tolerant", "strict"])
def test_what_is_only_a_matter_of_time_never_ends_it(mode: str) -> None:
    assert given_up(FailFast(mode, 10), finding("starting", blamed=False), 0, 5, 10, 20, 30) == [False] * 5


def test_switched_off_nothing_ends_it() -> None:
    assert given_up(FailFast("off", 10), finding(final=True), 0, 10, 20) == [False] * 3


def test_a_reason_that_flickers_is_one_reason() -> None:
    judgement = FailFast("tolerant", 30)
    assert given_up(judgement, finding("crash_loop"), 0, 9, 18, 27, 31) == [False] * 4 + [True]


def test_a_reason_that_went_away_starts_anew() -> None:
    judgement = FailFast("tolerant", 30)
    given_up(judgement, finding(), 0, 5)
    judgement.note([], 20)
    assert given_up(judgement, finding(), 25, 34, 43, 52, 55) == [False] * 4 + [True]


def test_each_pod_has_its_own_time() -> None:
    judgement = FailFast("tolerant", 30)
    given_up(judgement, finding(uid="u1"), 0, 9, 18, 27)
    assert given_up(judgement, finding(uid="u2"), 28, 31) == [False, False]


def test_pods_that_nodes_give_up_one_after_the_other_share_theirs() -> None:
    judgement = FailFast("tolerant", 30)
    given_up(judgement, finding("pod_failed", "u1"), 0, 9, 18, 27)
    assert given_up(judgement, finding("pod_failed", "u2"), 31) == [True]


def test_what_an_event_explains_has_stood_since_it_was_seen() -> None:
    judgement = FailFast("tolerant", 30)
    given_up(judgement, finding("starting", blamed=False), 0, 9, 18, 27)
    assert given_up(judgement, finding("volume"), 30) == [True]


@pytest.mark.parametrize(
    ("words", "reason", "final"),
    [
        ('pods "x" is forbidden: exceeded quota: small, requested: pods=1', "quota", True),
        ("maximum cpu usage per Container is 1, but limit is 2", "quota", True),
        ('pods "x" is forbidden: violates PodSecurity "restricted:latest"', "create_refused", True),
        ('admission webhook "policy.example" denied the request: no', "create_refused", True),
        ('Internal error: failed calling webhook "policy.example": connection refused', "create_refused", False),
        ("error looking up service account shop/web: serviceaccount not found", "create_refused", True),
    ],
)
def test_the_words_of_a_refusal_tell_its_reason(words: str, reason: str, final: bool) -> None:
    found = refusal(words)
    assert (found.reason, found.final, found.message) == (reason, final, "cannot create a pod: " + words)


def deployment(**spec: Any) -> Object:
    meta = {"name": "web", "generation": 2}
    return {"metadata": meta, "spec": {"replicas": 3, **spec}, "status": {"observedGeneration": 2, "replicas": 3}}


def test_a_paused_deployment_that_is_complete_is_no_trouble() -> None:
    obj = deployment(paused=True)
    obj["status"]["updatedReplicas"] = 3
    assert workload_trouble("Deployment", obj) is None


def test_a_condition_of_the_generation_before_is_no_trouble() -> None:
    obj = deployment()
    obj["metadata"]["generation"] = 3
    obj["status"]["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]
    assert workload_trouble("Deployment", obj) is None


def test_a_workload_that_lacks_pods_says_so_and_why_if_an_event_does() -> None:
    obj = {"metadata": {"generation": 1}, "spec": {"replicas": 3}, "status": {"observedGeneration": 1}}
    assert lacking("StatefulSet", obj, [{}], []) == Trouble("not_created", "lacks 2 pods")
    refused = lacking("StatefulSet", obj, [{}], [{"reason": "FailedCreate", "message": "exceeded quota: q"}])
    assert refused is not None
    assert (refused.reason, refused.blamed) == ("quota", True)
    assert lacking("StatefulSet", obj, [{}, {}, {}], []) is None


def test_pods_that_still_go_hold_a_strict_rollout_back() -> None:
    obj = {"metadata": {}, "spec": {"replicas": 2}, "status": {}}
    going = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert held_back("StatefulSet", obj, [{}, {}, going]) == "Waiting for 1 pods to terminate..."
    assert held_back("StatefulSet", obj, [{}, {}, {}]) == "Waiting for 1 surplus pods to be removed..."
    assert held_back("StatefulSet", obj, [{}, {}, {"status": {"phase": "Failed"}}]) == ""
