# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain and uncordon as jobs, what a rolling patch makes of it, and a credential that is not accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from job import Job
from small_cluster import SECRET, cordoned, fill, job, start, survey_answers

WRONG = "a-token-that-has-expired"
BY_HAND: dict[str, Any] = {"node_drain_cordon_owner": "by-hand"}


class Played(NamedTuple):
    drain: Job
    drained: list[str]
    preflight: Job
    uncordon: Job
    left: list[str]
    refused: Job


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Drain a node, ask for a rolling patch meanwhile, let the node in; and try with another token."""
    folder = tmp_path_factory.mktemp("hand")
    with start(folder / "cluster") as cluster:
        fill(cluster)
        with job(cluster, folder / "drain", "drain.yml", drain_hosts="worker-2", **BY_HAND) as drain:
            drain.wait()
        drained = cordoned(cluster)
        with job(cluster, folder / "preflight", "upgrade.yml", check=True, **survey_answers()) as preflight:
            preflight.wait()
        with job(cluster, folder / "uncordon", "uncordon.yml", uncordon_hosts="worker-2", **BY_HAND) as uncordon:
            uncordon.wait()
        left = cordoned(cluster)
        with job(cluster, folder / "refused", "drain.yml", drain_hosts="worker-2", token=WRONG) as refused:
            refused.wait()
        yield Played(drain, drained, preflight, uncordon, left, refused)


def test_the_drain_job_drains_the_nodes_that_the_survey_names(played: Played) -> None:
    assert played.drain.status == "successful", played.drain.output()
    assert played.drained == ["worker-2"]


def test_a_preflight_meanwhile_fails_and_says_whose_maintenance_it_is(played: Played) -> None:
    assert played.preflight.status == "failed"
    records = {record["node"]: record for record in played.preflight.stored_artifacts()["node_patch"]}
    assert records["worker-1"]["state"] == "refused"
    assert "Node worker-2 is under maintenance by another owner (by-hand since" in records["worker-1"]["message"]


def test_the_uncordon_job_lets_it_in_again(played: Played) -> None:
    assert played.uncordon.status == "successful", played.uncordon.output()
    assert played.left == []


def test_a_token_that_is_not_accepted_is_said_in_a_sentence(played: Played) -> None:
    assert played.refused.status == "failed"
    assert "does not accept the credentials (401" in played.refused.output()


@pytest.mark.parametrize(("which", "token"), [("drain", SECRET), ("uncordon", SECRET), ("refused", WRONG)])
def test_no_token_is_in_any_event_or_file(played: Played, which: str, token: str) -> None:
    assert getattr(played, which).files_with(token) == []
