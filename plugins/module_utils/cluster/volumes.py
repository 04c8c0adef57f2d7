# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read VolumeAttachments: which volumes are attached to a node, and to which claims they belong.

A volume is detached only when its VolumeAttachment is deleted; C(status.attached) turning false does not mean it
(https://github.com/kubernetes-csi/external-attacher/issues/215).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..objects import Obj, identity_of, mapping_at, mappings_at, name_of, namespace_of

# (namespace, name) of a PersistentVolumeClaim.
Claim = tuple[str, str]


@dataclass
class Volume:
    """A volume that is attached to a node. claim: its PersistentVolumeClaim, None if unknown."""

    attachment: str
    uid: str
    persistent_volume: str
    driver: str
    claim: Claim | None = None
    detached: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the volume as results report it."""
        namespace, name = self.claim or ("", "")
        return {
            "volume_attachment": self.attachment,
            "persistent_volume": self.persistent_volume,
            "driver": self.driver,
            "namespace": namespace,
            "claim": name,
            "detached": self.detached,
        }

    def text(self) -> str:
        """Return the volume's name for sentences."""
        return f"{self.persistent_volume} ({'/'.join(self.claim)})" if self.claim else self.persistent_volume


def claims_of(pod: Obj) -> set[Claim]:
    """Return the claims of the pod's volumes; those of ephemeral volumes are named <pod>-<volume>."""
    namespace, found = namespace_of(pod), set()
    for volume in mappings_at(pod, "spec", "volumes"):
        claim = mapping_at(volume, "persistentVolumeClaim").get("claimName")
        if claim:
            found.add((namespace, str(claim)))
        elif volume.get("ephemeral") is not None:
            found.add((namespace, f"{name_of(pod)}-{volume.get('name')}"))
    return found


def volume_on(attachment: Obj, node: str) -> Volume | None:
    """Return the volume of a VolumeAttachment if the attachment is to this node."""
    spec = mapping_at(attachment, "spec")
    volume = mapping_at(spec, "source").get("persistentVolumeName")
    if spec.get("nodeName") != node or not volume:
        return None
    return Volume(name_of(attachment), identity_of(attachment), str(volume), str(spec.get("attacher") or ""))


def claim_of(volume: Obj) -> Claim | None:
    """Return the claim that a PersistentVolume is bound to."""
    reference = mapping_at(volume, "spec", "claimRef")
    if not reference.get("name"):
        return None
    return str(reference.get("namespace") or ""), str(reference["name"])
