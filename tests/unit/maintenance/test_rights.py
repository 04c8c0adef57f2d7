# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rights maintenance needs, and that a missing one is named beforehand."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.access import Right
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.gate import Gate, task_from
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.rights import (
    STEPS,
    needed_for,
    rights_for,
    rules_of,
)
from maintenance.surroundings import context_of
from stage import Scene

EVERYTHING = [step for step in STEPS if step != "diagnosis"]


def asked(scene: Scene, rights: list[Right]) -> dict[str, Any]:
    """Ask the gate as a user that has just these rights."""
    scene.cluster.access.grant({"tokens": {"admintoken": {"user": "patcher", "groups": [], "rules": rules(rights)}}})
    task = task_from({"name": ["w1"], "rights_for": EVERYTHING})
    return Gate(task, context_of(scene)).run()


def rules(rights: list[Right]) -> list[dict[str, Any]]:
    found = []
    for namespace in sorted({right.namespace for right in rights}):
        for rule in rules_of([right for right in rights if right.namespace == namespace]):
            found.append(dict(rule, namespace=namespace) if namespace else rule)
    return found


def test_an_account_with_just_these_rights_may_do_it() -> None:
    assert asked(Scene(), rights_for(EVERYTHING))["open"]


@pytest.mark.parametrize("missing", needed_for(EVERYTHING), ids=Right.text)
def test_each_missing_right_is_named_beforehand(missing: Right) -> None:
    rest = [right for right in rights_for(EVERYTHING) if right != missing]
    result = asked(Scene(), rest)
    assert [refusal["reason"] for refusal in result["refusals"]] == ["forbidden"]
    assert f"the account may not {missing.text()}, which is needed to" in result["msg"]


def test_whoever_deletes_pods_need_not_evict_them() -> None:
    assert Right("create", "pods", "eviction") not in rights_for(["drain", "delete_pods"])


def test_the_lock_needs_rights_in_its_own_namespace_only() -> None:
    assert {right.namespace for right in rights_for(["lock"], "ops")} == {"ops"}


def test_rules_name_resources_with_the_same_verbs_together() -> None:
    rights = [Right(verb, kind, group="apps") for kind in ("deployments", "daemonsets") for verb in ("get", "list")]
    assert rules_of(rights) == [
        {"apiGroups": ["apps"], "resources": ["deployments", "daemonsets"], "verbs": ["get", "list"]}
    ]
