# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects and manifests that are not as they should be: each is read, passed over or refused, and nothing breaks."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from ansible.module_utils.common.parameters import remove_values

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.objects import int_field
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.manifests import secrets_in
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import why_not_ready
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.viewers import revision_of, view
from ansible_collections.kubeops.maintenance.plugins.module_utils.selectors import selector_text
from rollout.situations import COMPLETE, REVISION, deployment, later, status, still
from stage import rollout_task

MANIFEST = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
Object = dict[str, Any]


def targets(definition: Any) -> list[str]:
    return [target.name for target in rollout_task({"resource_definition": definition}).targets]


def error_of(**params: Any) -> str:
    with pytest.raises(InvalidOptions) as caught:
        rollout_task(params)
    return caught.value.message


@pytest.mark.parametrize("text", ["²", "9" * 5000, "-1", "1.5", "abc", ""])
def test_a_revision_that_is_no_number_is_none(text: str) -> None:
    assert revision_of({"metadata": {"annotations": {REVISION: text}}}) is None


@pytest.mark.parametrize("version", ["²", "9" * 5000, "abc"])
def test_a_version_that_is_no_number_hides_no_change(version: str) -> None:
    scene = still(deployment(updatedReplicas=1))
    event = {"type": "MODIFIED", "object": deployment(**COMPLETE)}
    event["object"]["metadata"]["resourceVersion"] = version
    scene.faults.add({"path": "watch=true", "status": 200, "body_text": json.dumps(event) + "\n"})
    assert scene.follow(name=["web"], wait_timeout=5)["done"]


@pytest.mark.parametrize("replicas", ["3", 3.0])
def test_a_number_in_another_form_is_not_taken_for_zero(replicas: Any) -> None:
    assert int_field(replicas) == 3
    assert not view("Deployment", deployment(wanted=replicas)).done


def test_an_event_without_a_spec_does_not_look_complete() -> None:
    scene = still(deployment(updatedReplicas=1))
    event = {"type": "MODIFIED", "object": {"metadata": {"name": "web", "uid": "uid-web"}}}
    scene.faults.add({"path": "watch=true", "status": 200, "body_text": json.dumps(event) + "\n", "times": 1})
    later(scene, 3, status(**COMPLETE))
    assert (scene.follow(name=["web"])["done"], scene.seconds >= 3) == (True, True)


@pytest.mark.parametrize("values", [5, True, None, "ab", [1]])
def test_an_odd_selector_makes_no_query_fail(values: Any) -> None:
    assert selector_text({"matchExpressions": [{"key": "a", "operator": "In", "values": values}]}) == "a in ()"


@pytest.mark.parametrize("reason", [[], {}, 5, None])
def test_a_reason_that_is_no_word_is_one_that_nobody_knows(reason: Any) -> None:
    waiting = {"name": "app", "state": {"waiting": {"reason": reason}}}
    found = why_not_ready({"spec": {"nodeName": "w1"}, "status": {"containerStatuses": [waiting]}}, [])
    assert found is not None and found.reason == "starting"


def test_a_list_that_holds_itself_ends() -> None:
    assert targets(f"kind: List\nitems: &all\n- {{kind: List, items: *all}}\n- {json.dumps(deployment())}") == ["web"]


def test_a_few_lines_of_aliases_do_not_become_millions_of_objects() -> None:
    lines = ["a0: &a0 {kind: List, items: [{kind: Deployment, metadata: {name: web}}]}"]
    for level in range(1, 12):
        lines.append(f"a{level}: &a{level} {{kind: List, items: [{', '.join([f'*a{level - 1}'] * 9)}]}}")
    assert targets("\n".join([*lines, "kind: List", "items: [*a11]"])) == ["web"]


@pytest.mark.parametrize("value", ["!!timestamp x", "!!bool x", "!!int ''", "!!float ''"])
def test_a_value_that_its_tag_does_not_fit_is_told_as_malformed(value: str) -> None:
    text = error_of(resource_definition=MANIFEST + "x: " + value + "\ny: 1")
    line = MANIFEST.count("\n") + 1
    assert text == f"the option resource_definition is neither YAML nor JSON (line {line}, column 4): correct it"


