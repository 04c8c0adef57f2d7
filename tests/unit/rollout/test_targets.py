# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which workloads a task names, in its options and in manifests; and invalid options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidOptions
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.targets import selections_of
from stage import rollout_task

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
"""
AGENT = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"


def described(kind: str, name: str, namespace: str | None = None, api_version: str = "apps/v1") -> dict[str, Any]:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def targets(**params: Any) -> list[str]:
    return [target.text() for target in rollout_task(params).targets]


def error_of(**params: Any) -> str:
    with pytest.raises(InvalidOptions) as caught:
        rollout_task(params)
    return caught.value.message


def test_names_keep_their_order_and_count_once() -> None:
    assert targets(kind="Deployment", name=["b", "a", "b"], namespace="shop") == [
        "Deployment shop/b",
        "Deployment shop/a",
    ]


@pytest.mark.parametrize(
    "definition",
    [
        DEPLOYMENT,
        described("Deployment", "web", "shop"),
        [described("Deployment", "web", "shop")],
        [DEPLOYMENT],
        '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}',
        SERVICE + "---" + DEPLOYMENT + "---\n---\n",
        {"apiVersion": "v1", "kind": "List", "items": [described("Deployment", "web", "shop")]},
        {
            "apiVersion": "apps/v1",
            "kind": "DeploymentList",
            "items": [{"metadata": {"name": "web", "namespace": "shop"}}],
        },
        "kind: CustomResourceDefinition\nspec: {operators: [=, !odd x]}\n---" + DEPLOYMENT,
    ],
    ids=["yaml", "dict", "list", "texts", "json", "documents", "list-kind", "deployment-list", "odd-tags"],
)
def test_manifests_name_workloads_in_every_form(definition: Any) -> None:
    assert targets(resource_definition=definition) == ["Deployment shop/web"]


def test_a_manifest_without_a_namespace_takes_that_of_the_task() -> None:
    assert targets(resource_definition=AGENT, namespace="ops") == ["DaemonSet ops/agent"]


def test_files_and_folders_are_read(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "b.yaml").write_text(AGENT)
    (tmp_path / "all" / "a.json").write_text(
        '{"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "db"}}'
    )
    (tmp_path / "all" / "notes.txt").write_text("- no manifest")
    (tmp_path / "web.yml").write_text(DEPLOYMENT)
    found = targets(src=[str(tmp_path / "web.yml"), str(tmp_path / "all")], namespace="ops")
    assert found == ["Deployment shop/web", "StatefulSet ops/db", "DaemonSet ops/agent"]


def test_the_workloads_of_a_drain_are_accepted_and_other_kinds_skipped() -> None:
    task = rollout_task(
        {
            "workloads": [
                {"api_version": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                {"api_version": "batch/v1", "kind": "Job", "namespace": "shop", "name": "report"},
                {"api_version": "apps/v1", "kind": "ReplicaSet", "namespace": "shop", "name": "old"},
                {"api_version": "apps.kruise.io/v1alpha1", "kind": "StatefulSet", "namespace": "shop", "name": "q"},
                {"kind": "StatefulSet", "namespace": None, "name": "db", "api_version": None},
            ],
            "namespace": "data",
        }
    )
    assert [target.text() for target in task.targets] == ["Deployment shop/web", "StatefulSet data/db"]
    assert task.skipped == ("Job shop/report", "ReplicaSet shop/old", "StatefulSet shop/q")


def test_workloads_of_one_kind_and_namespace_are_one_selection() -> None:
    task = rollout_task({"resource_definition": [DEPLOYMENT, AGENT, described("Deployment", "api", "shop")]})
    groups = [(one.kind, one.namespace, one.names) for one in selections_of(task.targets, "default")]
    assert groups == [("Deployment", "shop", ("web", "api")), ("DaemonSet", "default", ("agent",))]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "give one of name (with kind), label_selectors (with kind), workloads, resource_definition and src; none"),
        ({"name": ["a"], "kind": "Deployment", "src": ["x"]}, "; name and src are given"),
        ({"name": ["a"]}, "name needs a kind that has a rollout, Deployment, DaemonSet or StatefulSet"),
        ({"label_selectors": ["a=b"]}, "label_selectors needs a kind"),
        (
            {"src": ["x"], "kind": "Deployment"},
            "the option kind goes with name or label_selectors; src names kinds itself",
        ),
        ({"name": [], "kind": "Deployment"}, "name is empty"),
        ({"name": [" "], "kind": "Deployment"}, "name is empty"),
        ({"label_selectors": [""], "kind": "Deployment"}, "label_selectors is empty"),
        (
            {"name": ["deployment/web"], "kind": "Deployment"},
            "name is 'deployment/web', but must be a name without a kind",
        ),
        ({"name": ["a"], "kind": "Deployment", "revision": -1}, "revision is -1, but must be 0 or more"),
        ({"name": ["a"], "kind": "Deployment", "wait_timeout": -1}, "wait_timeout is -1, but must be 0 or more"),
        (
            {"name": ["a"], "kind": "Deployment", "fail_early_window": -1},
            "fail_early_window is -1, but must be 0 or more",
        ),
        ({"name": ["a"], "kind": "Deployment", "wait_sleep": -1}, "wait_sleep is -1, but must be 0 or more"),
        ({"name": ["a"], "kind": "DaemonSet", "revision": 2}, "revision is only for Deployments; a DaemonSet has no"),
        ({"resource_definition": AGENT, "revision": 2}, "revision is only for Deployments; a DaemonSet has no"),
        (
            {"name": ["a"], "kind": "Deployment", "api_version": "v1"},
            "api_version is 'v1', but must be a group and a version",
        ),
        (
            {"resource_definition": SERVICE},
            "resource_definition names no Deployment, DaemonSet or StatefulSet (only Service)",
        ),
        (
            {"resource_definition": ""},
            "resource_definition names no Deployment, DaemonSet or StatefulSet; set allow_empty",
        ),
        (
            {"resource_definition": "kind: [oops"},
            "resource_definition is neither YAML nor JSON (line 2, column 1): correct it",
        ),
        (
            {"resource_definition": "web.yml"},
            "resource_definition is plain text and not an object; use src",
        ),
        ({"resource_definition": "- 1\n"}, "resource_definition is not an object with apiVersion, kind and metadata"),
        ({"resource_definition": {"metadata": {"name": "x"}}}, "resource_definition has no kind"),
        (
            {
                "resource_definition": {
                    "kind": "Deployment",
                    "apiVersion": "apps/v1",
                    "metadata": {"generateName": "x-"},
                }
            },
            "resource_definition: the Deployment has only a generateName; wait for it by the name that it got",
        ),
        ({"workloads": []}, "workloads names no Deployment, DaemonSet or StatefulSet; set allow_empty to accept that"),
        (
            {"workloads": [{"kind": "Job", "name": "x", "namespace": "a"}]},
            "workloads names no Deployment, DaemonSet or StatefulSet (only Job a/x)",
        ),
        ({"workloads": [{"kind": "Deployment", "name": " "}]}, "workloads: each entry needs a kind and a name"),
        (
            {"src": ["/nowhere/web.yml"]},
            "src: /nowhere/web.yml cannot be read (No such file or directory); paths are those of",
        ),
        ({"src": []}, "src is empty"),
    ],
)
def test_invalid_options_are_rejected_in_one_sentence(params: dict[str, Any], words: str) -> None:
    message = error_of(**params)
    assert words in message
    assert "\n" not in message


def test_an_invalid_file_is_reported_with_its_name_and_line_and_without_its_text(tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("kind: Secret\ndata: {password: hunter2\n")
    message = error_of(src=[str(tmp_path / "bad.yml")])
    assert message == f"{tmp_path}/bad.yml is neither YAML nor JSON (line 3, column 1): correct it"


def test_the_invalid_document_is_named_by_its_number() -> None:
    assert error_of(resource_definition=DEPLOYMENT + "---\nmetadata: {}\n").startswith(
        "the option resource_definition, document 2 has no kind"
    )


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    assert (
        error_of(src=[str(tmp_path)])
        == f"the option src: the folder {tmp_path} has no file that ends in .yaml, .yml, .json"
    )


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.yml").write_bytes(b"\xff\xfe\x00\x81")
    assert (
        error_of(src=[str(tmp_path / "x.yml")])
        == f"the option src: {tmp_path}/x.yml is not UTF-8 text, so it is not a manifest"
    )


@pytest.mark.parametrize("params", [{"resource_definition": SERVICE}, {"workloads": []}])
def test_nothing_to_wait_for_is_accepted_with_allow_empty(params: dict[str, Any]) -> None:
    assert targets(allow_empty=True, **params) == []
