# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One drain of sixty pods: played, witnessed, and compared with a drain in which nothing went wrong."""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.cordon_owners import ANNOTATION
from ansible_collections.kubeops.maintenance.plugins.module_utils.reasons import Reason
from kubesim.objects import Object
from stage import ConcurrentScene

from . import population
from .mischief import Mischief

HEALING = 180.0
REASONS = frozenset(reason.value for reason in Reason)
NODE_KEYS = frozenset(
    ["name", "cordoned_before", "cordoned", "drained", "rolled_back", "resumed", "duration", "evicted", "skipped"]
    + ["pending_pods", "warnings", "affected_workloads", "volumes"]
)


@dataclass
class Witness:
    """What really happened, as the store tells.

    seen: names of the pods that were ever on the node, by uid; evicted: who was evicted; taken: who went otherwise.
    """

    seen: dict[str, str] = field(default_factory=dict)
    evicted: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def __call__(self, event: str, pod: Object, old: Object | None) -> None:
        if pod["kind"] != "Pod" or pod["spec"].get("nodeName") != population.NODE:
            return
        uid = pod["metadata"]["uid"]
        self.seen[uid] = pod["metadata"]["name"]
        reasons = [condition.get("reason") for condition in pod["status"].get("conditions") or ()]
        if "EvictionByEvictionAPI" in reasons:
            self.evicted.add(uid)
        elif event == "DELETED" or pod["metadata"].get("deletionTimestamp"):
            self.taken.add(uid)


