# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: completions, failures, evicted pods."""

from __future__ import annotations

import pytest
from controlled_cluster import ControlledCluster

from kubesim.builders import job
from kubesim.objects import Object

IGNORE_EVICTIONS = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}


def counts(sim: ControlledCluster) -> dict[str, int]:
    status = sim.status("Job", "batch")
    return {key: status[key] for key in ("active", "succeeded", "failed") if key in status}


def fail_pods(sim: ControlledCluster) -> None:
    for found in sim.pods():
        name = found["metadata"]["name"]
        sim.store.mutate("Pod", "default", name, lambda obj: obj["status"].update(phase="Failed"))


def evict(sim: ControlledCluster, found: Object) -> None:
    name = found["metadata"]["name"]
    target = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    sim.store.mutate("Pod", "default", name, lambda obj: obj["status"]["conditions"].append(target))
    sim.delete(name)


def test_a_job_runs_its_pods_with_a_finalizer() -> None:
    sim = ControlledCluster(job("batch", parallelism=2, completions=4))
    assert counts(sim) == {"active": 2}
    assert sim.pods()[0]["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]


def test_a_job_completes() -> None:
    sim = ControlledCluster(job("batch", parallelism=2, completions=3, run=1))
    sim.agenda.advance(10)
    assert counts(sim) == {"succeeded": 3}
    assert sim.condition("Job", "batch", "Complete") == ("True", "CompletionsReached")


def test_finished_pods_stay_without_finalizer() -> None:
    sim = ControlledCluster(job("batch", run=1))
    assert [found["metadata"].get("finalizers") for found in sim.store.list("Pod")] == [None]


def test_an_evicted_pod_goes_within_its_time() -> None:
    sim = ControlledCluster(job("batch", term=2))
    evict(sim, sim.pods()[0])
    sim.agenda.advance(1.9)
    assert len(sim.names("Pod")) == 1
    sim.agenda.advance(0.2)
    assert sim.names("Pod") == []


def test_an_evicted_pod_counts_as_failed_and_is_replaced_after_a_pause() -> None:
    sim = ControlledCluster(job("batch"))
    evict(sim, sim.pods()[0])
    sim.agenda.advance(10)
    assert (counts(sim), sim.names("Pod")) == ({"failed": 1}, [])
    sim.agenda.advance(2)
    assert len(sim.ready()) == 1


def test_an_eviction_that_the_policy_ignores_is_made_good_without_pause() -> None:
    sim = ControlledCluster(job("batch", failure_policy=IGNORE_EVICTIONS))
    evict(sim, sim.pods()[0])
    sim.agenda.advance(4)
    assert (counts(sim), len(sim.ready())) == ({"active": 1}, 1)


def test_a_policy_may_fail_the_job() -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [143]}}
    sim = ControlledCluster(job("batch", failure_policy={"rules": [rule]}))
    sim.delete(sim.pods()[0])
    sim.agenda.advance(5)
    assert sim.condition("Job", "batch", "Failed") == ("True", "PodFailurePolicy")


def test_pauses_double() -> None:
    sim = ControlledCluster(job("batch"))
    fail_pods(sim)
    sim.agenda.advance(12)
    fail_pods(sim)
    sim.agenda.advance(19)
    assert "active" not in counts(sim)
    sim.agenda.advance(3)
    assert counts(sim) == {"active": 1, "failed": 2}


def test_too_many_failures_fail_the_job() -> None:
    sim = ControlledCluster(job("batch", backoff_limit=0))
    fail_pods(sim)
    sim.agenda.advance(5)
    assert sim.condition("Job", "batch", "Failed") == ("True", "BackoffLimitExceeded")
    assert counts(sim) == {"failed": 1}


def test_a_failing_job_ends_its_other_pods() -> None:
    sim = ControlledCluster(job("batch", parallelism=3, completions=3, backoff_limit=0))
    name = sim.pods()[0]["metadata"]["name"]
    sim.store.mutate("Pod", "default", name, lambda obj: obj["status"].update(phase="Failed"))
    sim.agenda.advance(5)
    assert sim.names("Pod") == [name]
    assert sim.condition("Job", "batch", "Failed")[0] == "True"


def test_a_work_queue_is_done_when_one_pod_succeeded_and_none_runs() -> None:
    sim = ControlledCluster(job("batch", parallelism=2, completions=None, run=1))
    sim.agenda.advance(5)
    assert (counts(sim), sim.condition("Job", "batch", "Complete")[0]) == ({"succeeded": 2}, "True")


@pytest.mark.parametrize(("suspend", "pods"), [(True, 0), (False, 1)])
def test_a_suspended_job_has_no_pods(suspend: bool, pods: int) -> None:
    sim = ControlledCluster(job("batch"))
    sim.store.mutate("Job", "default", "batch", lambda obj: obj["spec"].update(suspend=suspend))
    sim.agenda.advance(5)
    assert len(sim.names("Pod")) == pods


def test_a_deleted_job_takes_its_pods_along() -> None:
    sim = ControlledCluster(job("batch"))
    sim.store.delete("Job", "default", "batch")
    sim.agenda.advance(5)
    assert sim.names("Pod") == []


def test_a_finished_job_goes_after_its_time_to_live() -> None:
    short = job("batch", run=0)
    short["spec"]["ttlSecondsAfterFinished"] = 30
    sim = ControlledCluster(short)
    assert sim.names("Job") == ["batch"]
    sim.agenda.advance(31)
    assert (sim.names("Job"), sim.names("Pod")) == ([], [])
