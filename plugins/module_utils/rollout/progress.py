# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress lines: how far each rollout is, and what is wrong with its pods."""

from __future__ import annotations

from ..objects import full_name, name_of
from ..runtime.clock import Deadline
from ..text import count_noun, format_duration, group_by_text
from .fail_fast import Finding
from .findings import Findings
from .watch import WorkloadWatch
from .workload import Workload

# Workloads and problems in one line.
MAX_ITEMS = 4


class RolloutProgress:
    """The state of the workloads as text; see runtime.progress.Source."""

    def __init__(self, watch: WorkloadWatch, findings: Findings, deadline: Deadline) -> None:
        self._watch = watch
        self._findings = findings
        self._deadline = deadline
        self._reported: dict[object, str] = {}

    def changes(self, detail: bool) -> str:
        """Return what has changed. Of many workloads, those that finished come first; detail: name more of them."""
        states = [(member, _state(member)) for member in self._watch.members if member.known]
        changed = [(member, state) for member, state in states if state and self._reported.get(member.target) != state]
        changed.sort(key=lambda entry: not entry[0].finished)
        limit = MAX_ITEMS * 3 if detail else MAX_ITEMS
        self._reported.update((member.target, state) for member, state in changed)
        parts = [group_by_text([(member.target.text(), state) for member, state in changed[:limit]])] if changed else []
        if len(changed) > limit:
            parts.append(f"{count_noun(len(changed) - limit, 'more workload')} changed")
        return "; ".join([*parts, *self._new_problems(limit)])

    def summary(self) -> str:
        """Return how many rollouts are complete, what some of the others wait for, and how much time is left."""
        members = self._watch.members
        waiting = [member for member in members if not member.finished]
        failed = sum(bool(member.failure) for member in members)
        parts = [f"{sum(member.done for member in members)} of {count_noun(len(members), 'workload')} rolled out"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{member.target.text()}: {_state(member)}" for member in waiting[:MAX_ITEMS] if _state(member)]
        if not self._deadline.unlimited:
            left, total = format_duration(self._deadline.remaining()), format_duration(self._deadline.seconds)
            parts.append(f"{left} of {total} left")
        return "; ".join(parts)

    def _new_problems(self, limit: int) -> list[str]:
        new: list[Finding] = []
        for finding in self._findings.findings:
            about = (finding.key, name_of(finding.pod), finding.problem.reason)
            if finding.problem.is_fault and about not in self._reported:
                self._reported[about] = finding.problem.message
                new.append(finding)
        text = group_by_text([(_subject(finding), finding.problem.message) for finding in new[:limit]])
        return [text] if text else []


def _state(member: Workload) -> str:
    """Return how far a workload is, without kubectl's start of the sentence, which names it again."""
    if member.failure:
        return f"failed: {member.failure.rstrip('.')}"
    if member.done:
        return "rolled out"
    return member.message.rpartition(" rollout to finish: ")[2].rstrip(".")


def _subject(finding: Finding) -> str:
    kind, namespace, name = finding.key
    return f"pod {full_name(finding.pod)}" if name_of(finding.pod) else f"{kind} {namespace}/{name}"
