# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the workloads and their pods: when to look it up, what to fail for, what to put in the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..api.rest import Rest
from ..cluster.workloads import Workloads
from ..objects import Obj, identity_of, is_terminating, mapping_at, name_of
from ..runtime.workers import Message, Workers
from .fail_fast import OFF, STRICT, FailFast, Finding
from .options import RolloutTask
from .pod_lookup import FEW_EVENTS, MAX_EVENTS, PodLookup
from .pod_status import Problem, why_not_ready
from .workload import Workload
from .workload_status import Key, leaving_pods_line, missing_pods_problem, workload_problem

# Pods are looked up only for a rollout that made no progress for this many seconds.
STALL_SECONDS = {STRICT: 1.0}
MAX_STALL_SECONDS = 5.0
# Seconds after which events are requested about a pod that is still starting or not ready.
MAX_UNEXPLAINED_SECONDS = 30.0
# Seconds between two attempts to explain such a pod.
RECHECK_SECONDS = 5.0
# Reasons that an event about the pod, or about the workload that lacks one, may explain.
UNEXPLAINED = ("starting", "not_ready", "not_created")


@dataclass
class PendingPod:
    """A pod that keeps a rollout from completing, for the result. pod: {} for one that does not exist."""

    workload: Workload
    pod: Obj
    problem: Problem
    last_log: str = ""
    decisive: bool = False


