# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written on a node."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.maintenance.node_mark import NodeMark, task_from
from kubesim import builders
from maintenance.surroundings import context_of
from stage import Scene


def marked(scene: Scene, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    task = task_from({"name": "w3", **params}, check_mode)
    return NodeMark(task, context_of(scene)).run()[0]


def annotations(scene: Scene) -> dict[str, str]:
    node = scene.store.get("Node", None, "w3")
    return dict(node["metadata"].get("annotations") or {}) if node else {}


@pytest.fixture
def scene() -> Scene:
    return Scene(builders.node("w3", annotations={"example.com/a": "1", "example.com/b": "2"}, labels={"pool": "a"}))


def test_an_annotation_is_written_and_the_others_stay(scene: Scene) -> None:
    assert marked(scene, annotations={"example.com/a": "3"})["changed"]
    assert annotations(scene) == {"example.com/a": "3", "example.com/b": "2"}


def test_what_is_there_already_changes_nothing(scene: Scene) -> None:
    assert marked(scene, annotations={"example.com/a": 1})["changed"] is False
    assert scene.requests("PATCH") == []


def test_what_a_template_has_read_as_json_is_written_as_json(scene: Scene) -> None:
    marked(scene, annotations={"example.com/a": {"b": [True]}})
    assert annotations(scene)["example.com/a"] == '{"b": [true]}'


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_value_takes_the_annotation_away(scene: Scene, nothing: Any) -> None:
    assert marked(scene, annotations={"example.com/a": nothing})["annotations"] == {}
    assert annotations(scene) == {"example.com/b": "2"}


def test_taking_away_what_is_not_there_changes_nothing(scene: Scene) -> None:
    assert marked(scene, annotations={"example.com/c": ""})["changed"] is False


def test_a_label_is_written(scene: Scene) -> None:
    assert marked(scene, labels={"pool": "b"})["labels"] == {"pool": "b"}


def test_check_mode_changes_nothing(scene: Scene) -> None:
    assert marked(scene, check_mode=True, annotations={"example.com/a": "3"})["changed"]
    assert annotations(scene)["example.com/a"] == "1"


def test_somebody_elses_change_in_between_is_kept(scene: Scene) -> None:
    def change(node: dict[str, Any]) -> None:
        node["metadata"]["annotations"]["example.com/b"] = "changed"

    scene.agenda.after(1, lambda: scene.store.mutate("Node", None, "w3", change))
    scene.faults.add({"method": "PATCH", "path": "/nodes/w3", "delay": 2, "times": 1})
    marked(scene, annotations={"example.com/a": "3"})
    assert annotations(scene) == {"example.com/a": "3", "example.com/b": "changed"}


@pytest.mark.parametrize(
    "params",
    [{}, {"annotations": {"no key!": "x"}}, {"labels": {"pool": "no label"}}, {"name": " ", "labels": {"a": "b"}}],
)
def test_what_cannot_be_meant_is_refused(scene: Scene, params: dict[str, Any]) -> None:
    with pytest.raises(InvalidOptions):
        marked(scene, **params)


def test_an_unknown_node_is_an_error(scene: Scene) -> None:
    with pytest.raises(InvalidOptions):
        marked(scene, name="w9", annotations={"example.com/a": "3"})
