# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that are refused: quotas, admission, and what controllers make of it."""

from __future__ import annotations

from controlled_cluster import ControlledCluster

from kubesim import builders
from kubesim.objects import Object

QUOTA = "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"


def quota(**hard: str) -> Object:
    return builders.quota("small", hard=hard)


def told(sim: ControlledCluster, kind: str) -> list[tuple[str, str]]:
    """Return reason and message of the warnings about objects of a kind."""
    events = [e for e in sim.store.list("Event") if e["type"] == "Warning" and e["involvedObject"]["kind"] == kind]
    return [(e["reason"], e["message"]) for e in events]


def full() -> ControlledCluster:
    """Return a cluster whose quota lets two of three pods of a Deployment in."""
    return ControlledCluster(quota(pods="2"), builders.deployment("web", 3))


def test_a_quota_lets_in_as_many_pods_as_it_says() -> None:
    assert len(full().pods()) == 2


def test_a_quota_shows_what_is_used() -> None:
    assert full().get("ResourceQuota", "small")["status"] == {"hard": {"pods": "2"}, "used": {"pods": "2"}}


def test_a_refused_pod_is_a_failure_of_its_replica_set() -> None:
    sim = full()
    failure = sim.store.list("ReplicaSet")[0]["status"]["conditions"][0]
    assert (failure["type"], failure["reason"], failure["message"].partition("is forbidden: ")[2]) == (
        "ReplicaFailure",
        "FailedCreate",
        QUOTA,
    )


def test_a_refused_pod_is_a_failure_of_its_deployment() -> None:
    assert full().condition("Deployment", "web", "ReplicaFailure") == ("True", "FailedCreate")


def test_a_replica_set_tells_what_was_refused() -> None:
    reason, message = told(full(), "ReplicaSet")[0]
    assert (reason, message.startswith('Error creating: pods "web-'), message.endswith(QUOTA)) == (
        "FailedCreate",
        True,
        True,
    )


def test_a_refused_pod_is_made_some_time_after_there_is_room() -> None:
    sim = full()
    sim.store.mutate("ResourceQuota", "default", "small", lambda obj: obj["spec"]["hard"].update(pods="3"))
    sim.agenda.advance(30)
    assert len(sim.ready()) == 3
    assert "ReplicaFailure" not in [c["type"] for c in sim.get("Deployment", "web")["status"]["conditions"]]


def test_a_stateful_set_tells_which_pod_was_refused() -> None:
    sim = ControlledCluster(quota(pods="2"), builders.stateful_set("kv", 3))
    refusal = f'create Pod kv-2 in StatefulSet kv failed error: pods "kv-2" is forbidden: {QUOTA}'
    assert told(sim, "StatefulSet") == [("FailedCreate", refusal)]


def test_a_stateful_set_reports_its_status_although_a_pod_was_refused() -> None:
    sim = ControlledCluster(quota(pods="2"), builders.stateful_set("kv", 3))
    assert sim.get("StatefulSet", "kv")["status"]["readyReplicas"] == 2


def test_a_daemon_set_tells_what_was_refused() -> None:
    sim = ControlledCluster(quota(pods="2"), builders.daemon_set("agent"))
    reason, message = told(sim, "DaemonSet")[0]
    assert (reason, message.endswith(QUOTA), sim.get("DaemonSet", "agent")["status"]["numberReady"]) == (
        "FailedCreate",
        True,
        2,
    )


def test_a_quota_of_cpu_wants_to_be_told_how_much() -> None:
    sim = ControlledCluster(quota(**{"requests.cpu": "1"}), builders.deployment("web"))
    message = told(sim, "ReplicaSet")[0][1]
    assert message.endswith("is forbidden: failed quota: small: must specify requests.cpu for: app")


def test_a_quota_of_cpu_counts_requests() -> None:
    sim = ControlledCluster(quota(**{"requests.cpu": "1"}), builders.deployment("web", 3, requests={"cpu": "400m"}))
    message = told(sim, "ReplicaSet")[0][1]
    assert message.endswith("requested: requests.cpu=400m, used: requests.cpu=800m, limited: requests.cpu=1")


def test_a_namespace_may_refuse_every_pod_as_a_webhook_does() -> None:
    denial = 'admission webhook "policy.example.com" denied the request: image is not signed'
    home = builders.namespace("default")
    home["metadata"]["annotations"] = {"fake/deny-pods": denial}
    sim = ControlledCluster(home, builders.deployment("web"))
    assert told(sim, "ReplicaSet")[0] == ("FailedCreate", f"Error creating: {denial}")
