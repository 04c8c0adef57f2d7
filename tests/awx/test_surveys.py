# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The surveys ask for variables that the playbooks and roles have, in terms that AWX and Ansible understand."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from places import ROOT
from survey_rules import fault_of_question

BOOLEAN = ["true", "false"]


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


QUESTIONS: dict[str, dict[str, Any]] = loaded("docs/awx/surveys.yml")["awx_questions"]
# Which owners there are is decided by the templates.
OF_TEMPLATES = {"node_drain_cordon_owner"}
OF_ROLES = sorted(name for name in QUESTIONS if name.startswith("node_") and name not in OF_TEMPLATES)
OF_PLAYBOOKS = sorted(set(QUESTIONS) - set(OF_ROLES) - OF_TEMPLATES)
LIMITS = {
    "gate": ["node_patch_gate_timeout", "node_patch_gate_timeout"],  # for the nodes, then for the workloads
    "patch": ["node_patch_packages_timeout"],
    "reboot": ["node_patch_reboot_timeout"],
    "return": ["node_patch_ready_timeout", "node_patch_soak"],
    "healing": ["node_patch_heal_timeout"],
}


def option(variable: str) -> dict[str, Any]:
    """Return what the role that a variable belongs to says of it."""
    role = "_".join(variable.split("_")[:2])
    specs = loaded(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]
    found: dict[str, Any] = specs["main"]["options"][variable]
    return found


@pytest.mark.parametrize("variable", QUESTIONS)
def test_awx_accepts_the_question(variable: str) -> None:
    assert fault_of_question(QUESTIONS[variable]) == ""


@pytest.mark.parametrize("variable", QUESTIONS)
def test_the_answer_goes_into_the_variable_of_that_name(variable: str) -> None:
    assert QUESTIONS[variable]["variable"] == variable


@pytest.mark.parametrize("variable", OF_ROLES)
def test_the_default_is_that_of_the_role(variable: str) -> None:
    role = "_".join(variable.split("_")[:2])
    default = loaded(f"roles/{role}/defaults/main.yml")[variable]
    asked = QUESTIONS[variable]["default"]
    assert asked == (str(default).lower() if isinstance(default, bool) else default)


@pytest.mark.parametrize("variable", OF_ROLES)
def test_the_role_takes_every_answer(variable: str) -> None:
    spec, question = option(variable), QUESTIONS[variable]
    kinds = {"int": ("integer", None), "bool": ("multiplechoice", BOOLEAN)}
    chosen = ("multiplechoice", spec["choices"]) if "choices" in spec else ("text", None)
    assert (question["type"], question.get("choices")) == kinds.get(spec["type"], chosen)


@pytest.mark.parametrize("variable", OF_PLAYBOOKS)
def test_the_playbook_names_the_variable_with_this_default(variable: str) -> None:
    playbook = ROOT / "playbooks" / f"{variable.split('_')[0]}.yml"
    words = [line.split() for line in playbook.read_text(encoding="utf-8").splitlines()]
    (default,) = [line[2] for line in words if line[:2] == ["#", variable]]
    # Which nodes to drain is a question that wants an answer each time.
    assert QUESTIONS[variable].get("default", "nodes") == default


def test_an_owner_that_can_be_chosen_is_one_that_a_template_uses() -> None:
    by_hand = [t["extra_vars"] for t in loaded("docs/awx/templates.yml")["awx_job_templates"] if "extra_vars" in t]
    owner_of_patch = loaded("roles/node_patch/defaults/main.yml")["node_patch_owner"]
    assert QUESTIONS["node_drain_cordon_owner"]["choices"] == [by_hand[0]["node_drain_cordon_owner"], owner_of_patch]


@pytest.mark.parametrize("step", LIMITS)
def test_awx_gives_each_step_the_time_that_the_role_gives_it(step: str) -> None:
    defaults = loaded("roles/node_patch/defaults/main.yml")
    assert loaded("docs/awx/vars.yml")["awx_limits"][step] >= sum(defaults[name] for name in LIMITS[step])
