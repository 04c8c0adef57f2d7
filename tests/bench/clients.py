# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What drains and follows rollouts: this collection's modules, kubectl, and kubernetes.core.k8s_drain."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import measure
from measure import Run
from scenes import NODE

from places import BUILD, LINKED, VENV, environment

FOLDER = BUILD / "bench"
TESTS = Path(__file__).resolve().parent.parent
_CALLBACKS = TESTS / "bench" / "callbacks"
_TIMES = FOLDER / "task_seconds"
_PLAYBOOK = FOLDER / "play.json"
_LIMIT_SECONDS = 150
# What stands for ssh runs the command on this machine.
_ANOTHER_HOST = {
    "ansible_connection": "ssh",
    "ansible_ssh_executable": str(TESTS / "integration" / "targets" / "progress_remote" / "files" / "ssh.sh"),
    "ansible_ssh_transfer_method": "piped",
    "ansible_ssh_args": "",
}
Arguments = dict[str, Any]


class Task(NamedTuple):
    """How one task of a play ended.

    seconds: from its start, with the start of the module; ended: when that was, as time.time() says.
    """

    seconds: float
    ended: float
    failed: bool
    message: str


class Kubectl:
    """One command of kubectl, by its words."""

    name = "kubectl"

    def __init__(self, program: str, kubeconfig: Path, *words: str) -> None:
        self._command = [program, "--kubeconfig", str(kubeconfig), *words]

    def by_itself(self) -> Run:
        """Carry the command out once."""
        return measure.run(self._command, environment())


class Module:
    """A module, by itself and as tasks of a play.

    progress: what is shown of ours while it runs; elsewhere: it runs on another host, which is this one.
    """

    def __init__(
        self,
        name: str,
        module: str,
        venv: Path,
        collections: Path,
        arguments: Arguments,
        progress: str = "changes",
        elsewhere: bool = False,
    ) -> None:
        self.name = name
        self._progress = progress
        self._elsewhere = elsewhere
        self._module = module
        self._venv = venv
        self._collections = collections
        self._arguments = arguments
        self._scratch = FOLDER / f"tmp-{module.rpartition('.')[2]}"

    def play(self, tasks: int = 1, keep: bool = False) -> tuple[Run, list[Task]]:
        """Run a play of `tasks` such tasks. `keep`: leave behind what Ansible starts, for `by_itself`.

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
        return done, [Task(time["seconds"], time["ended"], time["failed"], time["msg"]) for time in times]

    def by_itself(self) -> Run:
        """Run the very file that Ansible started last in a play with `keep`, without Ansible."""
        kept = sorted(self._scratch.glob("*/AnsiballZ_*.py"))
        if not kept:
            raise SystemExit(f"{self.name}: the play left no module in {self._scratch}")
        return measure.run([str(self._venv / "bin" / "python"), str(kept[-1])], self._environment(keep=True))

    def _write_play(self, tasks: int) -> None:
        task = {"name": f"Measure {self._module}", self._module: self._arguments}
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task] * tasks}
        play["vars"] = {
            "ansible_python_interpreter": str(self._venv / "bin" / "python"),
            **(_ANOTHER_HOST if self._elsewhere else {}),
        }
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
    """Return this collection's drain."""
    return Module("k8s_node_drain", "kubeops.maintenance.k8s_node_drain", VENV, LINKED, _drain_of_node(kubeconfig))


def silent(kubeconfig: Path) -> Module:
    """Return this collection's drain without lines of progress."""
    arguments = _drain_of_node(kubeconfig)
    return Module("in silence", "kubeops.maintenance.k8s_node_drain", VENV, LINKED, arguments, "off")


def elsewhere(kubeconfig: Path, progress: str) -> Module:
    """Return this collection's drain on another host, with lines of progress (`changes`) or without (`off`)."""
    name = "k8s_node_drain" if progress == "changes" else "in silence"
    arguments = _drain_of_node(kubeconfig)
    return Module(name, "kubeops.maintenance.k8s_node_drain", VENV, LINKED, arguments, progress, elsewhere=True)


def theirs(venv: Path, kubeconfig: Path) -> Module:
    """Return kubernetes.core's drain, with the collection in `venv`/collections."""
    collections = venv / "collections"
    return Module("k8s_drain", "kubernetes.core.k8s_drain", venv, collections, _drain_of_node(kubeconfig))


def rollouts(kubeconfig: Path, **options: Any) -> Module:
    """Return this collection's module that follows rollouts, of Deployments in `bench`."""
    arguments = {"kubeconfig": str(kubeconfig), "kind": "Deployment", "namespace": "bench", **options}
    return Module("k8s_rollout_status", "kubeops.maintenance.k8s_rollout_status", VENV, LINKED, arguments)


def kubectl_drain(kubeconfig: Path) -> Kubectl | None:
    """Return `kubectl drain`, None if no kubectl is on PATH."""
    options = ["--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={_LIMIT_SECONDS}s"]
    return _kubectl(kubeconfig, "drain", NODE, *options)


def kubectl_rollouts(kubeconfig: Path, selector: str) -> Kubectl | None:
    """Return `kubectl rollout status` of Deployments in `bench`, None if no kubectl is on PATH."""
    options = ["--namespace=bench", f"--selector={selector}", f"--timeout={_LIMIT_SECONDS}s"]
    return _kubectl(kubeconfig, "rollout", "status", "deployments", *options)


def _kubectl(kubeconfig: Path, *words: str) -> Kubectl | None:
    program = shutil.which("kubectl", path=environment()["PATH"])
    return Kubectl(program, kubeconfig, *words) if program else None


def _drain_of_node(kubeconfig: Path) -> Arguments:
    options = {"ignore_daemonsets": True, "delete_emptydir_data": True, "wait_timeout": _LIMIT_SECONDS}
    return {"name": NODE, "kubeconfig": str(kubeconfig), "delete_options": options}


def python_version() -> str:
    """Return the version of the Python in use."""
    return sys.version.split()[0]
