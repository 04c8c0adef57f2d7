# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the collection's playbook over some nodes, with Ansible's output on the terminal as it comes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from places import BUILD, VENV, environment

HERE = Path(__file__).resolve().parent
FOLDER = BUILD / "demo"
_INVENTORY = FOLDER / "inventory.json"
_REPORT = FOLDER / "report.json"
_END_SECONDS = 5.0
# Ansible's own settings: tasks that changed nothing or did not apply are not shown.
_QUIET = {"ANSIBLE_DISPLAY_OK_HOSTS": "false", "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false"}


def upgrade(nodes: list[str], kubeconfig: Path, **variables: Any) -> tuple[bool, dict[str, Any]]:
    """Run the playbook; return whether it succeeded, and its record of each node that it came to."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _REPORT.unlink(missing_ok=True)
    settings = {
        # There is no machine to log in to.
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "node_patch_connection": {"kubeconfig": str(kubeconfig)},
        "node_patch_wait_sleep": 1,
        "node_patch_soak": 1,
        "node_patch_report_file": str(_REPORT),
        **variables,
    }
    inventory = {"nodes": {"hosts": {node: {} for node in nodes}, "vars": settings}}
    _INVENTORY.write_text(json.dumps(inventory, indent=2) + "\n", encoding="utf-8")
    command = ["ansible-playbook", "-i", str(_INVENTORY), "kubeops.maintenance.upgrade"]
    # The output must be what a user sees who types the command.
    quiet = [f"{name}={value}" for name, value in _QUIET.items()]
    print("\n    " + " \\\n    ".join([*quiet, " ".join(command)]), flush=True)
    status = _run([str(VENV / "bin" / command[0]), *command[1:]])
    records = json.loads(_REPORT.read_text(encoding="utf-8")) if _REPORT.exists() else []
    return status == 0, {record["node"]: record for record in records}


def _run(command: list[str]) -> int:
    process = subprocess.Popen(command, cwd=FOLDER, env=_environment(), stdin=subprocess.DEVNULL)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            # Interrupted, Ansible ends its workers too; killed, it would leave them behind.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment() -> dict[str, str]:
    env = environment(ANSIBLE_HOME=str(BUILD / "ansible-home"), **_QUIET)
    direct = env.get("no_proxy") or env.get("NO_PROXY")
    env["no_proxy"] = env["NO_PROXY"] = f"{direct},127.0.0.1" if direct else "127.0.0.1"
    if sys.stdout.isatty():
        del env["ANSIBLE_NOCOLOR"], env["NO_COLOR"]
    return env
