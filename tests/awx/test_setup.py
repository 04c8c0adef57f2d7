# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/awx/setup.yml makes in AWX what the guide says, with the real modules of awx.awx."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from embedded_awx import EmbeddedAwx
from places import ROOT
from setup_run import CLUSTER_TOKEN, SETUP, Run, documented_options, fresh_awx, run_setup

# More nodes than the default, so that a time-out that forgot them would show.
VARIABLES: dict[str, Any] = {"awx_nodes": 50, "awx_notify_error": ["operators"], "awx_instance_groups": ["default"]}
TEMPLATES = ("prod: preflight", "prod: rolling patch", "prod: drain", "prod: uncordon")
WORKFLOW = "prod: patch with approval"


class Made(NamedTuple):
    awx: EmbeddedAwx
    folder: Path
    first: Run
    after_first: str
    second: Run
    after_second: str


@pytest.fixture(scope="module")
def made(awx_collection: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Run setup.yml twice on a fresh AWX."""
    folder = tmp_path_factory.mktemp("setup")
    with fresh_awx() as awx:
        first, after_first = run_setup(awx, awx_collection, folder, VARIABLES), awx.snapshot()
        second, after_second = run_setup(awx, awx_collection, folder, VARIABLES), awx.snapshot()
        yield Made(awx, folder, first, after_first, second, after_second)


def template(made: Made, name: str) -> dict[str, Any]:
    return made.awx.named("job_templates", name)


def survey(made: Made, name: str) -> dict[str, dict[str, Any]]:
    endpoint = "workflow_job_templates" if name == WORKFLOW else "job_templates"
    spec = made.awx.surveys[endpoint, made.awx.named(endpoint, name)["id"]]
    return {question["variable"]: question for question in spec["spec"]}


def test_a_fresh_awx_gets_everything(made: Made) -> None:
    assert made.first.status == 0, made.first.output
    assert [obj["name"] for obj in made.awx.objects["job_templates"]] == list(TEMPLATES)


def test_a_second_run_changes_nothing(made: Made) -> None:
    assert made.second.status == 0, made.second.output
    assert made.after_second == made.after_first


def test_a_second_run_reports_no_change_but_the_one_that_the_module_always_reports(made: Made) -> None:
    # Of an approval node, awx.awx 24.6.1 compares fields that AWX does not return.
    tasks = made.second.output.split("\nTASK [")[1:]
    assert [task.split("]")[0] for task in tasks if "\nchanged: " in task] == ["Make the workflow"]


def test_the_collection_has_nothing_to_warn_of(made: Made) -> None:
    assert re.findall(r"\[(?:WARNING|DEPRECATION WARNING)\].*", made.first.output) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_can_be_cut_into_slices_or_run_twice_at_once(made: Made, name: str) -> None:
    asked = ("job_slice_count", "ask_job_slice_count_on_launch", "allow_simultaneous")
    assert [template(made, name)[key] for key in asked] == [1, False, False]


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_names_a_playbook_of_the_project(made: Made, name: str) -> None:
    assert (ROOT / "docs" / "awx" / "project" / template(made, name)["playbook"]).is_file()


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_has_the_clusters_and_the_machines_credential(made: Made, name: str) -> None:
    found = made.awx.names_of("job_templates", template(made, name), "credentials", "credentials")
    assert found == ["Cluster prod", "Nodes of prod"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_nobody_may_add_variables_of_their_own(made: Made, name: str) -> None:
    assert template(made, name)["ask_variables_on_launch"] is False


@pytest.mark.parametrize("name", TEMPLATES)
def test_notifications_and_instance_groups_are_attached(made: Made, name: str) -> None:
    names = [
        made.awx.names_of("job_templates", template(made, name), association, of)
        for association, of in (
            ("notification_templates_error", "notification_templates"),
            ("notification_templates_success", "notification_templates"),
            ("instance_groups", "instance_groups"),
        )
    ]
    assert names == [["operators"], [], ["default"]]


def test_only_the_preflight_is_a_check_job(made: Made) -> None:
    kinds = {name: template(made, name)["job_type"] for name in TEMPLATES}
    assert kinds == {"prod: preflight": "check", **dict.fromkeys(TEMPLATES[1:], "run")}


def test_the_workflow_asks_for_approval_between_preflight_and_patch(made: Made) -> None:
    nodes = {node["identifier"]: node for node in made.awx.objects["workflow_job_template_nodes"]}
    follows = {
        name: made.awx.names_of("workflow_job_template_nodes", node, "success_nodes", "workflow_job_template_nodes")
        for name, node in nodes.items()
    }
    assert follows == {"preflight": ["approval"], "approval": ["rolling-patch"], "rolling-patch": []}
    runs = {name: node["unified_job_template"] for name, node in nodes.items()}
    (approval,) = made.awx.objects["workflow_approval_templates"]
    assert runs == {
        "preflight": template(made, "prod: preflight")["id"],
        "approval": approval["id"],
        "rolling-patch": template(made, "prod: rolling patch")["id"],
    }


def test_a_job_may_take_as_long_as_all_its_nodes_together(made: Made) -> None:
    limits = yaml.safe_load((SETUP.parent / "vars.yml").read_text(encoding="utf-8"))["awx_limits"]
    longest_drain = survey(made, "prod: rolling patch")["node_drain_timeout"]["max"]
    assert template(made, "prod: rolling patch")["timeout"] > VARIABLES["awx_nodes"] * (
        longest_drain + sum(limits.values())
    )
    assert template(made, "prod: drain")["timeout"] > VARIABLES["awx_nodes"] * longest_drain


def test_the_workflow_takes_no_second_run_meanwhile(made: Made) -> None:
    assert made.awx.named("workflow_job_templates", WORKFLOW)["allow_simultaneous"] is False


def test_what_the_workflow_asks_is_what_its_jobs_understand(made: Made) -> None:
    assert survey(made, WORKFLOW) == survey(made, "prod: rolling patch") == survey(made, "prod: preflight")


def test_the_token_reaches_the_credential(made: Made) -> None:
    credential = made.awx.named("credentials", "Cluster prod")
    assert made.awx.secrets[credential["id"]] == {
        "host": "https://api.example.org:6443",
        "bearer_token": CLUSTER_TOKEN,
        "verify_ssl": True,
        "ssl_ca_cert": "a certificate",
    }


def test_the_token_is_in_no_output_and_in_no_file(made: Made) -> None:
    files = [path for path in made.folder.rglob("*") if path.is_file() and CLUSTER_TOKEN.encode() in path.read_bytes()]
    assert files == []
    assert CLUSTER_TOKEN not in made.first.output + made.second.output
    assert CLUSTER_TOKEN not in json.dumps(made.awx.objects)


def test_without_a_login_it_says_what_to_set(awx_collection: Path, tmp_path: Path) -> None:
    with fresh_awx() as awx:
        run = run_setup(awx, awx_collection, tmp_path, {}, K8S_AUTH_API_KEY="")
    assert run.status != 0
    assert "AWX has no credential Cluster prod yet. Set K8S_AUTH_API_KEY in the environment" in run.output
    assert awx.changes == []


def test_a_kubeconfig_gets_a_credential_type_of_its_own(awx_collection: Path, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("apiVersion: v1\n", encoding="utf-8")
    with fresh_awx() as awx:
        run = run_setup(
            awx,
            awx_collection,
            tmp_path,
            {"awx_cluster_credential_type": "kubeconfig"},
            "--tags",
            "credential",
            K8S_AUTH_API_KEY="",
            K8S_AUTH_KUBECONFIG=str(kubeconfig),
        )
    assert run.status == 0, run.output
    assert awx.named("credential_types", "Kubeconfig")["injectors"] == {
        "file": {"template": "{{ kubeconfig }}"},
        "env": {"K8S_AUTH_KUBECONFIG": "{{ tower.filename }}"},
    }
    assert awx.secrets[awx.named("credentials", "Cluster prod")["id"]] == {"kubeconfig": "apiVersion: v1"}


def test_the_workflows_nodes_have_only_what_the_module_documents(awx_collection: Path, tmp_path: Path) -> None:
    # The module itself checks no deeper than "a list of dictionaries".
    nodes = yaml.safe_load((SETUP.parent / "templates.yml").read_text(encoding="utf-8"))["awx_workflow"]["nodes"]
    options = documented_options("awx.awx.workflow_job_template", awx_collection, tmp_path)
    assert undocumented(nodes, options["workflow_nodes"], "nodes") == []


def undocumented(value: Any, option: dict[str, Any], where: str) -> list[str]:
    """Return the places in a value that an option's documentation does not know."""
    if isinstance(value, list):
        return [fault for entry in value for fault in undocumented(entry, option, where)]
    if not isinstance(value, dict):
        return []
    known = option.get("suboptions") or {}
    faults = [f"{where}.{key}" for key in sorted(value.keys() - known.keys())]
    return faults + [
        fault for key in value.keys() & known.keys() for fault in undocumented(value[key], known[key], f"{where}.{key}")
    ]
