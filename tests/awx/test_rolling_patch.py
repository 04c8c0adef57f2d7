# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight and rolling patch as AWX runs them: events, artifacts, and nothing but the credential's environment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import yaml

from job import Job
from places import ROOT
from small_cluster import (
    NEW_KUBELET,
    NODES,
    SECRET,
    USER,
    changes,
    cordoned,
    fill,
    job,
    leases,
    nodes,
    requests,
    start,
    survey_answers,
)


class Played(NamedTuple):
    preflight: Job
    preflight_changes: list[str]
    patch: Job
    users: set[str]
    violations: list[Any]
    cordoned: list[str]
    locks: list[str]
    kubelets: dict[str, str]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Run the preflight and then the rolling patch, both with the survey's answers left as they are."""
    folder = tmp_path_factory.mktemp("patch")
    with start(folder / "cluster") as cluster:
        fill(cluster)
        with job(cluster, folder / "preflight", "upgrade.yml", check=True, **survey_answers()) as preflight:
            preflight.wait()
        untouched = changes(cluster)
        with job(cluster, folder / "job", "upgrade.yml", **survey_answers()) as patch:
            patch.wait()
        yield Played(
            preflight,
            untouched,
            patch,
            {entry["user"] for entry in requests(cluster)},
            cluster.control("GET", "violations"),
            cordoned(cluster),
            leases(cluster),
            {name: node["status"]["nodeInfo"]["kubeletVersion"] for name, node in nodes(cluster).items()},
        )


def drain_events(job: Job, node: str) -> list[str]:
    """Return the kinds of the events about drains of a node, rehearsals included; "line" for a line of progress."""
    kinds: list[str] = []
    for event in job.events():
        data = event.get("event_data", {})
        if event["event"] == "verbose" and f"[{node}]" in event["stdout"]:
            kinds.append("line")
        if data.get("task_action") == "kubeops.maintenance.k8s_node_drain" and data.get("host") == node:
            kinds.append(event["event"])
    return kinds


def test_the_preflight_succeeds(played: Played) -> None:
    assert played.preflight.status == "successful", played.preflight.output()


def test_the_preflight_changes_nothing(played: Played) -> None:
    assert played.preflight_changes == []


def test_the_preflight_reports_every_node(played: Played) -> None:
    records = played.preflight.stored_artifacts()["node_patch"]
    assert sorted(record["node"] for record in records) == list(NODES)
    assert [record["blockers"] for record in records] == [[], []]


def test_the_rolling_patch_succeeds(played: Played) -> None:
    assert played.patch.status == "successful", played.patch.output()


def test_every_node_has_the_new_kubelet_and_takes_pods_again(played: Played) -> None:
    assert played.kubelets == dict.fromkeys(NODES, NEW_KUBELET)
    assert played.cordoned == []


def test_no_budget_is_violated_and_no_lock_left(played: Played) -> None:
    assert (played.violations, played.locks) == ([], [])


def test_the_clusters_only_visitor_is_the_credentials_account(played: Played) -> None:
    assert played.users == {USER}


def test_the_artifacts_have_the_state_of_every_node(played: Played) -> None:
    records = played.patch.stored_artifacts()["node_patch"]
    states = {record["node"]: (record["state"], record["kubelet_after"], record["rebooted"]) for record in records}
    assert states == dict.fromkeys(NODES, ("done", NEW_KUBELET, True))


def test_artifacts_do_not_set_variables_of_later_jobs_in_a_workflow(played: Played) -> None:
    variables = {"upgrade_hosts", "upgrade_serial", "upgrade_control_plane"}
    for role in ("node_drain", "node_patch"):
        path = ROOT / "roles" / role / "defaults" / "main.yml"
        variables |= set(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert variables & set(played.patch.stored_artifacts()) == set()


@pytest.mark.parametrize("node", NODES)
def test_lines_of_progress_are_events_while_the_drain_runs(played: Played, node: str) -> None:
    events = [kind for kind in drain_events(played.patch, node) if kind != "runner_on_start"]
    drained = events.index("runner_on_ok")
    # The first result is that of the rehearsal.
    rest = events[drained + 1 :]
    assert "line" in rest[: rest.index("runner_on_ok")]


def test_every_failed_event_would_be_seen(played: Played) -> None:
    bad = ("runner_on_failed", "runner_on_unreachable", "error")
    assert [event["stdout"] for event in played.patch.events() if event["event"] in bad] == []


def test_nothing_is_deprecated_or_warned_of(played: Played) -> None:
    odd = ("deprecated", "DEPRECATION")
    lines = (played.preflight.output() + played.patch.output()).splitlines()
    assert [line for line in lines if any(word in line for word in odd)] == []


@pytest.mark.parametrize("which", ["preflight", "patch"])
def test_the_token_is_in_no_event_and_in_no_file(played: Played, which: str) -> None:
    assert getattr(played, which).files_with(SECRET) == []
