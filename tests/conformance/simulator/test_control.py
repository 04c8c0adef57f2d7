# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control interface."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim import builders
from kubesim.api.messages import Request, Response
from kubesim.clock import Clock
from kubesim.cluster import Cluster
from kubesim.server.control import Control


class Desk:
    """A cluster with its control interface, as one sends requests to it."""

    def __init__(self, controllers: bool = False) -> None:
        self.cluster = Cluster(controllers=controllers)
        self.control = Control(self.cluster, Clock(self.cluster.agenda))

    def send(self, method: str, path: str, body: Any = None) -> Response:
        return self.control.answer(Request.of(method, f"/kubesim/{path}", body))

    def statuses(self) -> int:
        return self.cluster.answer(Request.of("GET", "/api/v1/nodes", authorization="Bearer admintoken")).status


def test_objects_are_loaded() -> None:
    desk = Desk()
    desk.send("POST", "load", {"objects": [builders.node("n")]})
    assert desk.cluster.store.get("Node", None, "n") is not None


def test_a_reset_empties_everything() -> None:
    desk = Desk()
    desk.send("POST", "load", {"objects": [builders.node("n")]})
    desk.send("POST", "faults", {"faults": [{"status": 500}]})
    desk.send("POST", "reset")
    assert (desk.cluster.store.list("Node"), desk.statuses(), len(desk.cluster.requests)) == ([], 200, 1)


def test_requests_are_logged_and_the_log_can_be_cleared() -> None:
    desk = Desk()
    desk.statuses()
    line = desk.send("GET", "requests").json()[0]
    desk.send("DELETE", "requests")
    assert (line["method"], line["path"], line["status"], desk.send("GET", "requests").json()) == (
        "GET",
        "/api/v1/nodes",
        200,
        [],
    )


def test_faults_are_set_and_cleared() -> None:
    desk = Desk()
    desk.send("POST", "faults", {"faults": [{"status": 500, "times": 0}]})
    during = desk.statuses()
    desk.send("DELETE", "faults")
    assert (during, desk.statuses()) == (500, 200)


def test_users_are_added() -> None:
    desk = Desk()
    desk.send("POST", "access", {"tokens": {"t": {"user": "bob", "rules": "*"}}})
    assert desk.cluster.answer(Request.of("GET", "/api/v1/nodes", authorization="Bearer t")).status == 200


def test_the_clock_is_advanced() -> None:
    desk = Desk()
    before = desk.cluster.agenda.now
    desk.send("POST", "clock", {"advance": 60})
    assert desk.send("GET", "clock").json()["now"] >= before + 60


def test_an_outage_is_begun() -> None:
    desk = Desk()
    desk.send("POST", "outage", {"seconds": 5})
    assert desk.statuses() == 0


def test_the_window_of_events_can_be_emptied() -> None:
    desk = Desk()
    desk.send("POST", "window", {"events": 0})
    assert desk.cluster.history.floor == desk.cluster.store.resource_version


def test_open_watches_can_be_disturbed() -> None:
    desk = Desk()
    desk.cluster.answer(Request.of("GET", "/api/v1/nodes?watch=1", authorization="Bearer admintoken"))
    before = desk.send("GET", "watches").json()
    desk.send("POST", "watches", {"watch": "end"})
    assert (before, desk.send("GET", "watches").json()) == ({"open": 1}, {"open": 0})


def test_a_node_reboots() -> None:
    desk = Desk(controllers=True)
    desk.cluster.load([builders.node("n")])
    before = desk.cluster.store.get("Node", None, "n")
    desk.send("POST", "nodes/n/reboot", {"down": 5})
    desk.cluster.advance(30)
    after = desk.cluster.store.get("Node", None, "n")
    assert before is not None
    assert after is not None
    assert before["status"]["nodeInfo"]["bootID"] != after["status"]["nodeInfo"]["bootID"]


def test_violations_can_be_asked_for() -> None:
    assert Desk(controllers=True).send("GET", "violations").json() == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("POST", "nothing", {}, 404, "no such control: POST /kubesim/nothing"),
        ("POST", "load", {}, 400, "missing or unknown: 'objects'"),
        ("POST", "faults", {"faults": [{"x": 1}]}, 400, "unknown keys in fault: x"),
        ("POST", "clock", {"speed": 0}, 400, "speed must be greater than 0"),
        ("POST", "nodes/n/reboot", {}, 400, "the cluster runs without controllers"),
    ],
    ids=["unknown", "incomplete", "fault", "speed", "controllers"],
)
def test_a_wrong_request_is_told_what_is_wrong(method: str, path: str, body: Any, status: int, error: str) -> None:
    answer = Desk().send(method, path, body)
    assert (answer.status, answer.json()) == (status, {"error": error})
