# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role makes of the annotation that an earlier run, or anybody else, left on a node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.marks import mark_of

BEFORE = {"boot_id": "b", "kubelet_version": "v1", "daemonsets": ["n/d"], "csi_drivers": [], "taints": []}
WORKLOADS = [{"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}]
UNDER_WAY = {"state": "patched", "at": 1.5, "reboots": True, "workloads": WORKLOADS, "before": BEFORE}


def test_it_is_read_as_it_was_written() -> None:
    assert mark_of(json.dumps({"campaign": "c", "owner": "o", **UNDER_WAY}), "c") == UNDER_WAY


def test_a_campaign_that_looks_like_a_number_is_the_same() -> None:
    assert mark_of('{"campaign": "202612", "state": "done"}', 202612) == {"state": "done"}


@pytest.mark.parametrize(
    "text",
    ["", "{}", "{broken}", "[1]", "null", '"c"', "{" * 100_000, '{"campaign": "other", "state": "done"}', None, 7],
)
def test_what_is_no_mark_of_this_campaign_counts_as_nothing(text: Any) -> None:
    assert mark_of(text, "c") == {}


@pytest.mark.parametrize(
    "before", [None, "x", [], {}, {**BEFORE, "taints": None}, {**BEFORE, "boot_id": 1}, {"boot_id": "b"}]
)
def test_a_node_before_the_patch_that_is_told_badly_is_left_out(before: Any) -> None:
    assert mark_of(json.dumps({"campaign": "c", "state": "draining", "before": before}), "c") == {"state": "draining"}


@pytest.mark.parametrize(
    "part", [{"at": "soon"}, {"at": None}, {"workloads": {}}, {"workloads": [1]}, {"workloads": [{"kind": "x"}]}]
)
def test_parts_of_another_type_are_left_out(part: dict[str, Any]) -> None:
    assert mark_of(json.dumps({"campaign": "c", "state": "done", **part}), "c") == {"state": "done"}
