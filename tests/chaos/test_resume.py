# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that ends at any point, and the run after it."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Cancelled
from chaos.kills import Killed, die_at
from drain.situations import app, reasons
from kubesim import builders
from stage import InlineWorkers, Scene, SimConnection, drained


def scene_of_a_drain() -> Scene:
    scene = Scene(
        builders.deployment("web", 9, term=2),
        *app("slow", term=6),
        builders.daemon_set("agent"),
        nodes=("w1",),
    )
    scene.store.load([builders.node("w2"), builders.budget("web-pdb", selector={"app": "web"}, max_unavailable=3)])
    scene.agenda.advance(3)
    scene.cluster.requests.clear()
    return scene


OPTIONS: dict[str, Any] = {"delete_options": {"ignore_daemonsets": True}, "cordon_owner": "job"}


def run_again(scene: Scene) -> dict[str, Any]:
    scene.workers = InlineWorkers(scene.agenda)
    scene.connection = SimConnection(scene.cluster, scene.clock)
    return scene.run(**OPTIONS)


def end_state(scene: Scene) -> tuple[Any, ...]:
    owned = "cordon-owners" in str(scene.store.get("Node", None, "w1"))
    left = sorted(name.split("-")[0] for name in scene.pods("w1"))
    scene.agenda.advance(60)
    return scene.cordoned(), owned, left, len(scene.pods("w2")), scene.cluster.controllers.violations


@functools.cache
def undisturbed() -> tuple[Any, ...]:
    scene = scene_of_a_drain()
    scene.run(**OPTIONS)
    return end_state(scene)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("nth", range(1, 21))
def test_a_run_after_a_kill_ends_as_an_undisturbed_one(nth: int, after: bool) -> None:
    scene = scene_of_a_drain()
    die_at(scene, nth, after)
    with pytest.raises(Killed):
        scene.run(**OPTIONS)
    result = run_again(scene)
    assert result["failed"] is False
    assert end_state(scene) == undisturbed()


def test_a_run_after_a_kill_knows_its_owners_mark() -> None:
    scene = scene_of_a_drain()
    die_at(scene, 15, True)
    with pytest.raises(Killed):
        scene.run(**OPTIONS)
    assert run_again(scene)["nodes"][0]["resumed"] is True


def cancelled_at(scene: Scene, seconds: float, **params: Any) -> dict[str, Any]:
    def cancel() -> None:
        raise Cancelled("cancelled by SIGTERM")

    scene.agenda.after(seconds, cancel)
    return scene.run(**params)


def test_a_cancelled_drain_says_what_is_pending() -> None:
    scene = Scene(*app("web", term=20))
    result = cancelled_at(scene, 3)
    assert (result["failed"], result["changed"], reasons(result)) == (True, True, {"web-0": "terminating"})
    assert result["msg"].startswith("The task was cancelled by SIGTERM. Node w1 was not drained: 1 pod is left:")
    assert scene.seconds == 3.0


def test_a_drain_that_is_cancelled_while_it_lifts_its_cordon_tells_what_it_did() -> None:
    scene = Scene(*app("web", term=2), *app("db"))
    scene.faults.add({"method": "POST", "path": "db-0/eviction", "times": 0, "status": 403})
    scene.faults.add({"path": "nodes/w1", "after": 3, "delay": 5, "times": 0, "pass": True})
    result = cancelled_at(scene, 9, on_failure="uncordon", preflight="skip", delete_options={"wait_timeout": 60})
    assert (result["failed"], result["changed"], drained(result)) == (True, True, ["web-0"])
    assert result["msg"].startswith("The task was cancelled by SIGTERM. ")


def test_a_cancelled_drain_evicts_nothing_more() -> None:
    scene = Scene(*[obj for n in range(10) for obj in app(f"web{n}")])
    scene.faults.add({"method": "POST", "path": "/eviction", "delay": 1, "pass": True, "times": 0})
    cancelled_at(scene, 3.5, eviction_concurrency=1)
    sent = len(scene.requests("POST", "/eviction"))
    scene.agenda.advance(60)
    assert len(scene.requests("POST", "/eviction")) == sent < 6


def test_a_cancelled_drain_keeps_to_its_policy_for_the_cordon() -> None:
    scene = Scene(*app("web", term=20))
    result = cancelled_at(scene, 3, on_failure="uncordon")
    assert (scene.cordoned(), result["nodes"][0]["rolled_back"]) == (False, True)


def test_two_tasks_that_drain_one_node_do_not_hinder_each_other() -> None:
    scene = Scene(*app("web", term=5), *app("db", term=5))
    second: list[dict[str, Any]] = []

    def other() -> None:
        workers, scene.workers = scene.workers, InlineWorkers(scene.agenda)
        second.append(scene.run(cordon_owner="b"))
        scene.workers = workers

    scene.faults.add({"method": "POST", "path": "/eviction", "delay": 0.5, "pass": True, "times": 0})
    scene.agenda.after(0.2, other)
    first = scene.run(cordon_owner="a")
    assert (first["failed"], second[0]["failed"], scene.pods()) == (False, False, [])
    assert sorted(set(drained(first)) | set(drained(second[0]))) == ["db-0", "web-0"]