class Trial:
    """A scene with its task, about to run."""

    def __init__(self, seed: int, disturbed: bool = True, volumes: bool = False) -> None:
        self.scene = ConcurrentScene(*population.first(), nodes=(population.NODE,), seed=seed)
        self.scene.store.load([*population.budgets(), *population.others(), *(population.volumes() if volumes else ())])
        self.scene.agenda.advance(5)
        self.scene.cluster.requests.clear()
        self.witness = Witness()
        for pod in self.scene.store.list("Pod"):
            self.witness("ADDED", pod, None)
        self.before = dict(self.witness.seen)
        self.scene.store.subscribe(self.witness)
        self.mischief = Mischief(self.scene, seed) if disturbed else None
        self._seed, self._volumes = seed, volumes
        if self.mischief is not None:
            self.scene.line.before = self.mischief.before
        if volumes:
            self._detach_when_unused()

    def _detach_when_unused(self) -> None:
        store = self.scene.store
        if not any(pod["metadata"]["name"].startswith("db-") for pod in self._on_node()):
            self.scene.agenda.after(4, lambda: store.delete("VolumeAttachment", None, "va"))
        else:
            self.scene.agenda.after(1, self._detach_when_unused)

    def _on_node(self) -> list[Object]:
        return [pod for pod in self.scene.store.list("Pod") if pod["spec"].get("nodeName") == population.NODE]

    def run(self, seconds: int = 900, **params: Any) -> dict[str, Any]:
        """Run the drain with this timeout in seconds and return its result."""
        draw = random.Random(self._seed)
        options = {
            **population.OPTIONS,
            "wait_timeout": seconds,
            "wait_sleep": draw.randint(2, 6),
            "chunk_size": draw.choice([10, 25, 500]),
        }
        params.update(wait_volume_detach=self._volumes, eviction_concurrency=draw.choice([5, 20, 30]))
        return self.scene.run(name=[population.NODE], delete_options=options, **params)

    def is_untouched(self) -> bool:
        """Return whether the task has changed nothing."""
        node = self.scene.store.get("Node", None, population.NODE) or {}
        return not (node["spec"].get("unschedulable") or ANNOTATION in str(node["metadata"]) or self.witness.evicted)

    def left(self) -> set[str]:
        """Return the uids of the pods on the node that should have gone."""
        stay = ("agent-", "apiserver")
        return {p["metadata"]["uid"] for p in self._on_node() if not p["metadata"]["name"].startswith(stay)}

    def end_state(self, result: dict[str, Any]) -> dict[str, Any]:
        """Return what is the same however the drain went."""
        node = self.scene.store.get("Node", None, population.NODE) or {}
        here = {pod["metadata"]["uid"] for pod in self._on_node()}
        everywhere = {pod["metadata"]["uid"] for pod in self.scene.store.list("Pod")}
        state = {
            "cordoned": node["spec"].get("unschedulable"),
            "owners": sorted(json.loads((node["metadata"].get("annotations") or {}).get(ANNOTATION, "{}"))),
            "gone": sorted(name for uid, name in self.before.items() if uid not in everywhere),
            "stay": sorted(_known_as(name) for uid, name in self.witness.seen.items() if uid in here),
            "outcome": (result["failed"], result["changed"], result["pending_nodes"], result["pending_pods"]),
            "drained": [(n["name"], n["drained"], n["cordoned"], n["rolled_back"]) for n in result["nodes"]],
            "attached": [v["metadata"]["name"] for v in self.scene.store.list("VolumeAttachment")],
        }
        self.scene.faults.clear()
        self.scene.agenda.advance(HEALING)
        return {**state, "workloads": self._workloads()}

    def _workloads(self) -> dict[str, Any]:
        """Return of each workload how many pods it has at work."""
        keys = {
            "Deployment": "availableReplicas",
            "StatefulSet": "availableReplicas",
            "ReplicaSet": "availableReplicas",
            "DaemonSet": "numberReady",
        }
        return {
            f"{kind}/{obj['metadata']['name']}": (obj.get("status") or {}).get(key)
            for kind, key in keys.items()
            for obj in self.scene.store.list(kind)
        }

    def faults_of(self, result: dict[str, Any], seconds: int) -> list[str]:
        """Return what is wrong with a run and its result, whatever the end was."""
        found: list[str] = []
        if self.scene.seconds > seconds + 1:
            found.append(f"{self.scene.seconds} s are past the deadline of {seconds} s")
        found += [f"the result has no {key}" for key in ("msg", "result", "state") if not result.get(key)]
        for node in result["nodes"]:
            if set(node) - {"pending_pods_total", "evicted_total"} != NODE_KEYS:
                found.append(f"odd keys: {sorted(set(node) ^ NODE_KEYS)}")
        for pod in result["pending_pods"]:
            if pod["reason"] not in REASONS or not pod["message"]:
                found.append(f"{pod['name']} is left for {pod['reason']!r}: {pod['message']!r}")
            if pod["uid"] not in self.witness.seen:
                found.append(f"{pod['name']} is said to be left and never was there")
        if result["failed"] is not bool(result["pending_nodes"]):
            found.append(f"failed is {result['failed']} with pending nodes {result['pending_nodes']}")
        return found + self._wrong_evictions(result) + self._violations()

    def _wrong_evictions(self, result: dict[str, Any]) -> list[str]:
        found: list[str] = []
        sent: Counter[str] = Counter()
        again: Counter[str] = Counter()
        for request in self.scene.requests("POST", "/eviction"):
            uid = json.loads(request.body)["deleteOptions"]["preconditions"]["uid"]
            sent[uid] += 1
            # Sent once more with a new token, it is the same try.
            again[uid] += request.status == 401
            if self.witness.seen.get(uid) != request.path.split("/")[-2]:
                found.append(f"{request.path} is asked for with uid {uid}, which was not on the node")
        told = {pod["uid"]: pod for node in result["nodes"] for pod in node["evicted"]}
        for uid, pod in told.items():
            if uid not in self.witness.evicted | self.witness.taken:
                found.append(f"{pod['name']} is said to be evicted and was not")
            if not sent[uid] - again[uid] <= pod["attempts"] <= sent[uid]:
                found.append(f"{pod['name']} is said to have cost {pod['attempts']} evictions, and did {sent[uid]}")
        gone = self.witness.evicted - {pod["metadata"]["uid"] for pod in self._on_node()}
        if not result["failed"]:
            found += [f"{self.witness.seen[uid]} was evicted and that is not told" for uid in gone - set(told)]
        if self.scene.requests("DELETE"):
            found.append("pods were deleted past their budgets")
        return found

    def _violations(self) -> list[str]:
        tightened = self.mischief.tightened if self.mischief is not None else set()
        return [str(v) for v in self.scene.cluster.controllers.violations if v["budget"] not in tightened]

    def story(self) -> str:
        """Return what went wrong in it, in order."""
        return "\n".join([f"seed {self._seed}:", *(self.mischief.told if self.mischief is not None else ())])


def _known_as(name: str) -> str:
    # Names of a DaemonSet's pods are made up.
    return name if "-" not in name else name.rsplit("-", 1)[0]


@functools.cache
def undisturbed(volumes: bool, **params: str) -> dict[str, Any]:
    """Return the end state of a drain in which nothing goes wrong."""
    trial = Trial(0, disturbed=False, volumes=volumes)
    result = trial.run(**params)
    assert trial.faults_of(result, 900) == []
    return trial.end_state(result)
