# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that may be given as percentages."""

from __future__ import annotations

import math


def resolve(value: int | str, total: int, round_up: bool) -> int:
    """Return an int-or-percent as a number of `total`; ValueError when it is neither."""
    if isinstance(value, int):
        return value
    if not value.endswith("%"):
        raise ValueError(f"invalid value for IntOrString: {value!r}")
    share = int(value[:-1]) * total / 100
    return math.ceil(share) if round_up else math.floor(share)
