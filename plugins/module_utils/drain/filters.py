# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide for each pod of a node whether a drain evicts it, leaves it, or may not go on.

Every rule sees the whole pod and answers for itself; the answers are combined afterwards, so no rule can hide
another one. The rules are those of C(kubectl drain) (pkg/drain/filters.go), where the first match of a chain decides
and a pod without a controller gets through once its emptyDir volume is allowed.
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
    """The options of a task that decide about pods; see C(delete_options) in the documentation."""

    force: bool = False
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    skip_wait_for_delete_timeout: int = 0


@dataclass(frozen=True)
class Facts:
    """What the rules need besides the pod.

    now: seconds since 1970. daemonsets: whether each DaemonSet that owns a pod exists; None where that could not be
    read, which never makes a pod an orphan.
    """

    now: float
    daemonsets: Mapping[DaemonSetKey, bool | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """One rule's answer, or the answers of all rules combined.

    action: evict, skip or block; reason: of the closed set in the documentation, "" for a plain eviction;
    message: what follows the pod's name and a colon; warnings: what an eviction costs.
    """

    action: str
    reason: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()


def judge(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict:
    """Combine the rules: a skip wins, else any block blocks (all of them named), else the pod goes."""
    answers = [answer for answer in (rule(pod, choices, facts) for rule in RULES) if answer is not None]
    warnings = tuple(warning for answer in answers for warning in answer.warnings)
    for answer in answers:
        if answer.action == SKIP:
            return answer
    blocks = [answer for answer in answers if answer.action == BLOCK]
    if blocks:
        return Verdict(BLOCK, blocks[0].reason, "; ".join(answer.message for answer in blocks), warnings)
    return Verdict(EVICT, warnings=warnings)


def daemonset_of(pod: Obj) -> DaemonSetKey | None:
    """Return the DaemonSet that controls a running pod. Only apps/v1 counts, as in kubectl."""
    owner = controller_of(pod)
    if owner is None or owner.get("kind") != "DaemonSet" or owner.get("apiVersion") != "apps/v1":
        return None
    return None if is_finished(pod) else (namespace_of(pod), str(owner.get("name") or ""))


def long_deleted(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict | None:
    """Skip what was deleted longer ago than the user wants to wait for, as on a node whose kubelet is dead."""
    limit = choices.skip_wait_for_delete_timeout
    deleted = deletion_time(pod)
    if limit <= 0 or deleted is None or facts.now - deleted <= limit:
        return None
    return Verdict(SKIP, Reason.SKIP_DELETED, "terminating for more than %d s, and not waited for" % limit)


def mirror(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict | None:
    """Skip static pods: what the API shows is a mirror that its kubelet would only make again."""
    if not is_mirror(pod):
        return None
    return Verdict(SKIP, Reason.MIRROR, "a static pod of the node's kubelet")


def daemonset(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict | None:
    """Leave pods of DaemonSets, which come back at once; those of a vanished DaemonSet go only by force."""
    key = daemonset_of(pod)
    if key is None:
        return None
    if facts.daemonsets.get(key) is False:
        gone = "owned by DaemonSet %s, which does not exist any more" % key[1]
        if choices.force:
            return Verdict(EVICT, warnings=(gone,))
        return Verdict(BLOCK, Reason.DAEMONSET_GONE, gone + " (set delete_options.force to evict it)")
    if choices.ignore_daemonsets:
        return Verdict(SKIP, Reason.DAEMONSET, "managed by DaemonSet %s" % key[1])
    return Verdict(
        BLOCK,
        Reason.DAEMONSET,
        "managed by DaemonSet %s (set delete_options.ignore_daemonsets to leave it there)" % key[1],
    )


def emptydir(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict | None:
    """Refuse to lose an emptyDir volume's data unasked. A finished pod's data is of no use to anybody."""
    if is_finished(pod) or not has_emptydir(pod):
        return None
    if choices.delete_emptydir_data:
        return Verdict(EVICT, warnings=("the data in its emptyDir volumes will be lost",))
    return Verdict(
        BLOCK, Reason.EMPTYDIR, "it has emptyDir volumes (set delete_options.delete_emptydir_data to lose their data)"
    )


def unmanaged(pod: Obj, choices: PodOptions, facts: Facts) -> Verdict | None:
    """Refuse to delete unasked what nothing would make again. Finished pods are not needed again."""
    if is_finished(pod) or controller_of(pod) is not None:
        return None
    if choices.force:
        return Verdict(EVICT, warnings=("no controller will recreate it",))
    return Verdict(
        BLOCK, Reason.UNMANAGED, "no controller would recreate it (set delete_options.force to delete it for good)"
    )


RULES = (long_deleted, mirror, daemonset, emptydir, unmanaged)


def sort_key(pod: Obj) -> tuple[str, str]:
    """Return what pods are sorted by wherever people read them."""
    return namespace_of(pod), name_of(pod)
