# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs: pods until enough of them succeeded."""

from __future__ import annotations

from ..errors import ApiStatus
from ..objects import Object, controller_of, is_terminating
from . import pods
from .job_failures import Backoff, action_for
from .job_status import Tally, finish_condition, is_over, next_status, recorded_verdict
from .workqueue import WorkQueue
from .world import World

TRACKING = "batch.kubernetes.io/job-tracking"
# Changes of pods are gathered for this long before a Job is synced.
BATCH_SECONDS = 1.0
Key = tuple[str, str, str]


class Jobs:
    """Run a Job's pods, replace failed and evicted ones after a pause, count them once, and say when it is over."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queue: WorkQueue[Key] = WorkQueue(world.agenda, self._reconcile)
        self._backoff: dict[str, Backoff] = {}

    def observe(self, event: str, job: Object, old: Object | None) -> None:
        """Handle a change of a Job."""
        meta = job["metadata"]
        self._queue.add((meta["namespace"], meta["name"], meta["uid"]))

    def observe_pod(self, event: str, pod: Object, old: Object | None) -> None:
        """Handle a change of a pod."""
        owner = controller_of(pod)
        if owner and owner.get("kind") == "Job":
            self._queue.add((pod["metadata"]["namespace"], owner["name"], owner["uid"]), BATCH_SECONDS)

    def stop(self) -> None:
        """Strike everything planned."""
        self._queue.stop()

    def _reconcile(self, key: Key) -> None:
        namespace, name, uid = key
        job = self._world.store.get("Job", namespace, name)
        members = self._world.index.owned(uid, "Pod")
        if job is None or job["metadata"]["uid"] != uid or is_over(job):
            for pod in members:
                self._lift(pod)
            self._backoff.pop(uid, None)
            if job is not None and is_over(job):
                self._expire(key, job)
            return
        if is_terminating(job):
            return
        tally, verdict = self._count(job, members)
        members = self._world.index.owned(uid, "Pod")
        verdict = recorded_verdict(job) or verdict or self._verdict(job, tally)
        active = [pod for pod in members if pods.is_active(pod)]
        if verdict is not None or job["spec"].get("suspend"):
            for pod in active:
                self._world.delete(pod)
        else:
            self._adjust(key, job, members, active, tally)
        members = self._world.index.owned(uid, "Pod")
        status = next_status(job, members, tally, verdict, self._world.stamp())
        self._world.report(job, status)

    def _count(self, job: Object, members: list[Object]) -> tuple[Tally, Object | None]:
        """Add pods that ended to the tally, each once: its finalizer says that it was not counted yet."""
        status = job.get("status") or {}
        tally = {"succeeded": status.get("succeeded", 0), "failed": status.get("failed", 0)}
        backoff = self._backoff.setdefault(job["metadata"]["uid"], Backoff())
        verdict = None
        for pod in members:
            if TRACKING not in (pod["metadata"].get("finalizers") or ()):
                continue
            if pods.phase(pod) == "Succeeded":
                tally["succeeded"] += 1
                backoff.reset()
            elif pods.phase(pod) == "Failed" or (is_terminating(pod) and _counts_terminating(job)):
                action = action_for(job, pod)
                if action == "FailJob":
                    verdict = finish_condition("Failed", "PodFailurePolicy", "Pod failure policy failed the Job")
                if action != "Ignore":
                    tally["failed"] += 1
                    backoff.failed(self._world.now)
            else:
                continue
            self._lift(pod)
        return tally, verdict

    def _verdict(self, job: Object, tally: Tally) -> Object | None:
        spec = job["spec"]
        if tally["failed"] > spec.get("backoffLimit", 6):
            return finish_condition("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        completions = spec.get("completions")
        if completions is None:
            members = self._world.index.owned(job["metadata"]["uid"], "Pod")
            reached = tally["succeeded"] > 0 and not any(pods.is_active(pod) for pod in members)
        else:
            reached = tally["succeeded"] >= completions
        message = "Reached expected number of succeeded pods"
        return finish_condition("Complete", "CompletionsReached", message) if reached else None

    def _adjust(self, key: Key, job: Object, members: list[Object], active: list[Object], tally: Tally) -> None:
        spec = job["spec"]
        wanted = spec.get("parallelism", 1)
        if spec.get("completions") is not None:
            wanted = min(wanted, spec["completions"] - tally["succeeded"])
        elif tally["succeeded"]:
            wanted = min(wanted, len(active))  # a work queue that began to drain gets no more pods
        occupied = len(active)
        if not _counts_terminating(job):
            occupied += sum(is_terminating(pod) and not pods.is_finished(pod) for pod in members)
        for pod in sorted(active, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))[max(wanted, 0) :]:
            self._world.delete(pod)
        if occupied >= wanted:
            return
        pause = self._backoff[job["metadata"]["uid"]].left(self._world.now)
        if pause > 0:
            self._queue.add(key, pause)
            return
        for _missing in range(wanted - occupied):
            if self._create(job) is not None:
                return

    def _create(self, job: Object) -> ApiStatus | None:
        meta = job["metadata"]
        pod = pods.pod_of(job["spec"]["template"], job)
        labels = pod["metadata"].setdefault("labels", {})
        for prefix in ("", "batch.kubernetes.io/"):
            labels[f"{prefix}controller-uid"] = meta["uid"]
            labels[f"{prefix}job-name"] = meta["name"]
        pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
        made = pods.create(self._world, pod)
        return made if isinstance(made, ApiStatus) else None

    def _lift(self, pod: Object) -> None:
        if TRACKING in (pod["metadata"].get("finalizers") or ()):
            self._world.change(pod, lambda obj: obj["metadata"]["finalizers"].remove(TRACKING))

    def _expire(self, key: Key, job: Object) -> None:
        lifetime = job["spec"].get("ttlSecondsAfterFinished")
        if lifetime is None:
            return
        left = is_over(job) + lifetime - self._world.now
        if left > 0:
            self._queue.add(key, left)
        else:
            self._world.delete(job)


def _counts_terminating(job: Object) -> bool:
    """Return whether a pod counts as failed, and is replaced, as soon as its deletion begins."""
    default = "Failed" if job["spec"].get("podFailurePolicy") else "TerminatingOrFailed"
    return bool((job["spec"].get("podReplacementPolicy") or default) == "TerminatingOrFailed")
