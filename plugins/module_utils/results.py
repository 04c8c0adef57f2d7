# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep results short: they are stored with every job, and nobody reads longer lists."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

LONGEST_LIST = 200


def bounded(values: dict[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """Cut every longer list of a result, with its full length beside it as <key>_total; return the same dict.

    whole: keys of lists that stay as they are.
    """
    for key, value in list(values.items()):
        if isinstance(value, list) and len(value) > LONGEST_LIST and key not in whole:
            values[key], values[key + "_total"] = value[:LONGEST_LIST], len(value)
    return values
