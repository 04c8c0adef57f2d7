# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds the lock on the cluster."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Forbidden, InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.lock import Lock, task_from
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.processes import (
    Run,
    has_ended,
    run_from,
)
from kubesim import builders
from maintenance.surroundings import context_of
from runtime.listener import Listener
from stage import Scene

NAMESPACE, NAME = "kube-system", "kubeops-maintenance"
AWAY = {"path": "/leases", "status": 503, "times": 0}
HERE = "/proc/sys/kernel/random/boot_id"


def locked(scene: Scene, holder: str = "a", run: Run | None = None, check_mode: bool = False, **params: Any) -> Any:
    task = task_from({"name": NAME, "namespace": NAMESPACE, "holder": holder, **params}, check_mode, run)
    lock = Lock(task, context_of(scene))
    return dict(lock.run(), warnings=lock.warnings)


def heard(scene: Scene, holder: str, level: str = "changes", **params: Any) -> list[tuple[float, str]]:
    """Return the lines of a wait for the lock, with the seconds since it began."""
    listener = Listener(scene.clock, level=level)
    task = task_from({"name": NAME, "namespace": NAMESPACE, "holder": holder, **params}, False, None)
    Lock(task, context_of(scene, listener.progress)).run()
    return listener.timed


def lease(scene: Scene) -> dict[str, Any] | None:
    return scene.store.get("Lease", NAMESPACE, NAME)


@pytest.fixture
def scene() -> Scene:
    return Scene(builders.namespace(NAMESPACE), controllers=False)


def test_a_free_lock_is_taken(scene: Scene) -> None:
    result = locked(scene, duration=600)
    found = lease(scene)
    assert (result["changed"], result["held"], result["holder"]) == (True, True, "a")
    assert result["msg"] == "a took the lock kube-system/kubeops-maintenance."
    assert found is not None
    assert (found["spec"]["holderIdentity"], found["spec"]["leaseDurationSeconds"]) == ("a", 600)


def test_ones_own_lock_is_renewed_once_a_third_of_its_time_is_over(scene: Scene) -> None:
    locked(scene, duration=600)
    scene.agenda.advance(199)
    assert locked(scene, duration=600)["changed"] is False
    scene.agenda.advance(2)
    assert locked(scene, duration=600)["msg"] == "a renewed the lock kube-system/kubeops-maintenance."


def test_a_renewal_keeps_since_when_it_is_held(scene: Scene) -> None:
    since = locked(scene, duration=600)["since"]
    scene.agenda.advance(300)
    assert locked(scene, duration=600)["since"] == since


def test_somebody_elses_lock_is_refused_with_who_and_since_when(scene: Scene) -> None:
    since = locked(scene, "a", duration=600)["since"]
    result = locked(scene, "b", duration=600)
    assert (result["held"], result["changed"], result["holder"], result["since"]) == (False, False, "a", since)
    assert f"is held by a since {since}, and expires" in result["msg"]


def test_an_expired_lock_is_free(scene: Scene) -> None:
    locked(scene, "a", duration=600)
    scene.agenda.advance(601)
    assert locked(scene, "b")["held"]


def test_a_lock_is_waited_for(scene: Scene) -> None:
    locked(scene, "a", duration=60)
    started = scene.agenda.now
    assert locked(scene, "b", wait_timeout=300)["held"]
    assert 60 <= scene.agenda.now - started <= 66


def test_a_wait_says_who_holds_the_lock_and_not_each_of_its_renewals(scene: Scene) -> None:
    since = locked(scene, "a", duration=60)["since"]
    scene.agenda.after(30, lambda: locked(scene, "a", duration=60))
    lines = heard(scene, "b", wait_timeout=300)
    assert [(seconds, text.partition(", expires ")[0]) for seconds, text in lines] == [
        (0.2, f"lock kube-system/kubeops-maintenance: held by a since {since}"),
        (50.0, f"lock kube-system/kubeops-maintenance: held by a since {since}"),
        (90.0, "lock kube-system/kubeops-maintenance: taken after 1 m 30 s"),
    ]
    assert lines[1][1].endswith(" unless it is renewed; 4 m 10 s of 5 m left")


