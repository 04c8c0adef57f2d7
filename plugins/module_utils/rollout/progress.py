# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell how rollouts get on: how far each is, and what its pods stumble over."""

from __future__ import annotations

from ..objects import full_name, name_of
from ..runtime.clock import Deadline
from ..text import count_noun, format_duration, group_by_text
from .diagnosis import Finding
from .evidence import Findings
from .watch import WorkloadWatch
from .workload import Workload

# Workloads and troubles of which one line tells.
MOST = 4


class RolloutProgress:
    """What there is to tell of the workloads; see progress.Source."""

    def __init__(self, groups: WorkloadWatch, evidence: Findings, deadline: Deadline) -> None:
        self._groups = groups
        self._evidence = evidence
        self._deadline = deadline
        self._told: dict[object, str] = {}

    def changes(self, detail: bool) -> str:
        """Return what is new. Of many workloads that moved, those that ended come first; detail: name more of them."""
        fresh = [(member, _state(member)) for member in self._groups.members if member.known]
        fresh = [(member, state) for member, state in fresh if state and self._told.get(member.target) != state]
        fresh.sort(key=lambda entry: not entry[0].over)
        most = MOST * 3 if detail else MOST
        for member, state in fresh:
            self._told[member.target] = state
        parts = [group_by_text([(member.target.text(), state) for member, state in fresh[:most]])] if fresh else []
        parts += ["%s moved" % count_noun(len(fresh) - most, "more workload")] if len(fresh) > most else []
        return "; ".join([*parts, *self._troubles(most)])

    def summary(self) -> str:
        """Return how many rollouts are complete, what one of the others waits for, and how much time is left."""
        members = self._groups.members
        waiting = [member for member in members if not member.over]
        parts = ["%d of %s rolled out" % (sum(member.done for member in members), count_noun(len(members), "workload"))]
        parts += ["%d failed" % sum(bool(member.failure) for member in members)] if _any_failed(members) else []
        parts += ["%s: %s" % (member.target.text(), _state(member)) for member in waiting[:MOST] if _state(member)]
        if not self._deadline.unlimited:
            left, whole = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
            parts.append("%s of %s left" % (left, whole))
        return "; ".join(parts)

    def _troubles(self, most: int) -> list[str]:
        fresh: list[Finding] = []
        for finding in self._evidence.findings:
            about = (finding.key, name_of(finding.pod), finding.trouble.reason)
            if finding.trouble.blamed and about not in self._told:
                self._told[about] = finding.trouble.message
                fresh.append(finding)
        text = group_by_text([(_named(finding), finding.trouble.message) for finding in fresh[:most]])
        return [text] if text else []


def _state(member: Workload) -> str:
    """Return how far a workload is, without kubectl's start of the sentence, which names it once more."""
    if member.failure:
        return "failed: " + member.failure.rstrip(".")
    if member.done:
        return "rolled out"
    return member.message.rpartition(" rollout to finish: ")[2].rstrip(".")


def _named(finding: Finding) -> str:
    return "pod " + full_name(finding.pod) if name_of(finding.pod) else "%s %s/%s" % finding.key


def _any_failed(members: list[Workload]) -> bool:
    return any(member.failure for member in members)
