# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a failed pod means to its Job, and how long the Job waits before it tries again."""

from __future__ import annotations

from dataclasses import dataclass

from ..objects import Object

FIRST_PAUSE_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 600.0


@dataclass
class Backoff:
    """The pause after failures in a row: 10 s, doubled each time, at most 10 min, forgotten at a success."""

    failures: int = 0
    last: float = 0.0

    def failed(self, now: float) -> None:
        """Count a failure."""
        self.failures += 1
        self.last = now

    def reset(self) -> None:
        """Count a success."""
        self.failures = 0

    def left(self, now: float) -> float:
        """Return the seconds until the next pod may be made."""
        if not self.failures:
            return 0.0
        pause = min(FIRST_PAUSE_SECONDS * 2.0 ** (self.failures - 1), LONGEST_PAUSE_SECONDS)
        return max(self.last + pause - now, 0.0)


def action_for(job: Object, pod: Object) -> str:
    """Return what podFailurePolicy says of a failed pod: Ignore, FailJob or Count (also without a policy)."""
    for rule in (job["spec"].get("podFailurePolicy") or {}).get("rules") or ():
        if _matches(rule, pod):
            return str(rule["action"])
    return "Count"


def _matches(rule: Object, pod: Object) -> bool:
    status = pod.get("status") or {}
    present = {(found["type"], found["status"]) for found in status.get("conditions") or ()}
    for wanted in rule.get("onPodConditions") or ():
        if (wanted["type"], wanted.get("status", "True")) in present:
            return True
    codes = rule.get("onExitCodes")
    if not codes:
        return False
    for entry in status.get("containerStatuses") or ():
        ended = (entry.get("state") or {}).get("terminated")
        if ended is None or ended["exitCode"] == 0 or codes.get("containerName") not in (None, entry["name"]):
            continue
        if (ended["exitCode"] in codes["values"]) == (codes["operator"] == "In"):
            return True
    return False
