# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run docs/awx/setup.yml as a person would, against the embedded AWX."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from embedded_awx import TOKEN, EmbeddedAwx
from places import LINKED, ROOT, VENV, environment, link

SETUP = ROOT / "docs" / "awx" / "setup.yml"
CLUSTER_TOKEN = "a-cluster-token-that-nobody-may-see"
_LIMIT = 120


class Run(NamedTuple):
    status: int
    output: str


def fresh_awx() -> EmbeddedAwx:
    """Return an AWX as it is after its installation, plus what vars.yml says is there already."""
    return EmbeddedAwx(
        organizations=["Default"],
        credential_types=["Machine", "OpenShift or Kubernetes API Bearer Token"],
        credentials=["Nodes of prod"],
        instance_groups=["default"],
        notification_templates=["operators"],
    )


def run_setup(
    awx: EmbeddedAwx, collections: Path, folder: Path, variables: dict[str, Any], *more: str, **env: str
) -> Run:
    """Run setup.yml with the environment that its head asks for, changed by `env`; an empty value unsets one."""
    link()
    authority = folder / "ca.crt"
    authority.write_text("a certificate\n", encoding="utf-8")
    wanted = {
        "HOME": str(folder),
        "ANSIBLE_COLLECTIONS_PATH": f"{LINKED}:{collections}",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "CONTROLLER_HOST": awx.url,
        "CONTROLLER_OAUTH_TOKEN": TOKEN,
        "K8S_AUTH_HOST": "https://api.example.org:6443",
        "K8S_AUTH_API_KEY": CLUSTER_TOKEN,
        "K8S_AUTH_SSL_CA_CERT": str(authority),
        "no_proxy": "127.0.0.1",
        "NO_PROXY": "127.0.0.1",
        **env,
    }
    command = [str(VENV / "bin" / "ansible-playbook"), "-vv", str(SETUP), "-e", json.dumps(variables), *more]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment(**{k: v for k, v in wanted.items() if v}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    return Run(done.returncode, done.stdout)


def documented_options(module: str, collections: Path, folder: Path) -> dict[str, Any]:
    """Return the options of a module as its documentation has them."""
    env = environment(HOME=str(folder), ANSIBLE_COLLECTIONS_PATH=str(collections))
    command = [str(VENV / "bin" / "ansible-doc"), "-j", "-t", "module", module]
    said = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    options: dict[str, Any] = json.loads(said)[module]["doc"]["options"]
    return options
