# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a drain, cordon or uncordon: the module at work in the simulated cluster, and what others do meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence

from golden.cases import Case, Obj
from golden.judge import DISAGREES, Deviation, End, Verdict, verdict_on
from golden.module_run import ModuleCrashed, ModuleRun
from golden.recorded_time import present
from golden.simulator import Simulator

# Seconds between two looks at the clock and at the cluster.
TICK = 0.05
# A module that takes that much longer than kubectl did hangs.
PATIENCE = 30.0


class Meanwhile:
    """What somebody else did while the command ran; each step is taken once, in order."""

    def __init__(self, simulator: Simulator, steps: Sequence[Obj]) -> None:
        self._simulator = simulator
        self._steps = sorted(steps, key=lambda step: float(step["after_s"]))

    @property
    def is_over(self) -> bool:
        """Return whether every step was taken."""
        return not self._steps

    def go_on(self, seconds: float) -> None:
        """Take the steps that are due this number of seconds after the start."""
        due = [step for step in self._steps if float(step["after_s"]) <= seconds]
        for step in due:
            if self._has_left(step.get("when_left")):
                self._steps.remove(step)
                for request in step.get("requests") or ():
                    self._simulator.perform(request)

    def _has_left(self, pods: Obj | None) -> bool:
        """Return whether all pods {labels, node} are gone from the node or being deleted."""
        return pods is None or not any(is_left(pod, pods) for pod in self._simulator.items("/api/v1/pods"))


def is_left(pod: Obj, wanted: Obj) -> bool:
    """Return whether a pod has the labels of {labels, node}, is on that node, and is not being deleted."""
    meta = pod["metadata"]
    labels = meta.get("labels") or {}
    return (
        pod["spec"].get("nodeName") == wanted["node"]
        and not meta.get("deletionTimestamp")
        and all(labels.get(key) == value for key, value in wanted["labels"].items())
    )


def play(case: Case, simulator: Simulator, deviations: Sequence[Deviation]) -> Verdict:
    """Play and judge one case."""
    with ModuleRun(case.module) as run:
        simulator.begin()
        token = simulator.token_for(case.rights)
        simulator.load(present(case, time.time()))
        started = time.monotonic()
        run.begin({**case.args, "host": simulator.url, "api_key": token, "_ansible_check_mode": case.check_mode})
        meanwhile = Meanwhile(simulator, case.during)
        while not run.has_spoken(TICK):
            meanwhile.go_on(time.monotonic() - started)
            if time.monotonic() - started > case.seconds + PATIENCE:
                return Verdict(DISAGREES, f"the module is still at work {PATIENCE:g} s after kubectl ended")
        try:
            result = run.result()
        except ModuleCrashed as exc:
            return Verdict(DISAGREES, str(exc))
        failed = bool(result.get("failed"))
        # What others did after a module that was quicker than kubectl, or gave up sooner, belongs to the case. A module
        # that succeeded answers for the moment at which it says so.
        while (failed or not meanwhile.is_over) and time.monotonic() - started < case.seconds:
            time.sleep(TICK)
            meanwhile.go_on(time.monotonic() - started)
        verdict = verdict_on(case, end_of(case, simulator, failed), deviations)
        if not run.has_ended(PATIENCE):
            return Verdict(DISAGREES, f"the module's process did not end within {PATIENCE:g} s of its result")
    if verdict.kind == DISAGREES:
        return Verdict(DISAGREES, f"{verdict.text} (the module: {result.get('msg')})")
    return verdict


def end_of(case: Case, simulator: Simulator, failed: bool) -> End:
    """Return how things are now."""
    cordoned = {
        node["metadata"]["name"] for node in simulator.items("/api/v1/nodes") if node["spec"].get("unschedulable")
    }
    left = {pod["metadata"]["uid"] for pod in simulator.items("/api/v1/pods")}
    return End(failed, frozenset(cordoned), frozenset(case.pods) - left)
