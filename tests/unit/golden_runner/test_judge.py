# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a case agrees, deviates, disagrees."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden.cases import read_folder
from golden.judge import (
    AGREES,
    DEVIATES,
    DISAGREES,
    ENDS,
    Deviation,
    End,
    Verdict,
    read_deviations,
    recorded_end,
    verdict_on,
)
from golden.run import DEFAULT_FOLDER, DEVIATIONS
from golden_runner.recordings import case, node, pod

AS_KUBECTL = End(failed=False, cordoned=frozenset({"node-1"}), gone=frozenset({"uid-web"}))
REFUSED_BY_KUBECTL: dict[str, Any] = {
    "exit_code": 1,
    "stderr": "error: cannot delete Pods that declare no controller: g-made-up/web",
    "after": {"nodes": {"node-0": False, "node-1": True}, "pods": [{"uid": "uid-web"}, {"uid": "uid-kept"}]},
}
UNTOUCHED = End(failed=True, cordoned=frozenset(), gone=frozenset())
REFUSAL = Deviation("refused before the first change", re.compile("declare no controller"), "untouched")


def test_the_recorded_end_is_read_from_exit_code_and_after() -> None:
    assert recorded_end(case()) == AS_KUBECTL


def test_pods_of_other_namespaces_are_not_taken_for_gone() -> None:
    stranger = pod("stranger", namespace="elsewhere")
    assert recorded_end(case(before=[node("node-1"), pod("web"), pod("kept"), stranger])) == AS_KUBECTL


def test_the_same_end_agrees() -> None:
    assert verdict_on(case(), AS_KUBECTL, []) == Verdict(AGREES)


@pytest.mark.parametrize(
    "module, text",
    [
        (replace(AS_KUBECTL, failed=True), "the module failed and kubectl did not"),
        (replace(AS_KUBECTL, cordoned=frozenset()), "node-1 is schedulable, kubectl cordoned it"),
        (
            replace(AS_KUBECTL, cordoned=frozenset({"node-0", "node-1"})),
            "node-0 is cordoned, after kubectl it was schedulable",
        ),
        (replace(AS_KUBECTL, gone=frozenset()), "pod web is still there, kubectl made it go"),
        (
            replace(AS_KUBECTL, gone=frozenset({"uid-web", "uid-kept"})),
            "pod kept is gone, after kubectl it was still there",
        ),
        (
            End(True, frozenset(), frozenset()),
            "the module failed and kubectl did not; node-1 is schedulable, kubectl cordoned it; "
            "pod web is still there, kubectl made it go",
        ),
    ],
)
def test_every_difference_is_named(module: End, text: str) -> None:
    assert verdict_on(case(), module, []) == Verdict(DISAGREES, text)


def test_a_module_that_succeeds_where_kubectl_failed_disagrees() -> None:
    verdict = verdict_on(case(exit_code=1), AS_KUBECTL, [])
    assert verdict == Verdict(DISAGREES, "kubectl failed and the module did not")


def test_an_end_that_is_listed_deviates() -> None:
    verdict = verdict_on(case(**REFUSED_BY_KUBECTL), UNTOUCHED, [REFUSAL])
    assert verdict == Verdict(DEVIATES, "refused before the first change")


def test_a_node_that_was_cordoned_before_stays_so_in_an_untouched_end() -> None:
    recorded = case(**REFUSED_BY_KUBECTL, before=[node("node-0", unschedulable=True), node("node-1"), pod("web")])
    module = replace(UNTOUCHED, cordoned=frozenset({"node-0"}))
    assert verdict_on(recorded, module, [REFUSAL]).kind == DEVIATES


@pytest.mark.parametrize(
    "module",
    [
        replace(UNTOUCHED, failed=False),
        replace(UNTOUCHED, gone=frozenset({"uid-web"})),
        replace(UNTOUCHED, cordoned=frozenset({"node-0"})),
    ],
)
def test_no_other_end_is_excused(module: End) -> None:
    assert verdict_on(case(**REFUSED_BY_KUBECTL), module, [REFUSAL]).kind == DISAGREES


def test_a_deviation_excuses_only_what_kubectl_said() -> None:
    recorded = case(**{**REFUSED_BY_KUBECTL, "stderr": "error: something else"})
    assert verdict_on(recorded, UNTOUCHED, [REFUSAL]).kind == DISAGREES


def test_a_deviation_excuses_no_run_in_which_kubectl_succeeded() -> None:
    recorded = case(**{**REFUSED_BY_KUBECTL, "exit_code": 0})
    assert verdict_on(recorded, UNTOUCHED, [REFUSAL]).kind == DISAGREES


def test_a_listed_case_that_agrees_again_disagrees_with_the_list() -> None:
    listed = replace(REFUSAL, cases=("made-up",))
    verdict = verdict_on(case(), AS_KUBECTL, [listed])
    assert verdict == Verdict(DISAGREES, "it is listed as a deviation and is none any more: take it off the list")


@pytest.mark.parametrize("deviation", read_deviations(DEVIATIONS), ids=lambda deviation: deviation.kubectl_said.pattern)
def test_listed_deviations_speak_of_cases_that_are_there(deviation: Deviation) -> None:
    cases = {case.id: case for case in read_folder(DEFAULT_FOLDER)}
    listed = [cases[name] for name in deviation.cases]
    assert listed
    assert all(deviation.holds(case, ENDS[deviation.ends](case)) for case in listed)


def test_users_can_read_of_every_listed_deviation() -> None:
    page = Path(__file__).resolve().parents[3] / "docs/guides/kubectl.md"
    starred = [line for line in page.read_text(encoding="utf-8").splitlines() if " * |" in line]
    assert len(starred) == len(read_deviations(DEVIATIONS))
