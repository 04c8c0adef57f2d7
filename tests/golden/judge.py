# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return whether a drain, cordon or uncordon ended as kubectl's did, or as a listed deviation says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from golden.cases import Case

AGREES = "agrees"
DEVIATES = "deviates"
DISAGREES = "disagrees"


@dataclass(frozen=True)
class End:
    """How a run ended: whether it failed, the nodes that are unschedulable, the pods of `before` that are gone."""

    failed: bool
    cordoned: frozenset[str]
    gone: frozenset[str]


@dataclass(frozen=True)
class Deviation:
    """Where we do better than kubectl on purpose.

    kubectl_said: a pattern that its error output must match; ends: how the module must end then, a key of ENDS;
    cases: ids of cases that must end so. Others for which the pattern holds may.
    """

    reason: str
    kubectl_said: re.Pattern[str]
    ends: str
    cases: tuple[str, ...] = ()

    def holds(self, case: Case, module: End) -> bool:
        """Return whether the case is one that it speaks of, and ended as it says."""
        spoken_of = case.exit_code != 0 and self.kubectl_said.search(case.stderr) is not None
        return spoken_of and module == ENDS[self.ends](case)


@dataclass(frozen=True)
class Verdict:
    """What is said of a case, and why, where it does not simply agree."""

    kind: str
    text: str = ""


def read_deviations(file: Path) -> list[Deviation]:
    """Return the deviations that a YAML file lists."""
    listed: list[Mapping[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [
        Deviation(entry["reason"], re.compile(entry["kubectl_said"]), entry["ends"], tuple(entry["cases"]))
        for entry in listed
    ]


def recorded_end(case: Case) -> End:
    """Return how kubectl's run ended."""
    left = {pod["uid"] for pod in case.after["pods"]}
    cordoned = frozenset(name for name, closed in case.after["nodes"].items() if closed)
    return End(case.exit_code != 0, cordoned, frozenset(case.pods) - left)


def untouched_end(case: Case) -> End:
    """Return how a run ends that fails before its first change."""
    closed = {
        obj["metadata"]["name"]
        for obj in case.before
        if obj["kind"] == "Node" and (obj.get("spec") or {}).get("unschedulable")
    }
    return End(True, frozenset(closed), frozenset())


# How a run may end that deviates.
ENDS: dict[str, Callable[[Case], End]] = {"untouched": untouched_end}


def differences(case: Case, kubectl: End, module: End) -> list[str]:
    """Return a clause for each thing that differs between two ends."""
    found = []
    if kubectl.failed != module.failed:
        found.append(
            "kubectl failed and the module did not" if kubectl.failed else "the module failed and kubectl did not"
        )
    for name in sorted(kubectl.cordoned - module.cordoned):
        found.append(f"{name} is schedulable, kubectl cordoned it")
    for name in sorted(module.cordoned - kubectl.cordoned):
        found.append(f"{name} is cordoned, after kubectl it was schedulable")
    for name in sorted(case.pods[uid] for uid in kubectl.gone - module.gone):
        found.append(f"pod {name} is still there, kubectl made it go")
    for name in sorted(case.pods[uid] for uid in module.gone - kubectl.gone):
        found.append(f"pod {name} is gone, after kubectl it was still there")
    return found


def verdict_on(case: Case, module: End, deviations: Sequence[Deviation]) -> Verdict:
    """Judge a case's end."""
    kubectl = recorded_end(case)
    if module == kubectl:
        if any(case.id in deviation.cases for deviation in deviations):
            return Verdict(DISAGREES, "it is listed as a deviation and is none any more: take it off the list")
        return Verdict(AGREES)
    for deviation in deviations:
        if deviation.holds(case, module):
            return Verdict(DEVIATES, deviation.reason)
    return Verdict(DISAGREES, "; ".join(differences(case, kubectl, module)))
