# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the final check of a node has to remember, and how it may go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from ..errors import MaintenanceError


@dataclass
class FinalCheckState:
    """The final check of one node. Times are seconds of the monotonic clock."""

    check_at: float | None = None  # when it is repeated (set by DrainLoop); None: as soon as the pods are settled
    unconfirmed: bool = False  # only one response shows that the node is empty, or gone (set by FinalCheck)
    landed: bool = False  # a pod was scheduled onto the node since the cordon (set by NodeState)
    recheck_cordon_at: float = 0.0  # the cordon is not read again before that (set by FinalCheck)


@dataclass(frozen=True)
class Done:
    """The node is drained."""


@dataclass(frozen=True)
class Again:
    """Check the node again."""

    at: float
    error: MaintenanceError | None = None  # why, if an error is to be retried


@dataclass(frozen=True)
class Recordon:
    """Cordon the node again: somebody else has uncordoned it."""


@dataclass(frozen=True)
class Fail:
    """The node's drain has failed."""

    error: MaintenanceError | None  # None: pods are left on it that cannot be evicted


# None: go on, another message decides.
Decision = Optional[Union[Done, Again, Recordon, Fail]]  # noqa: UP007, UP045 - pylint of ansible-test knows no other way
