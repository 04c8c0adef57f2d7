# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys wait at most once, and controllers that were stopped do nothing."""

from __future__ import annotations

import pytest
from controlled_cluster import ControlledCluster

from kubesim.agenda import Agenda
from kubesim.builders import deployment
from kubesim.controllers.index import Index
from kubesim.controllers.wiring import Controllers
from kubesim.controllers.workqueue import WorkQueue
from kubesim.store import Store


@pytest.fixture
def agenda() -> Agenda:
    return Agenda(0.0)


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
def queue(agenda: Agenda, done: list[str]) -> WorkQueue[str]:
    return WorkQueue(agenda, done.append, 1.0)


def test_keys_added_several_times_are_done_once(queue: WorkQueue[str], agenda: Agenda, done: list[str]) -> None:
    for key in ("a", "b", "a"):
        queue.add(key)
    agenda.advance(1)
    assert done == ["a", "b"]


def test_an_earlier_plan_replaces_a_later_one(queue: WorkQueue[str], agenda: Agenda, done: list[str]) -> None:
    queue.add("a", 60)
    queue.add("a", 2)
    agenda.advance(2)
    assert done == ["a"]
    agenda.advance(60)
    assert done == ["a"]


def test_a_later_plan_does_not_delay(queue: WorkQueue[str], agenda: Agenda, done: list[str]) -> None:
    queue.add("a")
    queue.add("a", 60)
    agenda.advance(1)
    assert done == ["a"]


def test_a_discarded_key_is_not_done(queue: WorkQueue[str], agenda: Agenda, done: list[str]) -> None:
    queue.add("a")
    queue.discard("a")
    agenda.advance(60)
    assert done == []


def test_stopped_controllers_do_nothing() -> None:
    sim = ControlledCluster()
    sim.controllers.stop()
    sim.load(deployment("web", 2))
    assert sim.names("Pod") == []


def test_controllers_take_over_what_is_there() -> None:
    agenda = Agenda(0.0)
    store = Store(agenda)
    store.load([deployment("web", 2)])
    Controllers(store, agenda)
    agenda.advance(5)
    assert len(store.list("Pod")) == 2


def test_the_same_events_give_the_same_cluster() -> None:
    first, second = (ControlledCluster(deployment("web", 3)) for _run in range(2))
    assert first.store.list("Pod") == second.store.list("Pod")


def test_resting_controllers_plan_nothing() -> None:
    sim = ControlledCluster(deployment("web", 3))
    assert sim.agenda.next_due() is None


def test_the_index_forgets_what_is_gone() -> None:
    sim = ControlledCluster(deployment("web", 1))
    pod = sim.pods()[0]
    index = Index()
    index.observe("ADDED", pod, None)
    assert [index.pods_on(pod["spec"]["nodeName"]), index.pods_in("default")] == [[pod], [pod]]
    index.observe("DELETED", pod, pod)
    assert [index.pods_on(pod["spec"]["nodeName"]), index.pods_in("default")] == [[], []]
