# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sentences that say how rollouts ended, what is wrong, and what to do; short also for hundreds of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..objects import full_name, name_of
from ..text import MAX_NAMES, abbreviate
from .findings import PendingPod
from .options import RolloutTask
from .pod_status import Problem
from .workload import Workload

# What to do, by reason; the message about a paused Deployment says it already. The guide on rollout status says more.
_REMEDIES = {
    "image_pull": "correct the image's name or the pull secret",
    "container_config": "create the ConfigMap, Secret or key that is missing, or correct its name in the template",
    "container_create": "correct the container's command, mounts or security context",
    "crash_loop": "see its log for why it ends",
    "oom_killed": "raise its memory limit, or find out what uses the memory",
    "init_failed": "see its log for why it fails",
    "probe_failed": "see why its probe fails, or give a slow starter a startup probe",
    "unschedulable": "free or add capacity, or correct what keeps it off the nodes",
    "volume": "see its PersistentVolumeClaim and the storage driver of its node",
    "sandbox": "see the network plugin and the container runtime of its node",
    "pod_failed": "see what its node lacks",
    "quota": "raise the quota, or let the rollout surge less",
    "create_refused": "change the template as the error asks, or ask the owner of the policy",
    "not_created": "see the events of the workload, and whether kube-controller-manager is running",
    "scheduling_gated": "find out who removes the gate",
    "starting": "give it more time (wait_timeout), or see the pod's events",
    "not_ready": "see the container's log and its readiness probe",
    "terminating": "give it more time (wait_timeout), or see what its node's kubelet is waiting for",
    "forbidden": "grant the account the right to list pods there",
}


class Ended(Protocol):
    """What the sentences are made from (see result.Report)."""

    task: RolloutTask
    seconds: float
    timed_out: bool
    cancelled: str
    unreadable: str
    pending_pods: list[PendingPod]
    notes: list[str]

    @property
    def members(self) -> list[Workload]:
        """Return the workloads."""

    @property
    def failed(self) -> bool:
        """Return whether the task failed."""


def message_of(end: Ended) -> str:
    """Return the task's C(msg)."""
    sentences = [_main(end)]
    if end.failed:
        # Those that decided are in the first sentence.
        pods = _pods([pod for pod in end.pending_pods if not pod.decisive])
        sentences += [f"Not ready: {pods}."] if pods else []
        sentences += [f"{_capitalized(note)}." for note in end.notes[:MAX_NAMES]]
    if end.task.skipped:
        sentences.append(f"Skipped, because they have no rollout: {abbreviate(end.task.skipped)}.")
    return " ".join(sentences)


def with_remedy(problem: Problem) -> str:
    """Return a problem's message, without a full stop at its end, and what to do."""
    message, remedy = problem.message.rstrip("."), _REMEDIES.get(problem.reason)
    return f"{message}; {remedy}" if remedy else message


def _main(end: Ended) -> str:
    members = end.members
    unfinished = [member for member in members if not member.finished]
    failed = [member for member in members if member.failure]
    if not members:
        return "There is no workload to wait for, which allow_empty permits."
    if end.cancelled:
        return f"The wait was {end.cancelled}: {_states(unfinished + failed)}."
    if end.unreadable:
        rest = sum(member.known for member in members)
        others = "The other workload was" if rest == 1 else f"The other {rest} workloads were"
        return f"{_capitalized(end.unreadable.rstrip('.'))}. {others} not waited for (see workloads)."
    decisive = [pod for pod in end.pending_pods if pod.decisive]
    sentences = []
    if decisive:
        pods = _pods(decisive, lambda pod: f"{pod.workload.target.text()}: ")
        sentences.append(f"Failed early (fail_early={end.task.fail_early}): {pods}.")
    if failed:
        sentences.append(f"Failed: {_states(failed)}.")
    if unfinished and not decisive:
        limit = f" within {end.task.wait_timeout} s" if end.timed_out else " yet"
        sentences.append(f"Not rolled out{limit}: {_states(unfinished)}.")
    return " ".join(sentences) or _complete(end)


def _complete(end: Ended) -> str:
    found = [member.target.text() for member in end.members if member.known]
    missing = [member.target.text() for member in end.members if not member.known]
    after = f" after {end.seconds:.0f} s" if end.seconds >= 1 else ""
    sentences = [f"Rolled out: {abbreviate(found)}{after}."] if found else []
    sentences += [f"Not found, which allow_missing permits: {abbreviate(missing)}."] if missing else []
    return " ".join(sentences)


def _states(members: list[Workload]) -> str:
    """Return what some workloads wait for or why they failed."""
    more = len(members) - MAX_NAMES
    return "; ".join(map(_state, members[:MAX_NAMES])) + (f" and {more} more" if more > 0 else "")


def _state(member: Workload) -> str:
    if member.failure:
        return f"{member.target.text()}: {member.failure.rstrip('.')}"
    return f"{member.target.text()} ({member.message.rstrip('.') or 'not checked yet'})"


def _pods(pods: list[PendingPod], prefix: Callable[[PendingPod], str] = lambda pod: "") -> str:
    """Return the pods' names and what is wrong with them; pods with the same prefix and problem are named together."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pod in pods:
        problem = with_remedy(pod.problem) + _log(pod)
        if name_of(pod.pod):
            groups.setdefault((prefix(pod), f": {problem}"), []).append(full_name(pod.pod))
        else:
            groups.setdefault(("", f" {problem}"), []).append(pod.workload.target.text())
    texts = [before + _names(names, end) + end for (before, end), names in list(groups.items())[:MAX_NAMES]]
    more = sum(len(names) for names in list(groups.values())[MAX_NAMES:])
    return "; ".join(texts) + (f"; {more} more (see pending_pods)" if more else "")


def _names(names: list[str], end: str) -> str:
    noun = "" if not end.startswith(":") else "pods " if len(names) > 1 else "pod "
    return noun + abbreviate(names)


def _log(pod: PendingPod) -> str:
    lines = pod.last_log.splitlines()
    return f"; its log ends with {lines[-1][:300]!r}" if lines else ""


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]
