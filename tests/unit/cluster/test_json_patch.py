# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON patches that say what they rest on, here and on the simulated API server."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.json_patch import apply, set_field
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MissingLibrary
from kubesim.api.patches import json_patch

Obj = dict[str, Any]
A_B = ("a", "b/c~d")
AT_A_B = "/a/b~1c~0d"


@pytest.mark.parametrize(
    ("obj", "value", "operations", "made"),
    [
        pytest.param(
            {"a": {"b/c~d": 1}},
            2,
            [{"op": "test", "path": AT_A_B, "value": 1}, {"op": "add", "path": AT_A_B, "value": 2}],
            {"a": {"b/c~d": 2}},
            id="a field changes",
        ),
        pytest.param(
            {"a": {"x": 0}},
            2,
            [{"op": "test", "path": AT_A_B, "value": None}, {"op": "add", "path": AT_A_B, "value": 2}],
            {"a": {"x": 0, "b/c~d": 2}},
            id="a field comes",
        ),
        pytest.param(
            {"a": {"x": 0, "b/c~d": 1}},
            None,
            [{"op": "test", "path": AT_A_B, "value": 1}, {"op": "remove", "path": AT_A_B}],
            {"a": {"x": 0}},
            id="a field goes",
        ),
        pytest.param(
            {"a": {}},
            None,
            [{"op": "test", "path": AT_A_B, "value": None}],
            {"a": {}},
            id="an absent field stays absent",
        ),
        pytest.param(
            {},
            2,
            [{"op": "test", "path": "/a", "value": None}, {"op": "add", "path": "/a", "value": {"b/c~d": 2}}],
            {"a": {"b/c~d": 2}},
            id="its mapping is absent",
        ),
        pytest.param({}, None, [{"op": "test", "path": "/a", "value": None}], {}, id="nothing to remove"),
        pytest.param(
            {"a": {"b/c~d": None}},
            None,
            [{"op": "test", "path": AT_A_B, "value": None}, {"op": "remove", "path": AT_A_B}],
            {"a": {}},
            id="a field that is null goes",
        ),
    ],
)
def test_a_field_is_set_if_it_is_as_it_was(obj: Obj, value: Any, operations: list[Obj], made: Obj) -> None:
    assert set_field(obj, A_B, value) == operations
    assert (apply(obj, operations), json_patch(obj, operations)) == (made, made)


def test_a_prediction_leaves_the_object_as_it_was() -> None:
    obj = {"a": {"b/c~d": 1}}
    apply(obj, set_field(obj, A_B, 2))
    assert obj == {"a": {"b/c~d": 1}}


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonpatch", None)
    with pytest.raises(MissingLibrary) as raised:
        apply({}, [])
    assert str(raised.value) == (
        "the Python package jsonpatch is missing, which check mode with cordon_owner needs:"
        " install jsonpatch where the module runs"
    )
