# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weigh what pods tell about rollouts: whether to give one up early, and what to say of one that failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..api.rest import Rest
from ..cluster.workloads import Workloads
from ..objects import Obj, identity_of, is_terminating, mapping_at, name_of
from ..runtime.workers import Message, Workers
from .diagnosis import (
    OFF,
    STRICT,
    UNEXPLAINED,
    FailFast,
    Finding,
    Key,
    held_back,
    lacking,
    workload_trouble,
)
from .options import RolloutTask
from .pod_lookup import FEW_EVENTS, MAX_EVENTS, PodLookup
from .pod_status import Trouble, judge
from .workload import Workload

# A rollout that moves needs no look at its pods. Seconds without a move after which they are looked at.
STALL = {STRICT: 1.0}
MAX_STALL = 5.0
# Seconds after which it is worth asking for events why a pod is still starting or not ready.
MAX_VAGUE = 30.0
# How often what is still unexplained is looked at again.
AGAIN = 5.0


@dataclass
class Entry:
    """A pod that keeps a rollout from being complete, for the result. pod: {} for one that does not exist."""

    followed: Workload
    pod: Obj
    trouble: Trouble
    last_log: str = ""
    decisive: bool = False


@dataclass
class Findings:
    """What the pods of a task's workloads tell. verdict: those of the findings that end the task early."""

    task: RolloutTask
    crew: Workers
    rest: Rest
    workloads: Workloads
    findings: list[Finding] = field(default_factory=list)
    verdict: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._keys: set[Key] = set()
        self._inquiry = PodLookup(self.crew, self.rest, self.workloads, self._keys)
        self._judgement = FailFast(self.task.fail_early, self.task.fail_early_window)
        window = self.task.fail_early_window
        self._stall = STALL.get(self.task.fail_early, min(MAX_STALL, window / 5))
        self._vague = min(MAX_VAGUE, window / 3)

    @property
    def notes(self) -> list[str]:
        """Return what could not be read."""
        return list(self._inquiry.notes.values())

    def take(self, message: Message, now: float) -> None:
        """Take in an answer to a question of the inquiry."""
        self._inquiry.take(message, now)

    def review(self, members: list[Workload], now: float) -> None:
        """Look at everything anew: ask for what is needed, settle what is complete, give up what is hopeless."""
        self._keys.update(key_of(member) for member in members)
        active = [member for member in members if member.known and not member.over]
        for namespace, those in _by_namespace(active).items():
            if any(self._needs_pods(member, now) for member in those):
                everyone = [member for member in members if member.target.namespace == namespace]
                self._inquiry.want_pods(namespace, everyone, self.task.watch)
        if self.task.strict:
            for member in active:
                self._settle(member)
        if self.task.fail_early == OFF or not self.task.watch:
            return
        self.findings = self._find([member for member in active if not member.over], now, dig=False)
        self._judgement.note(self.findings, now)
        self.verdict = self._judgement.hopeless(self.findings, now)

    def wakes(self, members: list[Workload], now: float) -> list[float]:
        """Return in how many seconds what is known now is to be looked at again."""
        if self.task.fail_early == OFF or not self.task.watch:
            return []
        times = [
            member.changed_at + self._stall - now
            for member in members
            if member.known and not member.over and not self._needs_pods(member, now)
        ]
        due = self._judgement.next_due(self.findings, now)
        times += [due] if due is not None else []
        times += [
            self._vague - age if age < self._vague else AGAIN
            for age in (self._judgement.age(finding, now) for finding in self.findings)
        ]
        return times

    def dig(self, workloads: Workloads) -> None:
        """Ask through another dialogue from now on: that of the task may be out of time."""
        self._inquiry.try_again(workloads)

    def digging(self, failing: list[Workload], now: float) -> bool:
        """Ask for all that explains a failure; tell whether an answer is still to come."""
        for namespace, those in _by_namespace(failing).items():
            if not self._inquiry.listed(namespace):
                self._inquiry.want_pods(namespace, those, watch=False)
        decisive = {identity_of(finding.pod) for finding in self.verdict}
        found = self._find(failing, now, dig=True)
        for finding in sorted(found, key=lambda finding: identity_of(finding.pod) not in decisive):
            self._inquiry.log(finding.pod, finding.trouble, ask=True)
        return self._inquiry.busy

    def entries(self, failing: list[Workload], now: float) -> list[Entry]:
        """Return what is known of the pods of workloads that are not rolled out."""
        decisive = {(finding.key, identity_of(finding.pod)) for finding in self.verdict}
        entries = []
        for member in failing:
            why = self._inquiry.refused(member.target.namespace)
            if why:
                entries.append(Entry(member, {}, Trouble("forbidden", "has pods that cannot be read: " + why)))
            for finding in self._find([member], now, dig=False, leaving=True):
                log = self._inquiry.log(finding.pod, finding.trouble, ask=False)
                is_decisive = (finding.key, identity_of(finding.pod)) in decisive
                entries.append(Entry(member, finding.pod, finding.trouble, log, is_decisive))
        return entries

    def _needs_pods(self, member: Workload, now: float) -> bool:
        if member.complete:
            return True
        return self.task.fail_early != OFF and self.task.watch and now - member.changed_at >= self._stall

    def _settle(self, member: Workload) -> None:
        """Hold a rollout back that is complete by its figures while pods are still to go."""
        namespace, status = member.target.namespace, mapping_at(member.obj, "status")
        if not member.complete:
            return
        if member.target.kind == "Deployment" and status.get("terminatingReplicas") is not None:
            member.settle("")
        elif self._inquiry.refused(namespace):
            member.failure = "semantics=strict needs its pods, which cannot be read: " + self._inquiry.refused(
                namespace
            )
        elif self._inquiry.listed(namespace):
            pods = self._inquiry.pods_of(key_of(member))
            member.settle(held_back(member.target.kind, member.obj, pods))

    def _find(self, members: list[Workload], now: float, dig: bool, leaving: bool = False) -> list[Finding]:
        """Return the troubles of these workloads. dig: ask for what explains them; leaving: with terminating pods."""
        found: list[Finding] = []
        for member in members:
            key, own = key_of(member), workload_trouble(member.target.kind, member.obj)
            if own is not None:
                found.append(Finding(key, {}, own))
            pods = self._inquiry.pods_of(key)
            troubled = [self._pod_finding(member, pod, now, dig) for pod in sorted(pods, key=name_of)]
            those = [one for one in troubled if one is not None and not is_terminating(one.pod)]
            if leaving and (self.task.strict or not those):
                # A pod that does not go may be what its successor waits for.
                those += [one for one in troubled if one is not None and is_terminating(one.pod)]
            found += those
            if own is None and not those and self._inquiry.listed(member.target.namespace):
                found += self._lacking(member, pods, now, dig)
        return found

    def _pod_finding(self, member: Workload, pod: Obj, now: float, dig: bool) -> Finding | None:
        key, namespace, uid = key_of(member), member.target.namespace, identity_of(pod)
        trouble = judge(pod, self._inquiry.events(namespace, uid, now))
        if trouble is None:
            return None
        finding = Finding(key, pod, trouble)
        long = dig or self._judgement.age(finding, now) >= self._vague
        new = self._inquiry.is_new(member, pod, ask=trouble.blamed or long)
        if new is False and not is_terminating(pod):
            return None
        unexplained = trouble.reason in UNEXPLAINED or (dig and trouble.reason == "image_pull")
        if long and new and unexplained:
            self._inquiry.events(namespace, uid, now, MAX_EVENTS if dig else FEW_EVENTS)
        # Of a pod that may be an old one it can be told that it is not ready, but it decides nothing.
        return finding if new else finding._replace(trouble=trouble._replace(blamed=False))

    def _lacking(self, member: Workload, pods: list[Obj], now: float, dig: bool) -> Iterable[Finding]:
        namespace, uid = member.target.namespace, identity_of(member.obj)
        trouble = lacking(member.target.kind, member.obj, pods, self._inquiry.events(namespace, uid, now))
        if trouble is None:
            return
        finding = Finding(key_of(member), {}, trouble)
        if dig or self._judgement.age(finding, now) >= self._vague:
            self._inquiry.events(namespace, uid, now, MAX_EVENTS if dig else FEW_EVENTS)
        yield finding


def key_of(member: Workload) -> Key:
    """Return what the pods of a workload are found by."""
    return member.target.kind, member.target.namespace, member.target.name


def _by_namespace(members: list[Workload]) -> dict[str, list[Workload]]:
    found: dict[str, list[Workload]] = {}
    for member in members:
        found.setdefault(member.target.namespace, []).append(member)
    return found
