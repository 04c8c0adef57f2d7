# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An embedded cluster whose nodes playbooks of the collection patch, each playbook as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from embedded_cluster import SELF, EmbeddedCluster
from kubesim import builders
from kubesim.scenarios import settled
from places import BUILD, VENV, environment, link

# The environment whose Ansible runs the playbooks: that of the tests unless another one is named.
ANSIBLE = Path(os.environ.get("ROLLING_VENV") or VENV)
OLD_KUBELET, NEW_KUBELET = "v1.36.2", "v1.36.3"
TOKEN = "the-token-of-the-account"
Rule = dict[str, Any]
LOCK = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
# The machine's part is played by the simulator.
REBOOT = """---
- name: Install a newer kubelet and reboot
  ansible.builtin.uri:
    url: "{{ cluster_url }}/kubesim/nodes/{{ node_patch_node }}/reboot"
    ca_path: "{{ cluster_ca }}"
    use_proxy: false
    method: POST
    body_format: json
    body: {down: 1, kubelet_version: v1.36.3}
"""
NOTHING = """---
- name: Patch nothing
  ansible.builtin.debug:
    msg: nothing
"""


class Played(NamedTuple):
    """How a playbook ended. records: by node, from the JSON report, empty if it wrote none."""

    status: int
    output: str
    records: dict[str, dict[str, Any]]

    def states(self) -> dict[str, str]:
        return {node: record["state"] for node, record in self.records.items()}