def test_a_lock_that_is_not_waited_for_is_nothing_to_tell_of(scene: Scene) -> None:
    assert heard(scene, "a", wait_timeout=300) == []
    assert heard(scene, "b") == []


def test_a_lock_is_stolen_only_on_request(scene: Scene) -> None:
    since = locked(scene, "a")["since"]
    result = locked(scene, "b", steal=True)
    assert result["held"]
    assert result["warnings"] == [f"stole the lock kube-system/kubeops-maintenance from a since {since}"]


def test_a_released_lock_leaves_nothing(scene: Scene) -> None:
    locked(scene)
    result = locked(scene, state="absent")
    assert (result["changed"], result["held"], lease(scene)) == (True, False, None)


def test_releasing_a_lock_that_nobody_holds_changes_nothing(scene: Scene) -> None:
    assert locked(scene, state="absent")["changed"] is False


def test_only_the_very_lock_that_was_read_is_released(scene: Scene) -> None:
    locked(scene)
    held = lease(scene)
    assert held is not None
    locked(scene, state="absent")
    (sent,) = scene.requests("DELETE", "/leases/")
    assert json.loads(sent.body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": held["metadata"]["uid"], "resourceVersion": held["metadata"]["resourceVersion"]},
    }


def test_somebody_elses_lock_is_not_released(scene: Scene) -> None:
    locked(scene, "a")
    result = locked(scene, "b", state="absent")
    assert (result["changed"], result["holder"]) == (False, "a")
    assert lease(scene) is not None


def test_a_lock_that_somebody_stole_is_not_renewed(scene: Scene) -> None:
    locked(scene, "a")
    locked(scene, "b", steal=True)
    assert locked(scene, "a")["held"] is False


def test_two_that_come_at_once_do_not_both_get_it(scene: Scene) -> None:
    def other() -> None:
        scene.faults.clear()
        locked(scene, "b")

    scene.faults.add({"method": "GET", "path": "/leases/", "delay": 5, "times": 1})
    scene.agenda.after(2, other)
    taken = locked(scene, "a")
    found = lease(scene)
    assert found is not None
    assert taken["held"] is (found["spec"]["holderIdentity"] == "a")


def test_check_mode_takes_nothing(scene: Scene) -> None:
    result = locked(scene, check_mode=True)
    assert (result["changed"], result["msg"]) == (True, "a would take the lock kube-system/kubeops-maintenance.")
    assert lease(scene) is None


def test_a_namespace_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidOptions) as caught:
        locked(Scene(controllers=False), namespace="nowhere")
    assert caught.value.message == "there is no namespace nowhere for the lock"


def test_another_run_of_the_same_holder_is_refused(scene: Scene) -> None:
    locked(scene, run=Run("elsewhere:1", 10, "100"))
    result = locked(scene, run=Run("elsewhere:2", 10, "100"))
    assert result["held"] is False
    assert "is held by another run of a since" in result["msg"]


def test_a_run_that_ended_on_this_machine_is_taken_over(scene: Scene) -> None:
    alive = _this_process()
    locked(scene, run=alive._replace(began="1"))
    result = locked(scene, run=alive)
    assert result["held"]
    assert result["warnings"] == [
        "took over the lock kube-system/kubeops-maintenance of an earlier run of a, "
        "which has ended without releasing it"
    ]


def test_a_run_that_goes_on_on_this_machine_is_not_taken_over(scene: Scene) -> None:
    alive = _this_process()
    locked(scene, run=alive)
    assert locked(scene, run=alive._replace(pid=os.getppid(), began="1"))["held"] is False


def test_the_same_run_renews_its_lock(scene: Scene) -> None:
    locked(scene, run=Run("elsewhere:1", 10, "100"))
    assert locked(scene, run=Run("elsewhere:1", 10, "100"))["held"]


@pytest.mark.parametrize("text", ["", "x", "place/pid/1", "place/12/", "place/\u00b2/1", "/12/1"])
def test_a_text_that_names_no_run_is_none(text: str) -> None:
    assert run_from(text) is None


