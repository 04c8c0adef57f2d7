# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in a trial: drawn from a seed, armed for the requests of the task as they come."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from drain.situations import no_budget, status
from kubesim.objects import Object, is_terminating
from stage import Scene

from . import population

MOST = 200
# Four requests of five go wrong until there were so many.
RATE = 0.8
PAGE = "<html><body><h1>Bad Gateway</h1></body></html>"
STATUSES = (408, 409, 429, 500, 502, 503, 504)

Spec = dict[str, Any]


class Mischief:
    """Disturb one scene, reproducibly: the same seed and the same requests give the same faults."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self._scene = scene
        self._draw = random.Random(seed)
        self._sent = 0
        self._tokens = 0
        self.told: list[str] = []
        self.struck = 0
        # Names of budgets that others have made stricter.
        self.tightened: set[str] = set()
        self._plans = sorted(self._planned(), key=lambda plan: plan[0])

    def _planned(self) -> list[tuple[int, Callable[[], None]]]:
        """Return what others do, each with the number of the request that it comes after."""
        what: list[Callable[[], None]] = [
            self._outage,
            self._outage,
            self._no_leader,
            self._new_token,
            self._new_token,
            self._loosen,
            self._tighten,
            self._renew_budget,
            self._take_pod,
            self._take_pod,
            self._take_pod,
        ]
        what += [lambda number=number: self._late(number) for number in range(3)]  # type: ignore[misc]
        if self._draw.random() < 0.6:
            what.append(self._uncordon)
        return [(self._draw.randint(4, 200), deed) for deed in what]

    def before(self, method: str, target: str) -> None:
        """Arm what is to go wrong with this request. The first is spared: who never answered is the wrong server."""
        self._sent += 1
        while self._plans and self._plans[0][0] <= self._sent:
            deed = self._plans.pop(0)[1]
            self._scene.agenda.after(self._draw.uniform(0, 3), deed)
        if self._sent > 1 and self.struck < MOST and self._draw.random() < RATE:
            fault = self._fault(method, target)
            self.struck += 1
            self._tell(f"{method} {target[:70]}: {fault}")
            self._scene.faults.add(fault)

    def _tell(self, text: str) -> None:
        self.told.append(f"{self._scene.seconds:7.2f} {self._sent:4} {text}")

    def _fault(self, method: str, target: str) -> Spec:
        kinds: list[Callable[[], Spec]] = [self._status, self._status, self._status, self._reset, self._delay]
        if "watch=true" in target:
            kinds += [self._watch] * 6
        elif target.endswith("/eviction"):
            kinds += [lambda: self._eviction(target)] * 3
        elif "continue=" in target:
            kinds += [lambda: {"path": "continue=", "status": 410}] * 2
        return self._draw.choice(kinds)()

    def _status(self) -> Spec:
        spec: Spec = {"status": self._draw.choice(STATUSES)}
        body = self._draw.choice(["own", "page", "nothing", "leader"])
        if body == "page":
            spec["body_text"] = PAGE
        elif body == "nothing":
            spec["body_text"] = ""
        elif body == "leader":
            spec.update(status=500, json=status(500, "etcdserver: leader changed", "InternalError"))
        if spec["status"] in (429, 503) and self._draw.random() < 0.6:
            spec["headers"] = {"Retry-After": self._draw.randint(1, 5)}
        return spec

    def _reset(self) -> Spec:
        return {"reset": self._draw.choice(["before", "after"])}

    def _delay(self) -> Spec:
        long = self._draw.random() < 0.15
        return {"delay": round(self._draw.uniform(10, 45) if long else self._draw.uniform(0.05, 3), 2)}

    def _watch(self) -> Spec:
        how = self._draw.choice(["silent", "end", "expire", "drop"])
        count = self._draw.randint(1, 6)
        return {"watch": how if self._draw.random() < 0.4 else f"{how}:{count}"}

    def _eviction(self, target: str) -> Spec:
        path, _sub = target.rsplit("/", 1)
        pod = self._scene.store.get("Pod", "default", path.rsplit("/", 1)[1])
        app = ((pod or {}).get("metadata", {}).get("labels") or {}).get("app", "")
        if pod is not None and app in population.UNGUARDED and self._draw.random() < 0.4:
            body = {"gracePeriodSeconds": self._draw.choice([0, 30])}
            return {"mutate": [{"method": "DELETE", "path": path, "body": body}], "pass": True}
        text = f"The disruption budget {app or 'web'} needs 5 healthy pods and has 4 currently"
        stale = f"The disruption budget {app or 'web'} is still being processed by the server."
        webhook = 'Internal error occurred: failed calling webhook "x.example": connection refused'
        return self._draw.choice(
            [
                {"status": 429, "json": no_budget(text)},
                {"status": 429, "json": no_budget(stale, retryAfterSeconds=10), "headers": {"Retry-After": 10}},
                {"status": 429, "json": status(429, "too many requests", "TooManyRequests")},
                {"status": 500, "json": status(500, webhook, "InternalError")},
                {"status": 404, "body_text": PAGE},
            ]
        )

    def _outage(self) -> None:
        seconds = round(self._draw.uniform(1, 30), 1)
        self._tell(f"the API server is away for {seconds} s")
        self._scene.cluster.outage(seconds)

    def _no_leader(self) -> None:
        start = self._scene.agenda.now - self._scene.agenda.started
        seconds = round(self._draw.uniform(5, 30), 1)
        self._tell(f"no leader for {seconds} s")
        gone = status(500, "etcdserver: no leader", "InternalError")
        self._scene.faults.add({"status": 500, "json": gone, "times": 0, "from": start, "until": start + seconds})

    def _new_token(self) -> None:
        self._tokens += 1
        access, fresh = self._scene.cluster.access, f"token-{self._tokens}"
        self._tell("another token")
        access.grant({"tokens": {fresh: {"user": "admin", "rules": "*"}}})
        access.revoke("admintoken" if self._tokens == 1 else f"token-{self._tokens - 1}")
        self._scene.connection.fresh_token = fresh

    def _set_budget(self, name: str, **spec: Any) -> None:
        self._tell(f"budget {name}: {spec}")

        def change(budget: Object) -> None:
            budget["spec"] = {"selector": budget["spec"]["selector"], **spec}

        self._scene.store.mutate("PodDisruptionBudget", "default", name, change)

    def _loosen(self) -> None:
        self._set_budget("web", maxUnavailable=self._draw.randint(4, 8))

    def _tighten(self) -> None:
        name = self._draw.choice(["web", "api", "db"])
        self.tightened.add(name)
        self._set_budget(name, maxUnavailable=0)
        self._scene.agenda.after(self._draw.uniform(2, 20), lambda: self._set_budget(name, maxUnavailable=2))

    def _renew_budget(self) -> None:
        name = self._draw.choice(["api", "batch"])
        found = self._scene.store.get("PodDisruptionBudget", "default", name)
        if found is not None:
            self._tell(f"budget {name} is deleted and made anew")
            self._scene.store.delete("PodDisruptionBudget", "default", name)
            fresh = {key: found[key] for key in ("apiVersion", "kind", "spec")}
            meta = {"name": name, "namespace": "default"}
            self._scene.agenda.after(2, lambda: self._scene.store.create({**fresh, "metadata": meta}))

    def _take_pod(self) -> None:
        pods = [
            pod
            for pod in self._scene.store.list("Pod")
            if (pod["metadata"].get("labels") or {}).get("app") in population.UNGUARDED
            and pod["spec"].get("nodeName") == population.NODE
            and not is_terminating(pod)
        ]
        if pods:
            meta = self._draw.choice(pods)["metadata"]
            self._tell(f"somebody deletes {meta['name']}")
            self._scene.store.delete("Pod", "default", meta["name"], grace=self._draw.choice([0, 30]))

    def _late(self, number: int) -> None:
        self._tell(f"late-{number} lands on the node")
        self._scene.store.load([population.latecomer(number)])

    def _uncordon(self) -> None:
        self._tell("somebody uncordons the node")
        self._scene.store.mutate("Node", None, population.NODE, lambda node: node["spec"].pop("unschedulable", None))
