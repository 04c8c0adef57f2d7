# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what batches nodes are patched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.batches import batches_of


def record(host: str, state: str = "ready", control_plane: bool = False) -> dict[str, Any]:
    return {"host": host, "state": state, "control_plane": control_plane}


def workers(count: int) -> list[dict[str, Any]]:
    return [record(f"w{number}") for number in range(1, count + 1)]


def control_plane(count: int) -> list[dict[str, Any]]:
    return [record(f"cp{number}", control_plane=True) for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("serial", "sizes"),
    [
        (1, [1] * 10),
        (4, [4, 4, 2]),
        ("4", [4, 4, 2]),
        ("30%", [3, 3, 3, 1]),
        ("1%", [1] * 10),
        ("100%", [10]),
        (99, [10]),
        ([1, 2, "50%"], [1, 2, 5, 2]),
    ],
)
def test_batches_are_as_large_as_serial_says(serial: Any, sizes: list[int]) -> None:
    assert batches_of(workers(10), serial)["batches"] == sizes


def test_a_percentage_is_one_of_all_nodes_also_in_a_second_run() -> None:
    records = [record(f"d{number}", "skipped") for number in range(90)] + workers(10)
    assert batches_of(records, "10%")["batches"] == [10]


@pytest.mark.parametrize(
    ("when", "hosts"), [("last", ["w1", "w2", "cp1", "cp2"]), ("first", ["cp1", "cp2", "w1", "w2"])]
)
def test_the_control_plane_goes_when_it_is_told_to(when: str, hosts: list[str]) -> None:
    assert batches_of([*control_plane(2), *workers(2)], 2, when)["hosts"] == hosts


def test_nodes_of_the_control_plane_go_one_at_a_time() -> None:
    assert batches_of([*control_plane(3), *workers(4)], "50%")["batches"] == [3, 1, 1, 1, 1]


def test_unfinished_nodes_come_first() -> None:
    plan = batches_of([*workers(3), record("u1", "unfinished")], 2)
    assert plan["rounds"] == [["u1", "w1"], ["w2", "w3"]]


def test_skipped_nodes_are_in_no_batch() -> None:
    plan = {"hosts": [], "batches": [], "rounds": [], "all": ["d1"], "refused": []}
    assert batches_of([record("d1", "skipped")], 2) == plan


def test_there_is_no_batch_if_a_node_is_refused() -> None:
    plan = {"hosts": [], "batches": [], "rounds": [], "all": ["w1", "w2"], "refused": ["w2"]}
    assert batches_of([record("w1"), record("w2", "refused")]) == plan


@pytest.mark.parametrize("serial", [0, -1, "-5%", "many", "inf%", [], None])
def test_a_serial_that_cannot_be_meant_is_refused(serial: Any) -> None:
    with pytest.raises(ValueError, match="serial is"):
        batches_of(workers(2), serial)


def test_another_turn_of_the_control_plane_than_first_or_last_is_refused() -> None:
    with pytest.raises(ValueError, match="'first' or 'last', not 'middle'"):
        batches_of(workers(2), 1, "middle")


def test_two_hosts_of_one_node_are_refused() -> None:
    twice = [dict(record("a"), node="w1"), dict(record("b"), node="w1")]
    with pytest.raises(ValueError, match="the hosts a and b both have the node w1"):
        batches_of(twice)
