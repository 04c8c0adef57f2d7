# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What drains: this collection's module, kubectl, and kubernetes.core.k8s_drain."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import measure
from measure import Run
from scenes import NODE

from places import BUILD, LINKED, VENV, environment

FOLDER = BUILD / "bench"
_CALLBACKS = Path(__file__).resolve().parent / "callbacks"
_TIMES = FOLDER / "task_seconds"
_PLAYBOOK = FOLDER / "play.json"
_LIMIT_SECONDS = 150


class Task(NamedTuple):
    """How one task of a play ended; seconds from its start, with the start of the module."""

    seconds: float
    failed: bool
    message: str


class Kubectl:
    """`kubectl drain`."""

    name = "kubectl"

    def __init__(self, program: str, kubeconfig: Path) -> None:
        self._command = [program, "--kubeconfig", str(kubeconfig), "drain", NODE, "--ignore-daemonsets"]
        self._command += ["--delete-emptydir-data", f"--timeout={_LIMIT_SECONDS}s"]

    def drain(self) -> Run:
        """Drain NODE once."""
        return measure.run(self._command, environment())


class Module:
    """A drain module, by itself and as tasks of a play. progress: what is shown of ours while it runs."""

    def __init__(
        self, name: str, module: str, venv: Path, collections: Path, kubeconfig: Path, progress: str = "changes"
    ) -> None:
        self.name = name
        self._progress = progress
        self._module = module
        self._venv = venv
        self._collections = collections
        self._kubeconfig = kubeconfig
        self._scratch = FOLDER / f"tmp-{module.rpartition('.')[2]}"

    def play(self, tasks: int = 1, keep: bool = False) -> tuple[Run, list[Task]]:
        """Run a play that drains NODE in so many tasks. `keep`: leave behind what Ansible starts, for `drain`.

        Memory is that of the module's process. SystemExit when the play did not even come to its tasks.
        """
        if keep:
            shutil.rmtree(self._scratch, ignore_errors=True)
        _TIMES.unlink(missing_ok=True)
        self._write_play(tasks)
        command = [str(self._venv / "bin" / "ansible-playbook"), "-i", "localhost,", str(_PLAYBOOK)]
        done = measure.run(command, self._environment(keep), only="AnsiballZ_")
        lines = _TIMES.read_text(encoding="utf-8").splitlines() if _TIMES.exists() else []
        if not lines:
            raise SystemExit(f"{self.name}: the play ended with {done.status}\n{done.output}")
        times = [json.loads(line) for line in lines]
        return done, [Task(time["seconds"], time["failed"], time["msg"]) for time in times]

    def drain(self) -> Run:
        """Drain NODE once with the very file that Ansible started last in a play with `keep`, without Ansible."""
        kept = sorted(self._scratch.glob("*/AnsiballZ_*.py"))
        if not kept:
            raise SystemExit(f"{self.name}: the play left no module in {self._scratch}")
        return measure.run([str(self._venv / "bin" / "python"), str(kept[-1])], self._environment(keep=True))

    def _write_play(self, tasks: int) -> None:
        arguments = {
            "name": NODE,
            "kubeconfig": str(self._kubeconfig),
            "delete_options": {
                "ignore_daemonsets": True, "delete_emptydir_data": True, "wait_timeout": _LIMIT_SECONDS,
            },
        }
        task = {"name": f"Drain with {self._module}", self._module: arguments}
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task] * tasks}
        play["vars"] = {"ansible_python_interpreter": str(self._venv / "bin" / "python")}
        _PLAYBOOK.write_text(json.dumps([play], indent=2) + "\n", encoding="utf-8")

    def _environment(self, keep: bool) -> dict[str, str]:
        env = environment(
            ANSIBLE_COLLECTIONS_PATH=str(self._collections),
            ANSIBLE_CALLBACK_PLUGINS=str(_CALLBACKS),
            ANSIBLE_CALLBACKS_ENABLED="task_seconds",
            ANSIBLE_HOME=str(FOLDER / "ansible-home"),
            ANSIBLE_REMOTE_TMP=str(self._scratch),
            ANSIBLE_KEEP_REMOTE_FILES=str(keep),
            KUBEOPS_TASK_SECONDS=str(_TIMES),
            K8S_MAINTENANCE_PROGRESS=self._progress,
        )
        env["PATH"] = f"{self._venv / 'bin'}{os.pathsep}{env['PATH']}"
        return env


def ours(kubeconfig: Path) -> Module:
    """Return this collection's module."""
    return Module("k8s_node_drain", "kubeops.maintenance.k8s_node_drain", VENV, LINKED, kubeconfig)


def silent(kubeconfig: Path) -> Module:
    """Return this collection's module without lines of progress."""
    return Module("in silence", "kubeops.maintenance.k8s_node_drain", VENV, LINKED, kubeconfig, "off")


def theirs(venv: Path, kubeconfig: Path) -> Module:
    """Return kubernetes.core's module, with the collection in `venv`/collections."""
    return Module("k8s_drain", "kubernetes.core.k8s_drain", venv, venv / "collections", kubeconfig)


def find_kubectl(kubeconfig: Path) -> Kubectl | None:
    """Return the kubectl on PATH, None if there is none."""
    program = shutil.which("kubectl", path=environment()["PATH"])
    return Kubectl(program, kubeconfig) if program else None


def python_version() -> str:
    """Return the version of the Python in use."""
    return sys.version.split()[0]
