# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that ends while it waits for volumes, or while it opens a node, and the run after it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.cluster.cordon_owners import owners_of
from chaos.kills import Killed, die_at
from drain.situations import EVICTION, app, no_budget
from drain.test_volumes import volume
from stage import InlineWorkers, Scene, SimConnection

MOMENTS = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


def killed(scene: Scene, nth: int, after: bool, **params: Any) -> bool:
    """Run a task that dies at its n-th request; return whether it came so far. The scene is ready for another run."""
    die_at(scene, nth, after)
    try:
        scene.run(**params)
        return False
    except Killed:
        return True
    finally:
        scene.workers = InlineWorkers(scene.agenda)
        scene.connection = SimConnection(scene.cluster, scene.clock)


def holders(scene: Scene, name: str = "w1") -> list[str]:
    return sorted(owners_of(scene.store.get("Node", None, name) or {}).entries)


@MOMENTS
@pytest.mark.parametrize("nth", range(8, 17))
def test_volumes_are_waited_for_by_the_run_after_a_kill(nth: int, after: bool) -> None:
    scene = Scene(*app("db", claims=["data"], term=2), *volume("pv-1", "data"))
    scene.agenda.after(30, lambda: scene.store.delete("VolumeAttachment", None, "va-pv-1"))
    began = scene.agenda.now
    assert killed(scene, nth, after, wait_volume_detach=True, cordon_owner="job")
    result = scene.run(wait_volume_detach=True, cordon_owner="job")
    assert (result["failed"], result["nodes"][0]["drained"], scene.cordoned(), scene.pods()) == (False, True, True, [])
    assert 30 <= scene.agenda.now - began < 62


@MOMENTS
@pytest.mark.parametrize("others", [[], ["b"]], ids=["alone", "shared"])
@pytest.mark.parametrize("nth", range(1, 4))
def test_a_node_is_opened_by_the_run_after_a_kill(nth: int, others: list[str], after: bool) -> None:
    scene = Scene()
    for owner in ["a", *others]:
        scene.run(state="cordon", cordon_owner=owner)
    assert killed(scene, nth, after, state="uncordon", cordon_owner="a")
    result = scene.run(state="uncordon", cordon_owner="a")
    assert (result["failed"], holders(scene), scene.cordoned()) == (False, others, bool(others))


@MOMENTS
@pytest.mark.parametrize("nth", range(1, 5))
def test_a_node_is_closed_by_the_run_after_a_kill(nth: int, after: bool) -> None:
    scene = Scene()
    killed(scene, nth, after, state="cordon", cordon_owner="a")
    result = scene.run(state="cordon", cordon_owner="a")
    assert (result["failed"], holders(scene), scene.cordoned()) == (False, ["a"], True)
    assert scene.run(state="uncordon", cordon_owner="a")["failed"] is False
    assert (holders(scene), scene.cordoned()) == ([], False)


@MOMENTS
@pytest.mark.parametrize("nth", range(5, 17))
def test_a_cordon_is_lifted_after_a_failure_by_the_run_after_a_kill(nth: int, after: bool) -> None:
    scene = Scene(*app("db"))
    scene.faults.add({**EVICTION, "status": 429, "json": no_budget(), "times": 0})
    options: dict[str, Any] = {"on_failure": "uncordon", "cordon_owner": "a", "delete_options": {"wait_timeout": 10}}
    killed(scene, nth, after, **options)
    result = scene.run(**options)
    assert (result["failed"], holders(scene), scene.cordoned()) == (True, [], False)