@dataclass
class Findings:
    """What is wrong with the workloads of a task. decisive: those of the findings that end the task early."""

    task: RolloutTask
    workers: Workers
    rest: Rest
    client: Workloads
    findings: list[Finding] = field(default_factory=list)
    decisive: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._keys: set[Key] = set()
        self._lookup = PodLookup(self.workers, self.rest, self.client, self._keys)
        window = self.task.fail_early_window
        self._fail_fast = FailFast(self.task.fail_early, window)
        self._enabled = self.task.fail_early != OFF and self.task.watch
        self._stall_seconds = STALL_SECONDS.get(self.task.fail_early, min(MAX_STALL_SECONDS, window / 5))
        self._unexplained_seconds = min(MAX_UNEXPLAINED_SECONDS, window / 3)

    @property
    def notes(self) -> list[str]:
        """Return what could not be read."""
        return list(self._lookup.notes.values())

    def on_message(self, message: Message, now: float) -> None:
        """Handle a response to one of the lookups."""
        self._lookup.on_message(message, now)

    def update(self, members: list[Workload], now: float) -> None:
        """Request the pods that are needed, finish workloads with strict semantics, decide whether to fail early."""
        self._keys.update(key_of(member) for member in members)
        active = [member for member in members if member.known and not member.finished]
        for namespace, those in _by_namespace(active).items():
            if any(self._needs_pods(member, now) for member in those):
                everyone = [member for member in members if member.target.namespace == namespace]
                self._lookup.request_pods(namespace, everyone, self.task.watch)
        if self.task.strict:
            for member in active:
                self._check_leaving_pods(member)
        if self._enabled:
            self.findings = self._find([member for member in active if not member.finished], now)
            self._fail_fast.record(self.findings, now)
            self.decisive = self._fail_fast.decisive(self.findings, now)

    def wakes(self, members: list[Workload], now: float) -> list[float]:
        """Return in how many seconds to update the findings even without a new event."""
        if not self._enabled:
            return []
        times = [
            member.changed_at + self._stall_seconds - now
            for member in members
            if member.known and not member.finished and not self._needs_pods(member, now)
        ]
        due = self._fail_fast.next_due(self.findings, now)
        times += [due] if due is not None else []
        ages = [self._fail_fast.age(finding, now) for finding in self.findings]
        return times + [
            self._unexplained_seconds - age if age < self._unexplained_seconds else RECHECK_SECONDS for age in ages
        ]

    def use_client(self, client: Workloads) -> None:
        """Send requests through another client from now on: that of the task may be out of time."""
        self._lookup.use_client(client)

    def collect(self, stuck: list[Workload], now: float) -> bool:
        """Request all that explains a failure; return whether a response is still to come."""
        for namespace, those in _by_namespace(stuck).items():
            if not self._lookup.listed(namespace):
                self._lookup.request_pods(namespace, those, watch=False)
        decisive = {identity_of(finding.pod) for finding in self.decisive}
        found = self._find(stuck, now, collect=True)
        for finding in sorted(found, key=lambda finding: identity_of(finding.pod) not in decisive):
            self._lookup.log(finding.pod, finding.problem, fetch=True)
        return self._lookup.busy

    def pending_pods(self, stuck: list[Workload], now: float) -> list[PendingPod]:
        """Return what is known about the pods of workloads that are not rolled out."""
        decisive = {(finding.key, identity_of(finding.pod)) for finding in self.decisive}
        pending = []
        for member in stuck:
            why = self._lookup.pods_error(member.target.namespace)
            if why:
                pending.append(PendingPod(member, {}, Problem("forbidden", f"has pods that cannot be read: {why}")))
            for finding in self._find([member], now, terminating=True):
                log = self._lookup.log(finding.pod, finding.problem, fetch=False)
                is_decisive = (finding.key, identity_of(finding.pod)) in decisive
                pending.append(PendingPod(member, finding.pod, finding.problem, log, is_decisive))
        return pending

    def _needs_pods(self, member: Workload, now: float) -> bool:
        return member.complete or (self._enabled and now - member.changed_at >= self._stall_seconds)

    def _check_leaving_pods(self, member: Workload) -> None:
        """With strict semantics, let a rollout with complete counts wait for the pods that must still go."""
        namespace, status = member.target.namespace, mapping_at(member.obj, "status")
        if not member.complete:
            return
        if member.target.kind == "Deployment" and status.get("terminatingReplicas") is not None:
            member.set_pods_line("")
        elif self._lookup.pods_error(namespace):
            why = self._lookup.pods_error(namespace)
            member.failure = f"semantics=strict needs its pods, which cannot be read: {why}"
        elif self._lookup.listed(namespace):
            pods = self._lookup.pods_of(key_of(member))
            member.set_pods_line(leaving_pods_line(member.target.kind, member.obj, pods))

    def _find(
        self, members: list[Workload], now: float, collect: bool = False, terminating: bool = False
    ) -> list[Finding]:
        """Return what is wrong with workloads. collect: request what explains it; terminating: add those pods."""
        found: list[Finding] = []
        for member in members:
            key, own = key_of(member), workload_problem(member.target.kind, member.obj)
            if own is not None:
                found.append(Finding(key, {}, own))
            pods = self._lookup.pods_of(key)
            candidates = [self._pod_finding(member, pod, now, collect) for pod in sorted(pods, key=name_of)]
            not_ready = [finding for finding in candidates if finding is not None]
            those = [finding for finding in not_ready if not is_terminating(finding.pod)]
            if terminating and (self.task.strict or not those):
                # A pod that does not terminate may be what its successor waits for.
                those += [finding for finding in not_ready if is_terminating(finding.pod)]
            found += those
            if own is None and not those and self._lookup.listed(member.target.namespace):
                found += self._missing_pods_finding(member, pods, now, collect)
        return found

    def _pod_finding(self, member: Workload, pod: Obj, now: float, collect: bool) -> Finding | None:
        key, namespace, uid = key_of(member), member.target.namespace, identity_of(pod)
        problem = why_not_ready(pod, self._lookup.events(namespace, uid, now))
        if problem is None:
            return None
        finding = Finding(key, pod, problem)
        explain = collect or self._fail_fast.age(finding, now) >= self._unexplained_seconds
        new = self._lookup.is_new(member, pod, fetch=problem.is_fault or explain)
        if new is False and not is_terminating(pod):
            return None
        unexplained = problem.reason in UNEXPLAINED or (collect and problem.reason == "image_pull")
        if explain and new and unexplained:
            self._lookup.events(namespace, uid, now, MAX_EVENTS if collect else FEW_EVENTS)
        # A pod that may be of an old revision is reported as not ready, but it decides nothing.
        return finding if new else finding._replace(problem=problem._replace(is_fault=False))

    def _missing_pods_finding(self, member: Workload, pods: list[Obj], now: float, collect: bool) -> Iterable[Finding]:
        namespace, uid = member.target.namespace, identity_of(member.obj)
        events = self._lookup.events(namespace, uid, now)
        problem = missing_pods_problem(member.target.kind, member.obj, pods, events)
        if problem is None:
            return
        finding = Finding(key_of(member), {}, problem)
        if collect or self._fail_fast.age(finding, now) >= self._unexplained_seconds:
            self._lookup.events(namespace, uid, now, MAX_EVENTS if collect else FEW_EVENTS)
        yield finding


def key_of(member: Workload) -> Key:
    """Return the key by which the pods of a workload are found."""
    return member.target.kind, member.target.namespace, member.target.name


def _by_namespace(members: list[Workload]) -> dict[str, list[Workload]]:
    found: dict[str, list[Workload]] = {}
    for member in members:
        found.setdefault(member.target.namespace, []).append(member)
    return found
