# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role makes of the annotation that an earlier run, or anybody else, left on a node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.marks import (
    as_it_is,
    hours_ago,
    is_held,
    mark_of,
)

BEFORE = {"boot_id": "b", "kubelet_version": "v1", "daemonsets": ["n/d"], "csi_drivers": [], "taints": []}
WORKLOADS = [{"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}]
UNDER_WAY = {"state": "patched", "at": 1.5, "reboots": True, "workloads": WORKLOADS, "before": BEFORE}


def test_it_is_read_as_it_was_written() -> None:
    assert mark_of(json.dumps({"campaign": "c", "owner": "o", **UNDER_WAY}), "c") == UNDER_WAY


@pytest.mark.parametrize("written", ['"202612"', "202612"])
@pytest.mark.parametrize("campaign", ["202612", 202612])
def test_a_campaign_that_looks_like_a_number_is_the_same(written: str, campaign: Any) -> None:
    assert mark_of('{"campaign": %s, "state": "done"}' % written, campaign) == {"state": "done"}


@pytest.mark.parametrize(
    "text",
    ["", "{}", "{broken}", "[1]", "null", '"c"', "{" * 100_000, '{"campaign": "other", "state": "done"}', None, 7],
)
def test_what_is_no_mark_of_this_campaign_counts_as_nothing(text: Any) -> None:
    assert mark_of(text, "c") == {}


@pytest.mark.parametrize(
    "before",
    [
        None,
        "x",
        [],
        {},
        {"boot_id": "b"},
        {**BEFORE, "taints": None},
        {**BEFORE, "boot_id": 1},
        {**BEFORE, "daemonsets": [1e999]},
        {**BEFORE, "csi_drivers": [{}]},
        {**BEFORE, "taints": [{"key": "a"}]},
        {**BEFORE, "taints": [{"key": "a", "effect": "NoExecute", "value": 1}]},
    ],
)
def test_a_node_before_the_patch_that_is_told_badly_is_left_out(before: Any) -> None:
    assert mark_of(json.dumps({"campaign": "c", "state": "draining", "before": before}), "c") == {"state": "draining"}


@pytest.mark.parametrize(
    "part",
    [
        {"at": "soon"},
        {"at": None},
        {"at": float("inf")},
        {"at": float("nan")},
        {"at": 10**400},
        {"workloads": {}},
        {"workloads": [1]},
        {"workloads": [{"kind": "x"}]},
        {"workloads": [{**WORKLOADS[0], "api_version": 1}]},
    ],
)
def test_parts_of_another_type_are_left_out(part: dict[str, Any]) -> None:
    assert mark_of(json.dumps({"campaign": "c", "state": "done", **part}), "c") == {"state": "done"}


def test_what_nobody_asks_of_workloads_and_taints_is_left_out() -> None:
    taint = {"key": "a", "value": "b", "effect": "NoExecute"}
    told = {"workloads": [{**WORKLOADS[0], "x": 1}], "before": {**BEFORE, "taints": [{**taint, "timeAdded": 1e999}]}}
    read = mark_of(json.dumps({"campaign": "c", **told}), "c")
    assert read == {"workloads": WORKLOADS, "before": {**BEFORE, "taints": [taint]}}


def test_a_node_as_it_is_has_its_ready_pods_and_lasting_taints() -> None:
    lasting = {"key": "dedicated", "value": "True", "effect": "NoSchedule"}
    node = {
        "boot_id": "[1]",
        "kubelet_version": "v1.36.2",
        "csi_drivers": ["{}"],
        "annotations": {},
        "taints": [lasting, {"key": "node.kubernetes.io/unschedulable", "value": "", "effect": "NoSchedule"}],
        "daemonset_pods": [
            {"namespace": "n", "name": "d-1", "daemonset": "d", "ready": True},
            {"namespace": "n", "name": "e-1", "daemonset": "e", "ready": False},
        ],
    }
    assert as_it_is(node) == {
        "boot_id": "[1]",
        "kubelet_version": "v1.36.2",
        "daemonsets": ["n/d"],
        "csi_drivers": ["{}"],
        "taints": [lasting],
    }


@pytest.mark.parametrize(
    ("owners", "held"),
    [
        (json.dumps({"b\u00fcro": {"since": "x"}}), True),
        ('{"other": {"b\u00fcro": {}}}', False),
        ('{"b\u00fcro":', False),
        (None, False),
    ],
    ids=["text", "deeper", "broken", "none"],
)
def test_a_cordon_is_held_by_the_owners_of_its_annotation(owners: Any, held: bool) -> None:
    assert is_held({"annotations": {"kubeops.maintenance/cordon-owners": owners}}, "b\u00fcro") is held


@pytest.mark.parametrize(
    ("at", "hours"), [(6400, 1.0), (10_000, 0.0), (10_120, 0.0), (10_121, -121 / 3600), (13_600, -1.0)]
)
def test_a_clock_may_be_two_minutes_ahead(at: int, hours: float) -> None:
    assert hours_ago({"at": at}, 10_000) == hours
