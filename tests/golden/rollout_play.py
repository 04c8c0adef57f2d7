# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a rollout status: what kubectl's watches saw happens again, at the same moments, while the module looks on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from golden.cases import Case, Obj
from golden.judge import DISAGREES, Deviation, Verdict
from golden.module_run import ModuleCrashed, ModuleRun
from golden.recorded_time import moved, present, shift
from golden.rollout_judge import Told, verdict_on
from golden.simulator import Simulator

# Seconds between two looks at the clock.
TICK = 0.02
# A module that takes that much longer than kubectl did hangs.
PATIENCE = 30.0
_CHANGES = ("ADDED", "MODIFIED", "DELETED")


@dataclass(frozen=True)
class Change:
    """What became of an object, seconds after kubectl's start; `gone` for its end."""

    seconds: float
    gone: bool
    obj: Obj


def recorded_changes(case: Case) -> list[Change]:
    """Return what kubectl saw of objects after `before`, in order; each version of an object once.

    It follows several workloads one after the other: what happened to one before its turn is in the answer to a GET.
    """
    known = {(obj["metadata"]["uid"], obj["metadata"]["resourceVersion"], False) for obj in case.before}
    found: list[Change] = []
    for change in sorted(_sightings(case), key=lambda change: change.seconds):
        meta = change.obj["metadata"]
        key = (meta["uid"], meta["resourceVersion"], change.gone)
        if key not in known:
            known.add(key)
            found.append(change)
    return found


def _sightings(case: Case) -> Iterator[Change]:
    for exchange in case.exchanges:
        for event in exchange.get("events") or ():
            kind, obj = event["event"]["type"], event["event"]["object"]
            if kind in _CHANGES:
                yield Change(float(event["t"]), kind == "DELETED", obj)
        if exchange["method"] == "GET" and exchange["status"] == 200 and exchange.get("response"):
            for obj in _objects_in(exchange["response"]):
                yield Change(float(exchange["t"]), False, obj)


def _objects_in(answer: Obj) -> Iterator[Obj]:
    """Yield the objects of an answer: one, or the items of a list, which do not say their kind."""
    if "items" in answer:
        kind = answer["kind"].removesuffix("List")
        for item in answer["items"]:
            yield {"kind": kind, "apiVersion": answer["apiVersion"], **item}
    elif (answer.get("metadata") or {}).get("uid"):
        yield answer


class Replay:
    """Let recorded changes happen in a cluster without controllers; each once, in order."""

    def __init__(self, simulator: Simulator, changes: Sequence[Change], later: int) -> None:
        self._simulator = simulator
        self._left = [Change(change.seconds, change.gone, moved(change.obj, later)) for change in changes]

    def go_on(self, seconds: float) -> None:
        """Let happen what is due this number of seconds after the start."""
        while self._left and self._left[0].seconds <= seconds:
            change = self._left.pop(0)
            if change.gone:
                self._end(change.obj)
            else:
                self._simulator.load([change.obj])

    def _end(self, obj: Obj) -> None:
        held = {key: value for key, value in obj["metadata"].items() if key != "finalizers"}
        if len(held) < len(obj["metadata"]):
            self._simulator.load([{**obj, "metadata": held}])
        group, _slash, version = obj["apiVersion"].rpartition("/")
        top = f"/apis/{group}/{version}" if group else f"/api/{version}"
        plural = obj["kind"].lower() + "s"
        path = f"{top}/namespaces/{held['namespace']}/{plural}/{held['name']}"
        self._simulator.perform({"method": "DELETE", "path": path})


def play(case: Case, simulator: Simulator, deviations: Sequence[Deviation]) -> Verdict:
    """Play and judge one case."""
    del deviations  # none are known for rollouts
    with ModuleRun(case.module) as run:
        simulator.begin()
        token = simulator.token_for(case.rights)
        now = time.time()
        simulator.load(present(case, now))
        replay = Replay(simulator, recorded_changes(case), shift(case, now))
        started = time.monotonic()
        run.begin({**case.args, "host": simulator.url, "api_key": token, "_ansible_check_mode": case.check_mode})
        while not run.has_spoken(TICK):
            seconds = time.monotonic() - started
            replay.go_on(seconds)
            if seconds > case.seconds + PATIENCE:
                return Verdict(DISAGREES, f"the module is still at work {PATIENCE:g} s after kubectl ended")
        try:
            result = run.result()
        except ModuleCrashed as exc:
            return Verdict(DISAGREES, str(exc))
        verdict = verdict_on(case, Told.by_module(result))
        if not run.has_ended(PATIENCE):
            return Verdict(DISAGREES, f"the module's process did not end within {PATIENCE:g} s of its result")
    if verdict.kind == DISAGREES:
        return Verdict(DISAGREES, f"{verdict.text} (the module: {result.get('msg')})")
    return verdict