class PatchedCluster(EmbeddedCluster):
    """A cluster to fill and to patch; in a `with` block."""

    def __init__(self, folder: Path, lifetime: float = 1800.0) -> None:
        super().__init__(folder / "kubesim", lifetime=lifetime)
        self.place = folder
        self._report = folder / "report.json"

    def __enter__(self) -> PatchedCluster:
        link()
        super().__enter__()
        self.write("reboot.yml", REBOOT)
        self.write("nothing.yml", NOTHING)
        return self

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder in which playbooks are started."""
        path = self.place / name
        path.write_text(text, encoding="utf-8")
        return path

    def fill(self, *objects: dict[str, Any], workers: int = 2, control_plane: int = 0) -> None:
        """Empty the cluster, put nodes w1, w2... and cp1... into it and a web shop on them, and the objects."""
        nodes = [builders.node(f"w{number}") for number in range(1, workers + 1)]
        nodes += [builders.node(f"cp{number}", control_plane=True) for number in range(1, control_plane + 1)]
        pace = {"start": 0.2, "term": 0.2}
        shop = [
            builders.daemon_set("agent", "kube-system", **pace),
            builders.deployment("web", 2 * workers, "shop", **pace),
            builders.budget("web", "shop", max_unavailable=max(1, workers // 2)),
        ]
        self.control("POST", "reset", {})
        self.control("POST", "load", {"objects": settled([*nodes, *shop, *objects])})
        self.control("DELETE", "requests")

    def account(self, rules: list[Rule]) -> dict[str, str]:
        """Make an account that may do this and nothing else; return the connection options for it."""
        self.control("POST", "access", {"tokens": {TOKEN: {"user": "patcher", "groups": [], "rules": rules}}})
        return {"host": self.url, "api_key": TOKEN, "ca_cert": str(self.ca)}

    def requests(self) -> int:
        """Return how many requests playbooks have sent."""
        return sum(entry["user_agent"] != SELF for entry in self.control("GET", "requests"))

    def forbidden(self) -> list[str]:
        """Return the requests that an account had no right to."""
        requests = self.control("GET", "requests")
        return [f"{entry['method']} {entry['path']}" for entry in requests if entry["status"] == 403]

    def inventory(self, hosts: dict[str, dict[str, Any]], **variables: Any) -> None:
        """Write the inventory; variables are added to those that every playbook here needs."""
        settings = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "cluster_url": self.url,
            "cluster_ca": str(self.ca),
            "node_patch_connection": {"kubeconfig": str(self.kubeconfig)},
            "node_drain_timeout": 60,
            "node_drain_wait_sleep": 1,
            "node_patch_wait_sleep": 1,
            "node_patch_soak": 0,
            "node_patch_gate_timeout": 20,
            "node_patch_ready_timeout": 60,
            "node_patch_heal_timeout": 60,
            "node_patch_tasks": "nothing.yml",
            "node_patch_reboot": "always",
            "node_patch_reboot_tasks": "reboot.yml",
            "node_patch_report_file": str(self._report),
            **variables,
        }
        self.write("inventory.json", json.dumps({"nodes": {"hosts": hosts, "vars": settings}}))

    def start(self, playbook: str, *arguments: str, output: Path | None = None) -> subprocess.Popen[str]:
        """Start a playbook, of the collection or a file of the folder, in a process group of its own."""
        self._report.unlink(missing_ok=True)
        name = playbook if playbook.endswith(".yml") else f"kubeops.maintenance.{playbook}"
        env = environment(ANSIBLE_HOME=str(BUILD / "ansible-home"), ANSIBLE_FORKS="5")
        env["no_proxy"] = env["NO_PROXY"] = "127.0.0.1"
        with open(output or os.devnull, "w", encoding="utf-8") as written:
            return subprocess.Popen(
                [str(ANSIBLE / "bin" / "ansible-playbook"), "-i", "inventory.json", name, *arguments],
                cwd=self.place,
                env=env,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                stdout=written,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def play(self, playbook: str, *arguments: str) -> Played:
        """Run a playbook to its end."""
        output = self.place / "output.txt"
        run = self.start(playbook, *arguments, output=output)
        try:
            status = run.wait(240)
        finally:
            if run.poll() is None:
                run.kill()
                run.wait()
        records = json.loads(self._report.read_text(encoding="utf-8")) if self._report.exists() else []
        return Played(status, output.read_text(encoding="utf-8"), {record["node"]: record for record in records})

    def nodes(self) -> dict[str, dict[str, Any]]:
        """Return the nodes by name."""
        return {node["metadata"]["name"]: node for node in self.call("GET", "/api/v1/nodes")["items"]}

    def cordoned(self) -> list[str]:
        """Return the names of the nodes that are cordoned, or that somebody is still written down for."""
        owners = "kubeops.maintenance/cordon-owners"
        return [
            name
            for name, node in self.nodes().items()
            if node["spec"].get("unschedulable") or owners in (node["metadata"].get("annotations") or {})
        ]

    def kubelets(self) -> dict[str, str]:
        """Return the kubelet versions by node."""
        return {name: node["status"]["nodeInfo"]["kubeletVersion"] for name, node in self.nodes().items()}

    def locks(self) -> list[str]:
        """Return who holds locks."""
        return [lease["spec"].get("holderIdentity", "") for lease in self.call("GET", LOCK)["items"]]

    def changes(self) -> list[str]:
        """Return the requests of playbooks that changed something; the lock does not count."""
        return [
            f"{entry['method']} {entry['path']}"
            for entry in self.control("GET", "requests")
            if entry["method"] != "GET"
            and entry["user_agent"] != SELF
            and not entry["path"].startswith("/kubesim")
            and "accessreview" not in entry["path"]
            and "/leases" not in entry["path"]
            and "dryRun" not in entry["query"]
            and '"dryRun"' not in entry["body"]
        ]

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()


def rules_of(manifest: list[dict[str, Any]]) -> list[Rule]:
    """Return what an account with the roles of a manifest may do, as the simulator wants it."""
    found = []
    for obj in manifest:
        place = {"namespace": obj["metadata"]["namespace"]} if obj["kind"] == "Role" else {}
        found += [{**rule, **place} for rule in obj.get("rules", [])]
    return found


def hosts(*names: str) -> dict[str, dict[str, Any]]:
    """Return an inventory's hosts, each named as its node."""
    return {name: {} for name in names}
