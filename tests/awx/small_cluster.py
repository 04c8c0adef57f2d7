# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of two workers for jobs, and what a job finds in the project and the inventory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from embedded_cluster import SELF, EmbeddedCluster
from job import PROJECT, Job, bearer_token_environment
from kubesim import builders
from kubesim.scenarios import settled, workers
from places import ROOT

SECRET = "the-token-of-a-credential"
USER = "awx"
NEW_KUBELET = "v1.36.3"
NODES = ("worker-1", "worker-2")
# A patch as a user's project would have it; the embedded cluster plays the machine.
PATCH = """
- name: Upgrade the kubelet and reboot
  ansible.builtin.uri:
    url: "{{ lookup('ansible.builtin.env', 'K8S_AUTH_HOST') }}/kubesim/nodes/{{ node_patch_node }}/reboot"
    ca_path: "{{ lookup('ansible.builtin.env', 'K8S_AUTH_SSL_CA_CERT') }}"
    use_proxy: false
    method: POST
    body_format: json
    body: {down: 1, kubelet_version: v1.36.3}

- name: Say that it was rebooted
  ansible.builtin.set_fact:
    node_patch_rebooted: true
"""
# There is no machine to log in to.
HOST = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
PACE = {"node_patch_soak": 0, "node_patch_wait_sleep": 1, "node_drain_wait_sleep": 1}


def start(folder: Path) -> EmbeddedCluster:
    """Return a cluster to enter with `with`; fill() it then."""
    return EmbeddedCluster(folder, lifetime=300.0)


def fill(cluster: EmbeddedCluster) -> None:
    """Load two workers with a workload that has a budget, and let the credential's account in."""
    objects = [
        *workers(2),
        builders.daemon_set("agent", "kube-system", start=0.2, term=0.2),
        builders.deployment("web", 4, "shop", start=0.3, term=0.3),
        builders.budget("web", "shop", max_unavailable=1),
    ]
    cluster.control("POST", "load", {"objects": settled(objects)})
    cluster.control("POST", "access", {"tokens": {SECRET: {"user": USER, "groups": [], "rules": "*"}}})


def survey_answers() -> dict[str, Any]:
    """Return the variables that AWX sets if the user leaves all questions of the rolling patch as they are."""
    surveys = yaml.safe_load((ROOT / "docs" / "awx" / "surveys.yml").read_text(encoding="utf-8"))
    asked = json.dumps(surveys["awx_patch_survey"])
    return {name: q["default"] for name, q in surveys["awx_questions"].items() if f"awx_questions.{name} " in asked}


def job(
    cluster: EmbeddedCluster, folder: Path, playbook: str, *, check: bool = False, token: str = SECRET, **variables: Any
) -> Job:
    """Return a job on the two workers, with the variables of the example inventory but for its window."""
    example = yaml.safe_load((PROJECT / "inventory" / "nodes.yml").read_text(encoding="utf-8"))
    shared = example["all"]["children"]["nodes"]["vars"]
    del shared["node_patch_window"]
    host = {**shared, **HOST, **PACE, "node_patch_tasks": "patch.yml"}
    # AWX adds these to each job's extra variables.
    given = {"awx_job_id": 4711, "awx_job_template_name": "prod: rolling patch", **variables}
    return Job(
        folder,
        playbook,
        dict.fromkeys(NODES, host),
        given,
        bearer_token_environment(cluster, token, folder),
        files={"patch.yml": PATCH},
        check=check,
    )


def nodes(cluster: EmbeddedCluster) -> dict[str, dict[str, Any]]:
    """Return the nodes by name."""
    return {node["metadata"]["name"]: node for node in cluster.call("GET", "/api/v1/nodes")["items"]}


def cordoned(cluster: EmbeddedCluster) -> list[str]:
    """Return the names of the nodes that are cordoned."""
    return [name for name, node in nodes(cluster).items() if node["spec"].get("unschedulable")]


def leases(cluster: EmbeddedCluster) -> list[str]:
    """Return the names of the maintenance locks that are held."""
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    return [lease["metadata"]["name"] for lease in cluster.call("GET", path)["items"]]


def requests(cluster: EmbeddedCluster) -> list[dict[str, Any]]:
    """Return the API requests so far that are not ours, nor the patch's."""
    log = cluster.control("GET", "requests")
    return [entry for entry in log if entry["user_agent"] != SELF and not entry["path"].startswith("/kubesim")]


def changes(cluster: EmbeddedCluster) -> list[str]:
    """Return "METHOD path" of the requests that were meant to change something."""
    return [
        f"{entry['method']} {entry['path']}"
        for entry in requests(cluster)
        if entry["method"] != "GET"
        and "accessreview" not in entry["path"]
        and "dryRun" not in entry["query"]
        and '"dryRun"' not in entry["body"]
    ]
