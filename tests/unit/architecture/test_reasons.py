# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reasons of each module are one closed set: in the code and in RETURN; those of pods in the guide, too."""

from __future__ import annotations

import ast
import json
import re

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.reasons import (
    GateReason,
    Reason,
    ReasonEnum,
    UnmetReason,
)
from ansible_collections.kubeops.maintenance.plugins.modules import (
    k8s_maintenance_gate,
    k8s_node_drain,
    k8s_node_wait,
)
from packages import files, tree_of
from places import ROOT

VALUES = [reason.value for reason in Reason]
# Files that mean something else by the same word, such as a kind of message or a reason of a rollout or gate.
OTHERS = ("module_utils/rollout/", "module_utils/maintenance/", "modules/", "plugin_utils/", "doc_fragments/")
LOOP = "module_utils/drain/loop.py"


@pytest.mark.parametrize(
    ("returned", "key", "reasons"),
    [
        (k8s_node_drain.RETURN, "pending_pods", Reason),
        (k8s_maintenance_gate.RETURN, "refusals", GateReason),
        (k8s_node_wait.RETURN, "lacks", UnmetReason),
    ],
)
def test_return_names_each_reason_once(returned: str, key: str, reasons: type[ReasonEnum]) -> None:
    description = yaml.safe_load(returned)[key]["contains"]["reason"]["description"]
    text = description if isinstance(description, str) else " ".join(description)
    assert sorted(re.findall(r"V\((\w+)\)", text)) == sorted(reason.value for reason in reasons)


def test_the_guide_has_each_reason() -> None:
    guide = (ROOT / "docs" / "guides" / "stuck-drains.md").read_text(encoding="utf-8")
    assert [value for value in VALUES if f"`{value}`" not in guide] == []


def test_no_file_writes_a_reason_as_a_text() -> None:
    found = [
        f"{file}:{node.lineno} {node.value!r}"
        for file in files()
        if not file.startswith(OTHERS) and file not in ("module_utils/reasons.py", LOOP)
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Constant) and node.value in VALUES
    ]
    assert found == []


@pytest.mark.parametrize("reason", [*Reason, *GateReason, *UnmetReason])
def test_a_reason_is_written_as_its_value(reason: ReasonEnum) -> None:
    assert (f"{reason}", str(reason), json.dumps([reason])) == (reason.value, reason.value, f'["{reason.value}"]')
    assert reason.meaning and not reason.meaning.endswith(".")
