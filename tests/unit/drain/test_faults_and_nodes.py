# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the API server and the way to it, several nodes, check mode."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    Forbidden,
    InvalidOptions,
    ServerFault,
    Unauthorized,
    Unreachable,
)
from drain.situations import EVICTION, agent, app, no_budget, reasons, status
from kubesim import builders
from stage import Scene, drained

PAGE = "<html><body>502 Bad Gateway</body></html>"


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500, "json": status(500, "etcdserver: leader changed")},
        {"status": 503, "body_text": PAGE},
        {"status": 504},
        {"status": 408},
        {"status": 409},
        {"reset": "before"},
        {"reset": "after"},
        {"delay": 40},
    ],
    ids=lambda fault: str(next(iter(fault.values())))[:3],
)
@pytest.mark.parametrize(
    "request_of",
    [
        {"method": "PATCH"},
        EVICTION,
        {"method": "GET", "path": "/api/v1/pods"},
        {"method": "GET", "path": "/nodes/w1"},
    ],
    ids=["patch", "evict", "list", "node"],
)
def test_a_passing_fault_is_survived(request_of: dict[str, Any], fault: dict[str, Any]) -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**request_of, **fault})
    result = scene.run()
    assert (result["failed"], drained(result), scene.cordoned(), scene.pods()) == (False, ["web-0"], True, [])


@pytest.mark.parametrize("misbehaviour", ["silent", "end", "expire", "drop:3"])
def test_a_watch_that_lies_costs_time_but_no_pod(misbehaviour: str) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({"watch": misbehaviour, "times": 2})
    result = scene.run(delete_options={"wait_timeout": 100})
    assert (result["failed"], drained(result)) == (False, ["web-0"])
    assert scene.seconds < 65


def test_a_version_that_the_server_cannot_read_leads_to_a_new_list() -> None:
    scene = Scene(*app("web", term=12))
    scene.faults.add({"path": "watch=true", "status": 400, "times": 2})
    result = scene.run()
    assert (result["failed"], drained(result), scene.seconds < 14) == (False, ["web-0"], True)


def test_pods_are_listed_where_they_may_not_be_watched() -> None:
    scene = Scene(*app("web", term=12))
    scene.faults.add({"path": "watch=true", "status": 403, "times": 0})
    result = scene.run(delete_options={"wait_sleep": 4})
    assert result["failed"] is False
    assert result["warnings"] == ["pods of w1 cannot be watched (simulated failure 403), so they are listed every 4 s"]
    assert len(scene.requests("GET", "/api/v1/pods")) <= 8


def test_pages_are_put_together_and_a_forgotten_token_starts_the_list_anew() -> None:
    scene = Scene(*[obj for n in range(25) for obj in app("web%d" % n)])
    scene.faults.add({"path": "continue=", "status": 410})
    result = scene.run(delete_options={"chunk_size": 10})
    assert (len(drained(result)), len(set(drained(result)))) == (25, 25)


def test_the_drain_goes_on_after_an_outage() -> None:
    scene = Scene(*app("web", term=3), *app("db", term=40))
    scene.agenda.after(1, lambda: scene.cluster.outage(30))
    assert scene.run()["failed"] is False


def test_a_token_that_expires_is_renewed() -> None:
    scene = Scene(*app("web", term=3))
    scene.cluster.access.grant({"tokens": {"fresh": {"user": "admin", "rules": "*"}}})
    scene.connection.token, scene.connection.fresh_token = "stale", "fresh"
    assert scene.run()["failed"] is False


def test_credentials_that_are_not_accepted_fail_at_once() -> None:
    scene = Scene(*app("web"))
    scene.connection.token = "unknown"
    with pytest.raises(Unauthorized, match="does not accept the credentials"):
        scene.run()
    assert (scene.seconds, len(scene.cluster.requests)) == (0.0, 2)


def test_a_missing_right_to_list_pods_fails_before_the_cordon() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({"path": "/api/v1/pods", "status": 403, "times": 0})
    with pytest.raises(Forbidden):
        scene.run()
    assert scene.requests("PATCH") == []


def test_a_server_that_never_answers_is_given_up_after_half_a_minute() -> None:
    scene = Scene()
    scene.faults.add({"path": ".*", "reset": "before", "times": 0})
    with pytest.raises(Unreachable, match=r"the connection to https://cluster\.test:6443 broke"):
        scene.run()
    assert 25 <= scene.seconds <= 36


def test_a_web_page_in_place_of_the_api_is_told_apart_at_once() -> None:
    scene = Scene()
    scene.faults.add({"path": ".*", "status": 200, "body_text": PAGE, "times": 0})
    with pytest.raises(ServerFault, match=r"not from a Kubernetes API server \(HTTP 200, text/html"):
        scene.run()
    assert scene.seconds == 0.0


def test_a_page_of_a_load_balancer_is_no_proof_that_a_pod_is_gone() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**EVICTION, "status": 404, "body_text": PAGE})
    assert (drained(scene.run()), scene.pods()) == (["web-0"], [])


def test_an_unknown_node_is_answered_with_the_names_most_like_it() -> None:
    with pytest.raises(InvalidOptions, match=r"there is no node 'ip-10-0-0-1' in this cluster; did you mean ip-10"):
        Scene(nodes=("ip-10-0-0-1.internal", "w2")).run(name=["ip-10-0-0-1"])


@pytest.mark.parametrize("option", ["node_selectors", "pod_selectors"])
def test_a_malformed_selector_is_named(option: str) -> None:
    scene = Scene()
    with pytest.raises(InvalidOptions, match=option + ": 'a in' is not a valid label selector"):
        scene.run(**{option: ["a in"]})
    assert scene.requests("PATCH") == []


