# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three patch formats."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim.api import patches
from kubesim.errors import ApiStatus

NODE: dict[str, Any] = {
    "metadata": {"name": "n", "labels": {"a": "1", "b": "2"}, "finalizers": ["x"]},
    "spec": {"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Disk", "status": "False"}]},
}


def test_merge_patch_merges_maps_and_null_deletes() -> None:
    patched = patches.merge_patch(NODE, {"metadata": {"labels": {"a": None, "c": "3"}}})
    assert patched["metadata"]["labels"] == {"b": "2", "c": "3"}


def test_merge_patch_replaces_lists() -> None:
    patched = patches.merge_patch(NODE, {"status": {"conditions": [{"type": "Ready"}]}})
    assert patched["status"]["conditions"] == [{"type": "Ready"}]


def test_strategic_patch_merges_lists_by_their_key() -> None:
    patched = patches.strategic_patch(NODE, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    assert [(c["type"], c["status"]) for c in patched["status"]["conditions"]] == [
        ("Ready", "False"),
        ("Disk", "False"),
    ]


def test_strategic_patch_deletes_list_items() -> None:
    patched = patches.strategic_patch(NODE, {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}})
    assert [c["type"] for c in patched["status"]["conditions"]] == ["Disk"]


def test_strategic_patch_replaces_taints_whole() -> None:
    patched = patches.strategic_patch(NODE, {"spec": {"taints": [{"key": "z", "effect": "NoExecute"}]}})
    assert patched["spec"]["taints"] == [{"key": "z", "effect": "NoExecute"}]


def test_strategic_patch_adds_to_finalizers() -> None:
    assert patches.strategic_patch(NODE, {"metadata": {"finalizers": ["y", "x"]}})["metadata"]["finalizers"] == [
        "x",
        "y",
    ]


def test_strategic_patch_takes_finalizers_away() -> None:
    patched = patches.strategic_patch(NODE, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}})
    assert patched["metadata"]["finalizers"] == []


def test_strategic_patch_replaces_a_map() -> None:
    patched = patches.strategic_patch(NODE, {"metadata": {"labels": {"$patch": "replace", "z": "9"}}})
    assert patched["metadata"]["labels"] == {"z": "9"}


def test_strategic_patch_keeps_only_retained_keys() -> None:
    patched = patches.strategic_patch(NODE, {"spec": {"$retainKeys": ["unschedulable"], "unschedulable": False}})
    assert patched["spec"] == {"unschedulable": False}


def test_strategic_patch_orders_a_list() -> None:
    patch = {"status": {"$setElementOrder/conditions": [{"type": "Disk"}, {"type": "Ready"}]}}
    assert [c["type"] for c in patches.strategic_patch(NODE, patch)["status"]["conditions"]] == ["Disk", "Ready"]


def test_json_patch_applies_its_operations_in_order() -> None:
    operations = [
        {"op": "test", "path": "/spec/unschedulable", "value": True},
        {"op": "remove", "path": "/spec/unschedulable"},
    ]
    assert "unschedulable" not in patches.json_patch(NODE, operations)["spec"]


def test_json_patch_may_test_that_a_field_is_absent() -> None:
    assert patches.json_patch(NODE, [{"op": "test", "path": "/spec/podCIDR", "value": None}]) == NODE


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "test", "path": "/spec/unschedulable", "value": False}],
        [{"op": "remove", "path": "/spec/podCIDR"}],
        [{"op": "replace", "path": "/spec/podCIDR", "value": "x"}],
        [{"op": "add", "path": "/metadata/annotations/a", "value": "b"}],
        [{"op": "add"}],
        ["x"],
    ],
)
def test_json_patch_that_cannot_be_applied_is_unprocessable(operations: list[Any]) -> None:
    with pytest.raises(ApiStatus) as refusal:
        patches.json_patch(NODE, operations)
    assert refusal.value.code == 422


def test_json_patch_that_is_no_list_is_a_bad_request() -> None:
    with pytest.raises(ApiStatus) as refusal:
        patches.json_patch(NODE, {"spec": {}})
    assert refusal.value.code == 400