def test_a_run_survives_being_written_down() -> None:
    assert run_from(Run("boot:4026531836", 42, "12345").text()) == Run("boot:4026531836", 42, "12345")


def test_nothing_is_known_of_runs_on_other_machines() -> None:
    assert has_ended(Run("elsewhere:1", 1, "1")) is False


@pytest.mark.parametrize(
    "fault",
    [{"status": 503}, {"reset": "before"}, {"status": 403}, {"status": 404}, {"status": 401}, {"body_text": "<html>"}],
    ids=str,
)
def test_an_api_server_that_is_away_while_the_lock_is_waited_for_ends_no_wait(
    scene: Scene, fault: dict[str, Any]
) -> None:
    locked(scene, duration=300)
    start = scene.agenda.now - scene.agenda.started
    scene.faults.add({"path": "/leases", "times": 0, "from": start + 5, "until": start + 30, **fault})
    result = locked(scene, "b", wait_timeout=600, wait_sleep=10)
    assert (result["held"], result["holder"]) == (True, "b")


def test_a_right_that_is_gone_for_good_while_the_lock_is_waited_for_ends_the_wait(scene: Scene) -> None:
    locked(scene, duration=300)
    scene.faults.add({"path": "/leases", "status": 403, "after": 1, "times": 0})
    with pytest.raises(Forbidden):
        locked(scene, "b", wait_timeout=600, wait_sleep=5)
    assert len(scene.requests("GET", "/leases")) == 8


def test_who_held_the_lock_is_told_though_the_api_server_is_away_at_the_end(scene: Scene) -> None:
    locked(scene)
    begun = scene.clock.monotonic()
    scene.faults.add({**AWAY, "after": 1})
    result = locked(scene, "b", wait_timeout=60, wait_sleep=5)
    assert (result["held"], result["holder"], scene.clock.monotonic() - begun <= 61) == (False, "a", True)
    assert "is held by a since" in result["msg"]
    assert "(as seen before: the API server does not answer now: simulated failure 503)" in result["msg"]


def test_a_lock_that_may_not_be_written_is_told_at_once(scene: Scene) -> None:
    scene.faults.add({"method": "POST", "path": "/leases", "status": 403})
    with pytest.raises(Forbidden):
        locked(scene, wait_timeout=60)


def test_the_wait_for_the_lock_counts_from_the_tasks_begin(scene: Scene) -> None:
    locked(scene)
    begun = scene.clock.began = scene.clock.monotonic()
    scene.agenda.advance(20)
    assert not locked(scene, "b", wait_timeout=30)["held"]
    assert scene.clock.monotonic() - begun == 30


def test_an_answer_that_does_not_come_makes_the_wait_for_the_lock_no_longer(scene: Scene) -> None:
    locked(scene)
    begun = scene.clock.monotonic()
    scene.faults.add({"path": "/leases", "delay": 60, "after": 2, "times": 0})
    assert not locked(scene, "b", wait_timeout=12, wait_sleep=5)["held"]
    assert scene.clock.monotonic() - begun <= 13


def _this_process() -> Run:
    if not os.path.exists(HERE):
        pytest.skip("there is no /proc")
    with open(HERE, encoding="ascii") as file:
        place = "%s:%s" % (file.read().strip(), os.stat("/proc/self/ns/pid").st_ino)
    with open("/proc/self/stat", encoding="utf-8") as file:
        began = file.read().rpartition(")")[2].split()[19]
    return Run(place, os.getpid(), began)


def test_where_there_is_no_lock_nobody_holds_it_since_any_time(scene: Scene) -> None:
    result = locked(scene, state="absent")
    assert (result["held"], result["holder"], result["since"], result["expires"]) == (False, "", "", "")


def test_somebody_elses_lock_that_is_left_alone_is_told_with_its_end(scene: Scene) -> None:
    taken = locked(scene, "a", duration=600)
    result = locked(scene, "b", state="absent")
    assert (result["holder"], result["since"], result["expires"]) == ("a", taken["since"], taken["expires"])