def test_a_selector_without_nodes_is_an_error_unless_that_is_allowed() -> None:
    scene = Scene()
    with pytest.raises(InvalidOptions, match="no node matches node_selectors 'pool=none': fix the selector or "):
        scene.run(node_selectors=["pool=none"])
    result = scene.run(node_selectors=["pool=none"], allow_empty=True)
    assert (result["failed"], result["changed"], result["nodes"]) == (False, False, [])


@pytest.mark.parametrize(
    "params, text",
    [
        ({"delete_options": {"wait_timeout": -1}}, "delete_options.wait_timeout is -1, but must be 0 or more"),
        ({"delete_options": {"chunk_size": -5}}, "delete_options.chunk_size is -5"),
        ({"eviction_concurrency": 0}, "eviction_concurrency is 0, but must be 1 or more"),
        ({"max_parallel": 0}, "max_parallel is 0"),
        ({"name": []}, "name is empty"),
        ({"name": ["w1", " "]}, "name is empty"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(params: dict[str, Any], text: str) -> None:
    scene = Scene()
    with pytest.raises(InvalidOptions, match=text):
        scene.run(**params)
    assert scene.cluster.requests == []


def test_all_nodes_are_cordoned_before_the_first_is_drained() -> None:
    scene = Scene(*app("a"), *app("b", node="w2"), nodes=("w1", "w2", "w3"))
    result = scene.run(name=["w1", "w2"])
    order = [r.method for r in scene.cluster.requests if r.method == "PATCH" or "/eviction" in r.path]
    assert order == ["PATCH", "PATCH", "POST", "POST"]
    assert (drained(result), scene.pods("w3")) == (["a-0", "b-0"], scene.pods("w3"))


def test_a_node_that_fails_does_not_stop_the_others() -> None:
    scene = Scene(*app("db"), *app("web", node="w2"), nodes=("w1", "w2", "w3"))
    scene.faults.add({"path": "db-0/eviction", "status": 403, "json": status(403, "no", "Forbidden"), "times": 0})
    result = scene.run(name=["w1", "w2"])
    assert (result["failed"], result["pending_nodes"]) == (True, ["w1"])
    assert [node["drained"] for node in result["nodes"]] == [False, True]


@pytest.mark.parametrize("parallel, seconds", [(1, 12), (3, 4)])
def test_so_many_nodes_are_drained_at_once(parallel: int, seconds: float) -> None:
    names = ["w1", "w2", "w3"]
    pods = [obj for name in names for obj in app("on-" + name, node=name, term=4)]
    scene = Scene(*pods, nodes=("w1", "w2", "w3", "w4"))
    result = scene.run(name=names, max_parallel=parallel)
    assert (result["failed"], seconds <= scene.seconds < seconds + 1) == (False, True)


def test_check_mode_sends_dry_runs_only_and_ends_at_once() -> None:
    scene = Scene(*app("web", term=30), *agent())
    result = scene.run(check_mode=True, delete_options={"ignore_daemonsets": True})
    writes = scene.requests("POST") + scene.requests("PATCH")
    assert all("dryRun" in r.body or r.query.get("dryRun") == "All" for r in writes)
    assert (result["failed"], result["changed"], drained(result)) == (False, True, ["web-0"])
    assert (scene.cordoned(), len(scene.pods()), scene.seconds < 1) == (False, 2, True)
    assert result["msg"] == "Would drain w1: 1 pod would go now."


def test_check_mode_reports_what_a_budget_would_hold_back_and_does_not_fail() -> None:
    scene = Scene(*app("db"), builders.budget("db-pdb", selector={"app": "db"}, min_available=1))
    result = scene.run(check_mode=True)
    assert (result["failed"], reasons(result), scene.seconds < 1) == (False, {"db-0": "pdb_deadlock"}, True)
    assert result["pending_pods"][0]["pdb"]["current_healthy"] == 1
    assert "1 pod would be blocked: default/db-0" in result["msg"]


def test_check_mode_says_in_one_sentence_how_many_pods_their_budgets_let_go_now() -> None:
    owner = builders.replica_set("web", 5)
    budget = builders.budget("web-pdb", selector={"app": "web"}, max_unavailable=2)
    scene = Scene(owner, *builders.pods_of(owner, ["w1"] * 5), budget, *app("free"))
    result = scene.run(check_mode=True)
    assert (result["msg"], result["warnings"], result["pending_pods"]) == (
        "Would drain w1: 3 of 6 pods would go now, 3 would wait for room in disruption budget default/web-pdb"
        " (which lets 2 go at a time).",
        [],
        [],
    )


def test_check_mode_fails_on_what_could_never_work() -> None:
    scene = Scene(builders.pod("bare", node_name="w1"))
    assert scene.run(check_mode=True)["failed"] is True


def test_check_mode_on_a_drained_node_reports_no_change() -> None:
    scene = Scene(*app("web"))
    scene.run()
    assert scene.run(check_mode=True)["changed"] is False


def test_a_long_list_of_pending_pods_is_cut_and_counted() -> None:
    scene = Scene(*[builders.pod("bare%03d" % n, node_name="w1") for n in range(230)])
    result = scene.run()
    assert (len(result["pending_pods"]), result["pending_pods_total"]) == (200, 230)
    assert len(result["msg"]) < 400


def test_a_watch_that_breaks_forever_still_keeps_to_the_limit() -> None:
    scene = Scene(*app("db"))
    scene.faults.add(
        {"path": "watch=true", "status": 500, "times": 0}, {**EVICTION, "status": 429, "json": no_budget(), "times": 0}
    )
    result = scene.run(delete_options={"wait_timeout": 20})
    assert (result["failed"], scene.seconds <= 21) == (True, True)
