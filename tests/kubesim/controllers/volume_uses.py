# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which PersistentVolumes a pod uses, and the words about them."""

from __future__ import annotations

from dataclasses import dataclass

from ..objects import Object
from ..store import Store


@dataclass(frozen=True)
class Use:
    """A volume of a pod that a claim stands for; `claim` and `volume` are None where they do not exist."""

    name: str
    claim_name: str
    claim: Object | None
    volume: Object | None


def uses_of(store: Store, pod: Object) -> list[Use]:
    """Return the pod's volumes that are claims, in their order."""
    namespace, found = pod["metadata"]["namespace"], []
    for entry in pod["spec"].get("volumes") or ():
        named = (entry.get("persistentVolumeClaim") or {}).get("claimName")
        if "ephemeral" in entry:
            named = f"{pod['metadata']['name']}-{entry['name']}"
        if named:
            claim = store.get("PersistentVolumeClaim", namespace, named)
            bound = ((claim or {}).get("spec") or {}).get("volumeName")
            found.append(
                Use(entry["name"], named, claim, store.get("PersistentVolume", None, bound) if bound else None)
            )
    return found


def is_bound(claim: Object) -> bool:
    """Return whether a claim has its volume."""
    return bool((claim.get("status") or {}).get("phase") == "Bound" and claim["spec"].get("volumeName"))


def driver_of(volume: Object) -> str:
    """Return the CSI driver of a volume, nothing for one that needs no attaching."""
    return str((volume["spec"].get("csi") or {}).get("driver", ""))


def note_of(obj: Object, name: str) -> str | None:
    """Return an annotation."""
    found: str | None = (obj["metadata"].get("annotations") or {}).get(name)
    return found


def seconds_in(obj: Object, name: str, default: float) -> float:
    """Return the number in an annotation, or the default where it is missing or no number."""
    try:
        return float(note_of(obj, name) or "")
    except ValueError:
        return default
