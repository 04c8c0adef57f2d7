# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every answer of the eviction subresource."""

from __future__ import annotations

from typing import Any

import pytest
from simulated_api import Api

from kubesim import builders
from kubesim.objects import Object

BLOCKED = "Cannot evict pod as it would violate the pod's disruption budget."


def pod(name: str = "a", **options: Any) -> Object:
    return builders.pod(name, labels={"app": "web"}, **options)


def budget(name: str = "web", allowed: int = 0, healthy: int = 1, desired: int = 1, **more: Any) -> Object:
    spec = {key: more.pop(key) for key in ("policy",) if key in more}
    status = {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": healthy,
        **more,
    }
    return builders.budget(name, selector={"app": "web"}, min_available=desired, status=status, **spec)


def cause(answer: Any) -> str:
    text: str = answer.json()["details"]["causes"][0]["message"]
    return text


def test_a_pod_without_a_budget_goes() -> None:
    api = Api(pod())
    answer = api.evict("a").json()
    assert answer == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def test_an_evicted_pod_terminates_within_its_grace() -> None:
    api = Api(pod())
    api.evict("a")
    assert api.get("/api/v1/namespaces/default/pods/a")["metadata"]["deletionGracePeriodSeconds"] == 30


def test_an_eviction_may_bring_its_own_grace() -> None:
    api = Api(pod())
    api.evict("a", gracePeriodSeconds=5)
    assert api.get("/api/v1/namespaces/default/pods/a")["metadata"]["deletionGracePeriodSeconds"] == 5


def test_an_evicted_pod_says_why_it_goes() -> None:
    api = Api(pod())
    api.evict("a")
    conditions = api.get("/api/v1/namespaces/default/pods/a")["status"]["conditions"]
    target = next(c for c in conditions if c["type"] == "DisruptionTarget")
    assert (target["reason"], target["message"]) == ("EvictionByEvictionAPI", "Eviction API: evicting")


def test_a_budget_without_room_refuses() -> None:
    answer = Api(pod(), budget()).evict("a")
    assert (answer.status, answer.json()["message"]) == (429, BLOCKED)


def test_a_refusal_tells_the_numbers_of_the_budget() -> None:
    assert (
        cause(Api(pod(), budget()).evict("a")) == "The disruption budget web needs 1 healthy pods and has 1 currently"
    )


def test_a_refusal_by_a_full_budget_gives_no_time_to_wait() -> None:
    answer = Api(pod(), budget()).evict("a")
    assert ("Retry-After" in answer.headers, "retryAfterSeconds" in answer.json()["details"]) == (False, False)


def test_a_budget_that_failed_to_sync_says_so() -> None:
    failed = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no scale"}
    answer = Api(pod(), budget(conditions=[failed])).evict("a")
    assert (
        cause(answer)
        == "The disruption budget web does not allow evicting pods currently because it failed sync: no scale"
    )


def test_a_budget_that_is_not_processed_yet_asks_for_ten_seconds() -> None:
    answer = Api(pod(), builders.budget("web", min_available=0)).evict("a")
    assert (answer.status, answer.headers["Retry-After"], cause(answer)) == (
        429,
        "10",
        "The disruption budget web is still being processed by the server.",
    )


def test_an_eviction_is_recorded_in_its_budget() -> None:
    api = Api(pod(), budget(allowed=2, healthy=3))
    api.evict("a")
    status = api.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (1, ["a"])


def test_a_disruption_is_not_allowed_twice() -> None:
    api = Api(pod("a"), pod("b"), budget(allowed=1, healthy=2))
    assert [api.evict(name).status for name in ("a", "b")] == [201, 429]


def test_two_budgets_are_an_error_without_a_reason() -> None:
    answer = Api(pod(), budget("x"), budget("y")).evict("a").json()
    assert (answer["code"], "reason" in answer) == (500, False)


@pytest.mark.parametrize("options", [{"phase": "Pending"}, {"phase": "Succeeded"}, {"phase": "Failed"}], ids=str)
def test_pods_that_do_not_run_pass_a_full_budget(options: dict[str, str]) -> None:
    assert Api(pod(**options), budget()).evict("a").status == 201


def test_a_terminating_pod_passes_a_full_budget() -> None:
    api = Api(pod(), budget())
    api.send("DELETE", "/api/v1/namespaces/default/pods/a")
    assert api.evict("a").status == 201


@pytest.mark.parametrize(
    ("policy", "healthy", "status"),
    [("AlwaysAllow", 0, 201), ("IfHealthyBudget", 1, 201), ("IfHealthyBudget", 0, 429), (None, 1, 201), (None, 0, 429)],
)
def test_the_policy_decides_on_unready_pods(policy: str | None, healthy: int, status: int) -> None:
    assert Api(pod(ready=False), budget(policy=policy, healthy=healthy)).evict("a").status == status


def test_an_unready_pod_that_may_go_takes_no_room() -> None:
    api = Api(pod(ready=False), budget(allowed=1, policy="AlwaysAllow"))
    api.evict("a")
    assert api.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"]["disruptionsAllowed"] == 1


def test_a_budget_with_negative_room_forbids() -> None:
    code, message = Api(pod(), budget(allowed=-1)).evict("a").status, "poddisruptionbudget.policy"
    assert (code, message) == (403, "poddisruptionbudget.policy")


def test_a_budget_with_too_many_disrupted_pods_forbids() -> None:
    many = {f"p{number}": "2026-09-21T14:13:20Z" for number in range(2001)}
    assert Api(pod(), budget(allowed=1, disruptedPods=many)).evict("a").status == 403


def test_a_dry_run_evicts_nothing_and_books_nothing() -> None:
    api = Api(pod(), budget(allowed=1))
    before = api.cluster.store.resource_version
    assert (api.evict("a", dryRun=["All"]).status, api.cluster.store.resource_version) == (201, before)


def test_a_dry_run_is_refused_by_a_full_budget() -> None:
    assert Api(pod(), budget()).evict("a", dryRun=["All"]).status == 429


def test_another_uid_is_a_conflict() -> None:
    api = Api(pod())
    answer = api.evict("a", preconditions={"uid": "another"})
    assert (answer.status, api.exists("Pod", "a")) == (409, True)


def test_the_eviction_is_recorded_before_the_uid_is_compared() -> None:
    api = Api(pod(), budget(allowed=1))
    api.evict("a", preconditions={"uid": "another"})
    assert api.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")["status"]["disruptionsAllowed"] == 0


def test_a_terminating_namespace_forbids_with_a_cause() -> None:
    answer = Api(builders.namespace("default", terminating=True), pod()).evict("a").json()
    assert (answer["code"], answer["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")


def test_the_old_version_is_accepted() -> None:
    body = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "a"}}
    assert Api(pod()).send("POST", "/api/v1/namespaces/default/pods/a/eviction", body).status == 201


def test_a_finalizer_outlives_the_eviction() -> None:
    held = pod()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    api = Api(held)
    api.evict("a", gracePeriodSeconds=0)
    assert api.exists("Pod", "a")


def test_budgets_do_not_concern_pods_without_labels() -> None:
    everything = {**budget(), "spec": {"selector": {}}}
    bare = builders.pod("a")
    bare["metadata"].pop("labels", None)
    assert Api(bare, everything).evict("a").status == 201
