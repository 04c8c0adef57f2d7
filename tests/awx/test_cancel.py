# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that is cancelled in the middle of a drain leaves a state from which the next job continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from job import Job
from small_cluster import NEW_KUBELET, NODES, cordoned, fill, job, leases, nodes, start, survey_answers

BUDGET = "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web"


LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubeops-maintenance"


class Played(NamedTuple):
    cancelled: Job
    held: list[str]
    locked_out: Job
    next: Job
    cordoned: list[str]
    locks: list[str]
    kubelets: dict[str, str]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Cancel a job whose drain a budget holds up, free the budget, and start the job again."""
    folder = tmp_path_factory.mktemp("cancel")
    with start(folder / "cluster") as cluster:
        fill(cluster)
        cluster.call("PATCH", BUDGET, {"spec": {"maxUnavailable": 0}}, "application/merge-patch+json")
        with job(cluster, folder / "first", "upgrade.yml", **survey_answers()) as first:
            first.await_event("worker-1: cordoned")
            first.cancel()
        held = cordoned(cluster)
        cluster.call("PATCH", BUDGET, {"spec": {"maxUnavailable": 1}}, "application/merge-patch+json")
        # The next job runs in another pod, from where the old one's processes cannot be seen.
        elsewhere = {"metadata": {"annotations": {"kubeops.maintenance/run": "another-pod/17/4711"}}}
        cluster.call("PATCH", LEASE, elsewhere, "application/merge-patch+json")
        with job(cluster, folder / "second", "upgrade.yml", **survey_answers()) as second:
            second.wait()
        answers = {**survey_answers(), "node_patch_lock_steal": "true"}
        with job(cluster, folder / "third", "upgrade.yml", **answers) as third:
            third.wait()
        yield Played(
            first,
            held,
            second,
            third,
            cordoned(cluster),
            leases(cluster),
            {name: node["status"]["nodeInfo"]["kubeletVersion"] for name, node in nodes(cluster).items()},
        )


def test_the_cancelled_job_is_told_apart_from_a_failed_one(played: Played) -> None:
    assert played.cancelled.status == "canceled"


def test_the_node_under_way_stays_cordoned(played: Played) -> None:
    assert played.held == ["worker-1"]


def test_another_job_is_told_who_holds_the_lock(played: Played) -> None:
    assert played.locked_out.status == "failed"
    output = played.locked_out.output()
    assert "The lock kube-system/kubeops-maintenance is held by another run of AWX job 4711" in output


def test_a_job_that_may_take_the_lock_completes_it(played: Played) -> None:
    assert played.next.status == "successful", played.next.output()
    assert played.kubelets == dict.fromkeys(NODES, NEW_KUBELET)


def test_no_cordon_and_no_lock_is_left(played: Played) -> None:
    assert (played.cordoned, played.locks) == ([], [])
