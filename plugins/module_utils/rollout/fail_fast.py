# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide when to fail early: when what is wrong with pods means that a rollout cannot succeed (fail_early)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..objects import Obj, identity_of
from .pod_status import Problem
from .workload_status import Key

OFF, STRICT = "off", "strict"

# A container flickers between crashing and running; a reason that comes back this soon was never gone.
MAX_GAP = 10.0
# A controller needs a moment to act on a change, in which a workload seems to stand still.
CONTROLLER_DELAY = 2.0

# A problem that an event explains later has lasted since it was first seen without the explanation.
_FIRST_SEEN_AS = {
    "volume": "starting",
    "sandbox": "starting",
    "probe_failed": "not_ready",
    "quota": "not_created",
    "create_refused": "not_created",
}


class Finding(NamedTuple):
    """A problem of a workload. pod: {} for one that could not be created."""

    key: Key
    pod: Obj
    problem: Problem


@dataclass
class _Seen:
    first: float
    last: float


@dataclass
class FailFast:
    """When to fail early. mode: fail_early; window: seconds for which a reason must last."""

    mode: str
    window: float
    _seen: dict[tuple[Key, str, str], _Seen] = field(default_factory=dict)

    def record(self, findings: list[Finding], now: float) -> None:
        """Record all the findings of this moment."""
        for finding in findings:
            self._seen.setdefault(_identity(finding), _Seen(now, now)).last = now
        self._seen = {identity: seen for identity, seen in self._seen.items() if now - seen.last <= MAX_GAP}

    def age(self, finding: Finding, now: float) -> float:
        """Return for how many seconds the reason of a finding has lasted."""
        seen = self._seen.get(_identity(finding))
        return now - seen.first if seen is not None else 0.0

    def decisive(self, findings: list[Finding], now: float) -> list[Finding]:
        """Return the findings that end the task now."""
        return [finding for finding in self._faults(findings) if self._remaining(finding, now) <= 0]

    def next_due(self, findings: list[Finding], now: float) -> float | None:
        """Return in how many seconds a finding will end the task if it lasts, None if none will."""
        remaining = [self._remaining(finding, now) for finding in self._faults(findings)]
        return max(0.0, min(remaining)) if remaining else None

    def _faults(self, findings: list[Finding]) -> list[Finding]:
        return [finding for finding in findings if finding.problem.is_fault and self.mode != OFF]

    def _remaining(self, finding: Finding, now: float) -> float:
        window = self.window
        if self.mode == STRICT and finding.problem.permanent:
            # Containers and registries are believed at once; a controller may just not have acted yet.
            window = 0.0 if finding.pod else min(CONTROLLER_DELAY, self.window)
        return window - self.age(finding, now)


def _identity(finding: Finding) -> tuple[Key, str, str]:
    reason = finding.problem.reason
    # Failed pods are replaced by others that fail for the same reason; of any other reason, each pod has its own.
    pod = "" if reason == "pod_failed" else identity_of(finding.pod)
    return finding.key, _FIRST_SEEN_AS.get(reason, reason), pod
