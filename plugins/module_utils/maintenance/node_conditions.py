# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what a node still lacks after its maintenance, and how long it has been healthy since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..cluster.nodes import daemonset_pods
from ..objects import Obj, condition_of, is_ready, mapping_at, mappings_at, uid_of
from ..reasons import UnmetReason
from ..text import abbreviate, count_noun

# The node's own cordon, which is lifted later.
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


class Taint(NamedTuple):
    """A taint. Kubernetes identifies it by key and effect."""

    key: str
    value: str
    effect: str

    def text(self) -> str:
        """Return it as kubectl writes it."""
        return f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}"


class Unmet(NamedTuple):
    """What a node still lacks: a reason that playbooks may test, and a text for people."""

    reason: UnmetReason
    message: str


@dataclass(frozen=True)
class Expected:
    """What a node must be to count as ready again. Empty: not required.

    other_boot_id: the boot id of before; daemonsets: C(namespace/name) of those that must have a ready pod here;
    taints: the only ones that the node may have beside its cordon, None for any.
    """

    other_boot_id: str = ""
    kubelet_version: str = ""
    daemonsets: tuple[str, ...] = ()
    csi_drivers: tuple[str, ...] = ()
    taints: tuple[Taint, ...] | None = None


def taints_of(node: Obj) -> list[Taint]:
    """Return the node's taints without that of its cordon."""
    return [taint_from(entry) for entry in mappings_at(node, "spec", "taints") if entry.get("key") != UNSCHEDULABLE]


def taint_from(entry: dict[str, Any]) -> Taint:
    """Return a taint from key, value and effect."""
    return Taint(*(str(entry.get(key) or "") for key in ("key", "value", "effect")))


def unmet_by_node(node: Obj, expected: Expected) -> list[Unmet]:
    """Return what the node's own object shows to be missing."""
    info = mapping_at(node, "status", "nodeInfo")
    found = []
    # First of all: a node that went down a moment ago still looks Ready and has its old kubelet.
    if expected.other_boot_id and str(info.get("bootID") or "") in ("", expected.other_boot_id):
        found.append(Unmet(UnmetReason.NOT_REBOOTED, "it has not been rebooted yet"))
    if not is_ready(node):
        ready = condition_of(node, "Ready")
        text = str(ready.get("message") or ready.get("reason") or "its kubelet has not reported")
        found.append(Unmet(UnmetReason.NOT_READY, f"it is not Ready: {text.rstrip('.')}"))
    version = str(info.get("kubeletVersion") or "")
    if expected.kubelet_version and version != expected.kubelet_version:
        text = f"its kubelet is {version or 'unknown'} and not {expected.kubelet_version}"
        found.append(Unmet(UnmetReason.KUBELET_VERSION, text))
    if expected.taints is not None:
        unexpected = [taint for taint in taints_of(node) if taint not in expected.taints]
        if unexpected:
            found.append(Unmet(UnmetReason.TAINTS, f"it has {_named('taint', [taint.text() for taint in unexpected])}"))
    return found


def unmet_by_pods(pods: list[Obj], expected: Expected) -> list[Unmet]:
    """Return which DaemonSets have no ready pod among the node's pods."""
    ready = {f"{pod['namespace']}/{pod['daemonset']}" for pod in daemonset_pods(pods) if pod["ready"]}
    missing = [name for name in expected.daemonsets if name not in ready]
    if not missing:
        return []
    return [Unmet(UnmetReason.DAEMONSET_PODS, f"it lacks a ready pod of {_named('DaemonSet', missing)}")]


def unmet_by_drivers(drivers: list[str], expected: Expected) -> list[Unmet]:
    """Return which storage drivers are not registered."""
    missing = [name for name in expected.csi_drivers if name not in drivers]
    return [Unmet(UnmetReason.CSI_DRIVERS, f"it lacks {_named('storage driver', missing)}")] if missing else []


def _named(noun: str, names: list[str]) -> str:
    return f"{count_noun(len(names), noun)} ({abbreviate(names)})"


class StableFor:
    """How long a node has been healthy without a break.

    It is the time between checks that found it healthy. A failed check proves nothing either way: the time around it
    does not count, and what counted before is kept. lasted: seconds; starts: how often it started from zero.
    """

    def __init__(self) -> None:
        self.lasted = 0.0
        self.starts = 0
        self._checked: float | None = None
        self._life: tuple[str, str] = ("", "")
        self._ready_since: object = None

    def add(self, node: Obj, now: float) -> None:
        """Count the time since the last check of a healthy node; restart if it was unhealthy in between.

        Time stamps of the node are only compared with one another, so that its clock may be wrong.
        """
        life = (uid_of(node), str(mapping_at(node, "status", "nodeInfo").get("bootID") or ""))
        ready_since = condition_of(node, "Ready").get("lastTransitionTime")
        # Only after a gap, because some kubelets write a new time with each report.
        if life != self._life or (self._checked is None and ready_since != self._ready_since):
            self.reset()
            self.starts += 1
        if self._checked is not None:
            self.lasted += now - self._checked
        self._checked, self._life, self._ready_since = now, life, ready_since

    def interrupt(self) -> None:
        """Leave out the time until the next good check."""
        self._checked = None

    def reset(self) -> None:
        """Start from zero: the node is not healthy."""
        self.lasted, self._checked = 0.0, None
