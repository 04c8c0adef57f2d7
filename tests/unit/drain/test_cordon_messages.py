# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One sentence for all nodes of a cordon or an uncordon."""

from __future__ import annotations

from typing import Any

from drain.situations import status
from stage import Scene

NAMES = ["w1", "w2", "w3", "w4", "w5", "w6"]


def message(scene: Scene, state: str, names: list[str] | None = None, **params: Any) -> str:
    return str(scene.run(state=state, name=names or NAMES, **params)["msg"])


def with_nodes() -> Scene:
    return Scene(nodes=tuple(NAMES))


def test_changed_and_unchanged_nodes() -> None:
    scene = with_nodes()
    message(scene, "cordon", ["w5", "w6"])
    assert message(scene, "cordon") == "4 nodes are cordoned (w1, w2, w3 and 1 more), 2 already were (w5, w6)."


def test_unchanged_nodes() -> None:
    assert message(with_nodes(), "uncordon", ["w1", "w2"]) == "2 nodes are already schedulable (w1, w2)."


def test_nodes_in_check_mode() -> None:
    assert message(with_nodes(), "cordon", ["w1", "w2"], check_mode=True) == "2 nodes would be cordoned (w1, w2)."


def test_failed_nodes_come_first_grouped_by_error() -> None:
    scene = with_nodes()
    denial = 'admission webhook "guard" denied the request: no'
    for name in ("w1", "w2"):
        scene.faults.add(
            {"method": "PATCH", "path": "nodes/" + name, "status": 403, "json": status(403, denial), "times": 0}
        )
    assert message(scene, "cordon", ["w1", "w2", "w3"]) == (
        f"2 nodes could not be cordoned (w1, w2: {denial}); 1 node is cordoned (w3)."
    )


def test_nodes_that_another_owner_keeps_cordoned() -> None:
    scene = with_nodes()
    message(scene, "cordon", ["w1"], cordon_owner="storage")
    message(scene, "cordon", ["w1", "w2"], cordon_owner="patching")
    assert message(scene, "uncordon", ["w1", "w2"], cordon_owner="patching").endswith("); 1 node is uncordoned (w2).")
    assert message(scene, "uncordon", ["w1", "w2"], cordon_owner="patching").startswith(
        "1 node stays cordoned (w1: by cordon owner storage since "
    )


def test_the_first_three_failed_nodes_have_a_message_each() -> None:
    scene = with_nodes()
    denial = 'admission webhook "guard" denied the request: no'
    scene.faults.add({"method": "PATCH", "status": 403, "json": status(403, denial), "times": 0})
    msg = message(scene, "drain")
    assert msg.count(" was not drained: it could not be cordoned: ") == 3
    assert msg.endswith(" 3 more nodes were not drained: w4, w5, w6 (see nodes).")
