# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the patching of nodes is reported."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.report import (
    describe_rounds,
    junit,
    reasons,
    record_of,
    table,
)


def host(name: str, **record: Any) -> dict[str, Any]:
    if not record:
        return {"inventory_hostname": name}
    begun = {"drain": 110.0, "check": 100.0, "reboot": 130.5}
    return {"inventory_hostname": name, "node_patch_record": {"host": name, "node": name, "begun": begun, **record}}


DONE = host(
    "w1", state="done", ended=160.0, pods=12, retries=3, kubelet_before="v1.36.2", kubelet_after="v1.36.3", message=""
)
FAILED = host(
    "worker-2", state="failed", ended=150.0, pods=1, kubelet_before="v1.36.2", message="Patch:\n<full> disk\x07"
)
FAILED["node_patch_record"]["blockers"] = [{"namespace": "shop", "name": "web-1", "message": "held by budget web & co"}]


def test_a_record_shows_how_long_each_step_took() -> None:
    record = record_of(DONE)
    assert record["steps"] == {"check": 10.0, "drain": 20.5, "reboot": 29.5}
    assert record["seconds"] == 60.0


def test_only_what_is_reported_is_in_the_record() -> None:
    kept = {"node": "w1", "state": "refused", "pods": 3, "changed": False, "before": {"boot_id": "b"}}
    assert record_of({"node_patch_record": kept}) == {
        "node": "w1",
        "state": "refused",
        "pods": 3,
        "steps": {},
        "seconds": 0.0,
    }


def test_a_reason_that_a_template_has_made_something_else_of_is_reported() -> None:
    assert reasons([{"host": "w1", "refusals": [{"code": 7}]}]) == "{'code': 7}"


def test_a_host_without_a_record_was_not_touched() -> None:
    assert record_of(host("w9"))["state"] == "not started"


def test_a_host_that_was_given_up_did_not_come_to_its_end() -> None:
    record = record_of(host("w1", state="in progress", step="patch"), ["w1"])
    assert (record["state"], record["message"]) == ("failed", "The host became unreachable (step patch).")


def test_a_host_whose_turn_had_not_come_is_not_lost() -> None:
    assert record_of(host("w1", state="ready"), ["w1"])["state"] == "ready"


def test_the_table_has_a_line_for_each_node() -> None:
    assert table(map(record_of, [DONE, FAILED, host("w3")])) == [
        "node      state        pods  retries  seconds  kubelet             note",
        "w1        done           12        3     60.0  v1.36.2 -> v1.36.3",
        "worker-2  failed          1        0     50.0  v1.36.2             Patch: <full> disk\x07",
        "w3        not started     -        -        -  -",
    ]


def test_the_table_names_what_is_blocked_if_there_is_no_message() -> None:
    record = record_of(host("w1", state="ready", blockers=FAILED["node_patch_record"]["blockers"]))
    assert table([record])[1].endswith("1 blocked now: shop/web-1: held by budget web & co")


def test_what_is_blocked_now_is_appended_to_the_message() -> None:
    held = [{"namespace": "shop", "name": "web-1", "message": "no room in its budget"}]
    record = record_of(host("w1", state="ready", message="is cordoned, and stays so", blockers=held))
    assert table([record])[1].endswith("  is cordoned, and stays so; 1 blocked now: shop/web-1: no room in its budget")


def test_a_reason_that_differs_in_names_and_numbers_alone_is_reported_once() -> None:
    down = "host %s cannot be reached: ssh: connect to host 10.0.0.%d port 22: Connection refused."
    records = [
        {"host": name, "node": name.split(".")[0], "refusals": [down % (name, number), "The window is closed."]}
        for number, name in enumerate(("w1.example.org", "db.example.org", "w3.example.org"))
    ]
    records[2]["refusals"] = ["The packages of w3.example.org are managed by zypper."]
    assert reasons(records) == (
        "Host w1.example.org cannot be reached: ssh: connect to host 10.0.0.0 port 22: Connection refused. "
        "The same is true of db.example.org. The window is closed. "
        "The packages of w3.example.org are managed by zypper."
    )


@pytest.mark.parametrize(
    ("rounds", "said"),
    [
        ([], "Nothing to do: all nodes are skipped."),
        ([["w1"]], "1 node in 1 round: w1"),
        ([["w1", "w2"], ["cp1"]], "3 nodes in 2 rounds: w1, w2; cp1"),
    ],
)
def test_the_rounds_are_counted(rounds: list[list[str]], said: str) -> None:
    assert describe_rounds(rounds) == said


def test_a_long_note_is_cut() -> None:
    record = record_of(host("w1", state="failed", message="x" * 1000))
    assert table([record])[1].endswith("x...") and len(table([record])[1]) < 400


def test_junit_counts_failures_and_what_was_skipped() -> None:
    suite = ET.fromstring(junit(map(record_of, [DONE, FAILED, host("w3")])))
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped", "time")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
        "time": "110.0",
    }


def test_junit_says_why_a_node_failed() -> None:
    failure = ET.fromstring(junit([record_of(FAILED)])).find("testcase/failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("Patch:\n<full> disk ", "shop/web-1: held by budget web & co")


def test_junit_leaves_out_what_xml_cannot_hold() -> None:
    # A server may send half of a letter, which no encoding has.
    odd = dict(FAILED["node_patch_record"], message="a\ud83db\x07c\uffffd")
    suite = junit([record_of(dict(FAILED, node_patch_record=odd))]).encode()
    failure = ET.fromstring(suite).find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "a b c d"
