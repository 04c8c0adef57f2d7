# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a node's cordon, and what this task has done to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CordonState:
    """The cordon of one node. Set by Cordon (cordon.py), unless noted."""

    cordoned: bool = False  # the node is unschedulable, as far as is known
    cordoned_before: bool = False  # it was when the task started (set by Maintenance)
    claimed: bool = False  # this task cordoned it or recorded itself as an owner
    resumed: bool = False  # an earlier run of the same cordon_owner cordoned it (set by Maintenance)
    owners: tuple[object, object] | None = None  # their annotation before this task changed it, and after that
    kept_by: str = ""  # who keeps it cordoned in spite of an uncordon, "" if nobody
    cordoned_uid: str = ""  # uid of the cordoned node: another one may come under its name
    rolled_back: bool = False  # on_failure has uncordoned it again
    recordons: int = 0  # how often somebody else uncordoned it and it was cordoned again (NodeState.record_recordon)
