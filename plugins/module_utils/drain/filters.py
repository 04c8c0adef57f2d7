# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide for each pod of a node whether a drain evicts it, skips it, or must not evict it.

The rules are those of C(kubectl drain) (pkg/drain/filters.go). There the first match decides, so that a pod without a
controller is evicted once its emptyDir volume is allowed. Here every rule is applied, and the verdicts are combined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..objects import (
    Obj,
    controller_of,
    deletion_time,
    has_emptydir,
    is_finished,
    is_mirror,
    name_of,
    namespace_of,
)
from ..reasons import Reason

EVICT = "evict"
SKIP = "skip"
BLOCK = "block"

# (namespace, name) of a DaemonSet.
DaemonSetKey = tuple[str, str]


@dataclass(frozen=True)
class PodOptions:
    """The options that the rules depend on; see C(delete_options) in the documentation."""

    force: bool
    ignore_daemonsets: bool
    delete_emptydir_data: bool
    skip_wait_for_delete_timeout: int


@dataclass(frozen=True)
class Facts:
    """What the rules need besides the pod.

    now: seconds since 1970. daemonsets: whether each DaemonSet that owns a pod exists; None where that could not be
    read, which counts as existing.
    """

    now: float
    daemonsets: Mapping[DaemonSetKey, bool | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The result of one rule, or of all rules combined.

    action: evict, skip or block; reason: None for evict; message: text to put after the pod's name and a colon;
    warnings: what the eviction costs.
    """

    action: str
    reason: Reason | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()


def judge(pod: Obj, options: PodOptions, facts: Facts) -> Verdict:
    """Combine the rules: skip if any rule skips, else block with all messages if any blocks, else evict."""
    verdicts = [verdict for verdict in (rule(pod, options, facts) for rule in RULES) if verdict is not None]
    warnings = tuple(warning for verdict in verdicts for warning in verdict.warnings)
    for verdict in verdicts:
        if verdict.action == SKIP:
            return verdict
    blocks = [verdict for verdict in verdicts if verdict.action == BLOCK]
    if blocks:
        return Verdict(BLOCK, blocks[0].reason, "; ".join(verdict.message for verdict in blocks), warnings)
    return Verdict(EVICT, warnings=warnings)


def daemonset_of(pod: Obj) -> DaemonSetKey | None:
    """Return the DaemonSet that controls a running pod. Only apps/v1 counts, as in kubectl."""
    owner = controller_of(pod)
    if owner is None or owner.get("kind") != "DaemonSet" or owner.get("apiVersion") != "apps/v1":
        return None
    return None if is_finished(pod) else (namespace_of(pod), str(owner.get("name") or ""))


def long_deleted(pod: Obj, options: PodOptions, facts: Facts) -> Verdict | None:
    """Skip pods whose deletion is longer ago than skip_wait_for_delete_timeout, as on a node whose kubelet is dead."""
    limit = options.skip_wait_for_delete_timeout
    deleted = deletion_time(pod)
    if limit <= 0 or deleted is None or facts.now - deleted <= limit:
        return None
    return Verdict(SKIP, Reason.SKIP_DELETED, f"terminating for more than {limit} s, and not waited for")


def mirror(pod: Obj, options: PodOptions, facts: Facts) -> Verdict | None:
    """Skip static pods: the API has only a mirror pod, which the kubelet would recreate."""
    if not is_mirror(pod):
        return None
    return Verdict(SKIP, Reason.MIRROR, "a static pod of the node's kubelet")


def daemonset(pod: Obj, options: PodOptions, facts: Facts) -> Verdict | None:
    """Skip pods of DaemonSets, which would be recreated here; require force if the DaemonSet does not exist."""
    key = daemonset_of(pod)
    if key is None:
        return None
    if facts.daemonsets.get(key) is False:
        gone = f"owned by DaemonSet {key[1]}, which does not exist any more"
        if options.force:
            return Verdict(EVICT, warnings=(gone,))
        return Verdict(BLOCK, Reason.DAEMONSET_GONE, gone + " (set delete_options.force to evict it)")
    if options.ignore_daemonsets:
        return Verdict(SKIP, Reason.DAEMONSET, f"managed by DaemonSet {key[1]}")
    return Verdict(
        BLOCK,
        Reason.DAEMONSET,
        f"managed by DaemonSet {key[1]} (set delete_options.ignore_daemonsets to leave it there)",
    )


def emptydir(pod: Obj, options: PodOptions, facts: Facts) -> Verdict | None:
    """Block pods whose emptyDir data would be lost, unless delete_emptydir_data is set or the pod is finished."""
    if is_finished(pod) or not has_emptydir(pod):
        return None
    if options.delete_emptydir_data:
        return Verdict(EVICT, warnings=("the data in its emptyDir volumes will be lost",))
    return Verdict(
        BLOCK, Reason.EMPTYDIR, "it has emptyDir volumes (set delete_options.delete_emptydir_data to lose their data)"
    )


def unmanaged(pod: Obj, options: PodOptions, facts: Facts) -> Verdict | None:
    """Block pods that no controller would recreate, unless force is set or the pod is finished."""
    if is_finished(pod) or controller_of(pod) is not None:
        return None
    if options.force:
        return Verdict(EVICT, warnings=("no controller will recreate it",))
    return Verdict(
        BLOCK, Reason.UNMANAGED, "no controller would recreate it (set delete_options.force to delete it for good)"
    )


RULES = (long_deleted, mirror, daemonset, emptydir, unmanaged)


def sort_key(pod: Obj) -> tuple[str, str]:
    """Return the key by which results and messages sort pods."""
    return namespace_of(pod), name_of(pod)
