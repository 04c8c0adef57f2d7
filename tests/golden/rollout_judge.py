# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a rollout status ended as kubectl's did: it failed if kubectl failed, and its last line is the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from golden.cases import Case, Obj
from golden.judge import AGREES, DISAGREES, Verdict

# Whose line it is; lines about StatefulSets do not say.
_SUBJECT = re.compile(r'(?:deployment|daemon set) "[^"]+"')
_ERROR = re.compile(r"^[Ee]rror(?: from server \(\w+\))?: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """Whether a run failed, and its status lines in order."""

    failed: bool
    lines: tuple[str, ...]

    @classmethod
    def by_kubectl(cls, case: Case) -> Told:
        """Return what kubectl told."""
        return cls(case.exit_code != 0, tuple(line for line in case.stdout.splitlines() if line.strip()))

    @classmethod
    def by_module(cls, result: Obj) -> Told:
        """Return what the module told."""
        return cls(bool(result.get("failed")), tuple(result.get("messages") or ()))

    def last_lines(self) -> dict[str, str]:
        """Return the last line by its subject: kubectl tells of several workloads one after the other."""
        return {(found.group() if (found := _SUBJECT.search(line)) else ""): line for line in self.lines}


def verdict_on(case: Case, module: Told) -> Verdict:
    """Judge what the module told.

    kubectl prints the line that makes it fail as an error, and the module as its last status line or as its message:
    the line before it, or it, has to be the module's last.
    """
    kubectl, found = Told.by_kubectl(case), []
    if kubectl.failed != module.failed:
        found.append(
            "kubectl failed and the module did not" if kubectl.failed else "the module failed and kubectl did not"
        )
    error = _ERROR.search(case.stderr)
    allowed = [error.group(1)] if error and kubectl.failed else []
    found += differences(kubectl.last_lines(), module.last_lines(), allowed)
    return Verdict(DISAGREES, "; ".join(found)) if found else Verdict(AGREES)


def differences(kubectl: dict[str, str], module: dict[str, str], allowed: Sequence[str]) -> list[str]:
    """Return a clause for each workload of which the last line is another one; `allowed` may always be the last."""
    found = []
    for subject in dict.fromkeys([*kubectl, *module]):
        ours, theirs = module.get(subject), kubectl.get(subject)
        if ours != theirs and (ours is None or ours not in allowed):
            found.append(f"the last line is {ours!r} and was {theirs!r} of kubectl")
    return found
