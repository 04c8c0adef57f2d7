# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress lines of a drain, and when they come."""

from __future__ import annotations

from functools import partial
from typing import Any

from drain.situations import EVICTION, agent, app, status
from drain.test_volumes import detach, volume
from kubesim import builders
from runtime.listener import Listener, most_in_a_second
from stage import Scene

ALL = {"ignore_daemonsets": True}


def pods(name: str, number: int, nodes: list[str] | None = None, **options: Any) -> list[dict[str, Any]]:
    """Return a ReplicaSet and its pods, all on w1 or in turn on these nodes."""
    owner = builders.replica_set(name, number)
    on = [(nodes or ["w1"])[index % len(nodes or ["w1"])] for index in range(number)]
    return [owner, *builders.pods_of(owner, on, **options)]


def listen(scene: Scene, level: str = "changes", detail: bool = False, **params: Any) -> Listener:
    """Run a drain and return its listener."""
    listener = Listener(scene.clock, level=level, detail=detail)
    scene.progress = listener.progress
    scene.run(**params)
    return listener


def test_a_drain_from_the_cordon_to_the_end() -> None:
    scene = Scene(*pods("web", 12, term=3), *agent())
    assert listen(scene, delete_options=ALL).timed == [
        (
            0.2,
            "w1: cordoned; 12 pods to evict, skipped: 1 daemonset; "
            "12 evictions accepted: default/web-0, default/web-1, default/web-10 and 9 more",
        ),
        (
            3.05,
            "w1: 12 pods gone (12 of 12): default/web-0, default/web-1, default/web-10 and 9 more; "
            "drained in 3 s, 12 pods gone",
        ),
    ]


def test_a_gone_pod_is_reported_within_a_second() -> None:
    scene = Scene(*app("quick", term=10), *app("slow", term=20))
    line = next(entry for entry in listen(scene).timed if "gone" in entry[1])
    assert line == (10.25, "w1: 1 pod gone (1 of 2): default/quick-0")


def test_blocked_pods_are_reported_once_for_their_budget() -> None:
    budget = builders.budget("db-pdb", selector={"app": "db"}, min_available=4)
    scene = Scene(*pods("db", 4, labels={"app": "db"}), budget)
    lines = listen(scene, delete_options={"wait_timeout": 40}).texts
    assert [line.rpartition("; ")[2] for line in lines if "blocked by" in line] == [
        "4 pods blocked by PDB default/db-pdb (4/4 healthy, 4 required: add a replica or lower its minAvailable)"
    ]


def test_a_budget_that_may_not_be_read_is_reported_with_the_servers_message() -> None:
    budget = builders.budget("db-pdb", selector={"app": "db"}, min_available=1)
    scene = Scene(*app("db", labels={"app": "db"}), budget)
    scene.faults.add(
        {"method": "GET", "path": "poddisruptionbudgets", "status": 403, "json": status(403, "no"), "times": 0}
    )
    lines = listen(scene, delete_options={"wait_timeout": 20}).texts
    assert [line.rpartition("; ")[2] for line in lines if "blocked by" in line] == [
        "1 pod blocked by PDB default/db-pdb (The disruption budget db-pdb needs 1 healthy pods and has 1 currently)"
    ]


def test_a_budget_that_changes_is_reported_again() -> None:
    budget = builders.budget("db-pdb", selector={"app": "db"}, min_available=1)
    scene = Scene(*app("db", labels={"app": "db"}), budget)
    change = partial(scene.store.mutate, "PodDisruptionBudget", "default", "db-pdb")
    scene.agenda.after(10, lambda: change(lambda found: found["spec"].update(minAvailable=2)))
    lines = listen(scene, delete_options={"wait_timeout": 30}).texts
    assert [line.rpartition("(")[2] for line in lines if "blocked by" in line] == [
        "1/1 healthy, 1 required: add a replica or lower its minAvailable)",
        "1/1 healthy, 2 required: add a replica or lower its minAvailable)",
    ]


def test_each_minute_of_waiting_has_a_summary() -> None:
    budget = builders.budget("db-pdb", selector={"app": "db"}, min_available=4)
    scene = Scene(*pods("db", 4, labels={"app": "db"}), *app("web"), budget)
    lines = listen(scene, delete_options={"wait_timeout": 140}).timed
    assert [line for line in lines if " left" in line[1]] == [
        (50.0, "w1: 1 of 5 pods gone, 4 blocked by PDB default/db-pdb; 1 m 30 s of 2 m 20 s left"),
        (100.0, "w1: 1 of 5 pods gone, 4 blocked by PDB default/db-pdb; 40 s of 2 m 20 s left"),
        (140.0, "w1: not drained within 2 m 20 s, 4 pods left"),
    ]


def test_progress_sends_no_request() -> None:
    def requests(level: str) -> int:
        scene = Scene(*pods("web", 5, term=100))
        listen(scene, level=level)
        return len(scene.cluster.requests)

    assert requests("changes") == requests("off")


def test_progress_does_not_slow_the_drain_down() -> None:
    def seconds(level: str) -> float:
        scene = Scene(*pods("web", 5, term=2))
        listen(scene, level=level)
        return scene.seconds

    assert seconds("changes") == seconds("off") == 2.05


def test_a_transient_error_is_reported_once() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "status": 503, "json": status(503, "overloaded"), "times": 3})
    lines = listen(scene).texts
    assert [line for line in lines if "retrying" in line] == [
        "w1: cordoned; 1 pod to evict; retrying: default/web-0 (overloaded)"
    ]