@pytest.mark.parametrize("value", ["\x07", "é\x07", "\ud800", "[1", "2001-99-99", "*no", "a: b"])
def test_what_is_malformed_is_told_with_its_place_and_never_with_its_words(value: str) -> None:
    secret = "kind: Secret\nstringData:\n  password: hunter2hunter2\n  other: "
    text = error_of(resource_definition=secret + value)
    assert re.fullmatch(
        r"the option resource_definition is neither YAML nor JSON \(line [45], column \d+\): correct it", text
    )


def test_a_text_without_an_end_of_its_brackets_is_told() -> None:
    assert error_of(resource_definition="[" * 5000).endswith("): correct it")


def test_a_path_that_can_be_none_is_told() -> None:
    assert error_of(src=["a\0b"]).endswith("a\\x00b' is not the path of a file")


@pytest.mark.parametrize("name", ["..", ".", "a,b", "a b", "we%b", "{{ app }}", "web\0"])
@pytest.mark.parametrize("key", ["name", "namespace"])
def test_what_nothing_is_called_is_refused_before_it_makes_another_path(key: str, name: str) -> None:
    found = error_of(workloads=[{"kind": "Deployment", "name": "web", "namespace": "shop", key: name}])
    assert f"is {name!r}, which is not a valid name in Kubernetes; if it comes from a variable, check that" in found


@pytest.mark.parametrize("version", ["apps/v1?x", "../v1", "apps/v1/x", "apps", "apps/v 1"])
def test_an_api_version_that_makes_another_path_is_refused(version: str) -> None:
    text = error_of(kind="Deployment", name=["web"], api_version=version)
    assert text == f"the option api_version is {version!r}, but must be a group and a version such as apps/v1"


def test_times_beyond_every_clock_are_bounded() -> None:
    assert rollout_task({"kind": "Deployment", "name": ["web"], "wait_sleep": 10**400}).wait_sleep == 86400.0


@pytest.mark.parametrize(
    "definition",
    [
        [{"kind": "Secret", "stringData": {"a": "s3cret-1", "b": "x"}, "data": {"c": "s3cret-2"}}, MANIFEST],
        "kind: Secret\nstringData: {a: s3cret-1, b: x}\ndata: {c: s3cret-2}\n---\n" + MANIFEST,
        {"kind": "SecretList", "items": [{"stringData": {"a": "s3cret-1"}, "data": {"c": "s3cret-2", "d": None}}]},
    ],
    ids=["list", "text", "SecretList"],
)
def test_what_secrets_among_manifests_hold_is_known_so_that_it_can_be_masked(definition: Any) -> None:
    assert secrets_in(definition) == {"s3cret-1", "s3cret-2"}


@pytest.mark.parametrize(
    "definition",
    [
        "kind: Secret\nstringData:\n  a: s3cret-1\n  b: [s3cret-2\n",
        ["kind: Secret\nstringData: {a: s3cret-1, b: s3cret-2}", "a: [b: c"],
        {"items": [{"kind": "Secret", "stringData": {"a": "s3cret-1"}, "data": {"b": "s3cret-2"}}]},
        [{"kind": "Secret", "stringData": {"a": "s3cret-1", "b": "s3cret-2"}}, {"metadata": {}}],
    ],
    ids=["text", "list", "no kind", "another"],
)
def test_what_secrets_hold_is_masked_though_their_manifest_is_malformed(definition: Any) -> None:
    shown = json.dumps(remove_values(definition, secrets_in(definition)))
    assert "s3cret" not in shown


@pytest.mark.parametrize("definition", [None, 5, "a: [b", {"kind": "Secret", "data": "x"}])
def test_a_definition_that_cannot_be_read_has_no_secrets(definition: Any) -> None:
    assert secrets_in(definition) == set()
