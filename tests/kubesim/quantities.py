# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities of resources as the API writes them: 250m, 2, 1Gi."""

from __future__ import annotations

from fractions import Fraction

from .objects import Object

_SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", 1)},
}


def amount(quantity: object) -> Fraction:
    """Read a quantity; ValueError when it is none."""
    text = str(quantity).strip()
    for length in (2, 1):
        factor = _SUFFIXES.get(text[-length:])
        if factor is not None and len(text) > length:
            return Fraction(text[:-length]) * factor
    return Fraction(text)


def written(value: Fraction, resource: str) -> str:
    """Write an amount: cpu in cores or millicores, bytes in the largest unit that leaves a whole number."""
    if value.denominator != 1:
        return f"{-(-value * 1000 // 1)}m"
    if resource.endswith(("memory", "storage")) and value:
        for unit in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
            if value % _SUFFIXES[unit] == 0:
                return f"{value // _SUFFIXES[unit]}{unit}"
    return str(value)


def of_pod(pod: Object, part: str, resource: str) -> Fraction:
    """Return the pod's `requests` or `limits` of a resource: its containers' sum, or an init container's if larger."""
    spec = pod["spec"]

    def of(container: Object) -> Fraction:
        given = container.get("resources") or {}
        asked = (given.get(part) or {}).get(resource)
        if asked is None and part == "requests":
            asked = (given.get("limits") or {}).get(resource)
        return amount(asked) if asked is not None else Fraction(0)

    together = sum((of(container) for container in spec.get("containers") or ()), Fraction(0))
    return max([together, *(of(container) for container in spec.get("initContainers") or ())])