def test_a_pod_that_cannot_be_evicted_is_reported_with_the_servers_message() -> None:
    scene = Scene(*app("web"))
    denial = 'admission webhook "guard.example" denied the request: not on Fridays'
    scene.faults.add({**EVICTION, "status": 400, "json": status(400, denial), "times": 0})
    assert listen(scene).texts == [
        f"w1: cordoned; 1 pod to evict; cannot be evicted: default/web-0: {denial}; not drained, 1 pod left"
    ]


def test_a_pod_that_the_options_block_is_reported() -> None:
    scene = Scene(builders.pod("bare", node_name="w1"))
    assert (
        "cannot be evicted: default/bare: no controller would recreate it" in listen(scene, preflight="skip").texts[0]
    )


def test_a_failed_preflight_has_no_lines() -> None:
    assert listen(Scene(builders.pod("bare", node_name="w1"))).texts == []


def test_warnings_of_the_result_are_not_lines() -> None:
    scene = Scene(*app("web", term=30))
    listener = Listener(scene.clock)
    scene.progress = listener.progress
    result = scene.run(delete_options={"wait_timeout": 10})
    assert listener.texts[0] == "w1: cordoned; 1 pod to evict; 1 eviction accepted: default/web-0"
    assert result["warnings"] == ["wait_timeout (10 s) is shorter than the 30 s that pods on w1 may take to shut down"]


def test_a_node_that_is_not_ready_is_reported_at_the_start() -> None:
    scene = Scene(*app("web"))
    scene.cluster.controllers.fail("w1")
    scene.agenda.advance(60)
    lines = listen(scene, delete_options={"wait_timeout": 10}).texts
    assert lines[0] == "w1: cordoned; not Ready; 1 pod to evict; 1 eviction accepted: default/web-0"


def test_an_uncordon_by_someone_else_is_reported() -> None:
    scene = Scene(*app("web", term=10))
    scene.agenda.after(3, lambda: scene.store.mutate("Node", None, "w1", lambda n: n["spec"].pop("unschedulable")))
    lines = listen(scene).texts
    assert [line for line in lines if "uncordoned by someone else, cordoned again" in line] == [lines[1]]


def test_attached_volumes_are_reported() -> None:
    scene = Scene(*app("db", claims=["data"], term=2), *volume("pv-1", "data"))
    detach(scene, "pv-1", 20)
    lines = listen(scene, wait_volume_detach=True).texts
    assert any(line.endswith("1 volume still attached: pv-1 (default/data)") for line in lines)


def test_several_nodes_have_lines_of_their_own() -> None:
    scene = Scene(*pods("a", 6, ["w1", "w2"], term=2), *pods("b", 6, ["w1", "w2"], term=5))
    listener = listen(scene, name=["w1", "w2"], max_parallel=2)
    assert listener.texts[1:] == [
        "w1: 3 pods gone (3 of 6): default/a-0, default/a-2, default/a-4. "
        "w2: 3 pods gone (3 of 6): default/a-1, default/a-3, default/a-5",
        "w1: 3 pods gone (6 of 6): default/b-0, default/b-2, default/b-4; drained in 5 s, 6 pods gone. "
        "w2: 3 pods gone (6 of 6): default/b-1, default/b-3, default/b-5; drained in 5 s, 6 pods gone",
    ]


def test_pods_that_end_one_after_the_other_keep_to_the_rate() -> None:
    scene = Scene(*(thing for number in range(50) for thing in app(f"p{number}", term=number / 10)))
    assert most_in_a_second(listen(scene).times) == 2


def test_each_of_many_nodes_is_reported_in_turn() -> None:
    names = [f"n{number}" for number in range(9)]
    scene = Scene(*(thing for name in names for thing in app(name, node=name)), nodes=tuple(names))
    lines = listen(scene, name=names, max_parallel=9).texts
    assert [name for name in names if not any(f"default/{name}-0" in line for line in lines)] == []


def test_a_hundred_cordons_are_one_line() -> None:
    names = [f"n{number}" for number in range(100)]
    lines = listen(Scene(nodes=tuple(names)), name=names, state="cordon").texts
    assert lines == ["n0, n1, n2 and 97 more: cordoned"]


def test_an_uncordon_is_reported() -> None:
    scene = Scene()
    scene.run(state="cordon")
    assert listen(scene, state="uncordon").texts == ["w1: uncordoned"]


def test_a_cordon_that_is_lifted_after_a_failure_is_reported() -> None:
    scene = Scene(*app("web", term=30))
    lines = listen(scene, on_failure="uncordon", delete_options={"wait_timeout": 10}).texts
    assert lines[-1] == "w1: uncordoned; not drained within 10 s, 1 pod left"


def test_an_already_cordoned_node_is_reported() -> None:
    scene = Scene(*app("web"))
    scene.run(state="cordon")
    assert listen(scene).texts[0] == "w1: already cordoned; 1 pod to evict; 1 eviction accepted: default/web-0"


def test_at_level_summary_a_short_drain_is_one_line() -> None:
    scene = Scene(*pods("web", 2))
    assert listen(scene, level="summary").texts == [
        "w1: cordoned; 2 pods to evict; 2 pods gone (2 of 2): default/web-0, default/web-1; drained in 1 s, 2 pods gone"
    ]


def test_detail_names_every_pod() -> None:
    scene = Scene(*pods("web", 5))
    lines = listen(scene, detail=True).texts
    assert "5 evictions accepted: default/web-0, default/web-1, default/web-2, default/web-3, default/web-4" in lines[0]
