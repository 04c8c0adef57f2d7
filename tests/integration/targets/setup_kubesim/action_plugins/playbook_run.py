# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run other playbooks beside the one that tests, signal their processes and see how they end: the task `playbook_run`.

    start    a name for the run, with
             tasks        its tasks, on localhost
             verbosity    how many -v (default 1)
             env          environment variables
    signal   TERM, KILL or INT, sent to one process of the run called
    run      ... with
    to       playbook (ansible-playbook itself) or module (the process of k8s_node_drain)
    finish   names of runs to wait for; workers that a killed ansible-playbook left behind are ended then

The result of `signal` has the module's process in `module` (0: the playbook had none), whether it is `gone` in the end,
and after how many `seconds`; that of `finish` tells of each
run, by name: `rc` (negative: the signal that ended it), `output`, and `results` of its tasks in their order.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

MODULE = "AnsiballZ_k8s_node_drain.py"
PATIENCE = 30.0  # seconds for what should come soon
RESULT = re.compile(r"^(?:ok|changed|fatal|failed): \[localhost\].*? => (\{.*\})$", re.MULTILINE)

# Stays as long as the playbook runs, writes down its pid and how it ended. A shell would let it ignore SIGINT.
LAUNCHER = """
import os, signal, subprocess, sys
folder, *command = sys.argv[1:]
signal.signal(signal.SIGINT, signal.SIG_DFL)
with open(os.path.join(folder, "output"), "w") as output:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
for name, value in (("pid", process.pid), ("rc", None)):
    value = process.wait() if value is None else value
    with open(os.path.join(folder, name + ".new"), "w") as file:
        file.write(str(value))
    os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))
"""


class Processes:
    """The processes of this machine, as /proc shows them."""

    @staticmethod
    def stat(pid: int) -> list[str]:
        """Return state, parent and so on; [] for a process that has ended."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        fields = text.rpartition(")")[2].split()
        return [] if fields[0] in "ZX" else fields

    def module_of(self, playbook: int) -> int | None:
        """Return the process of k8s_node_drain that a playbook has started."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and self._is_module(entry) and self._descends(int(entry.name), playbook):
                return int(entry.name)
        return None

    def workers_of(self, playbook: int) -> list[str]:
        """Return the children of ansible-playbook, each as its pid and the tick of its start."""
        every = [(entry.name, self.stat(int(entry.name))) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [f"{name} {fields[19]}" for name, fields in every if fields and fields[1] == str(playbook)]

    def end(self, worker: str) -> None:
        """End a worker, if it is still the same process."""
        pid, _space, started = worker.partition(" ")
        if self.stat(int(pid))[19:20] == [started]:
            os.kill(int(pid), signal.SIGKILL)

    @staticmethod
    def _is_module(entry: Path) -> bool:
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return False
        return len(words) > 1 and "python" in os.path.basename(words[0]) and words[1].endswith(MODULE)

    def _descends(self, pid: int, ancestor: int) -> bool:
        while pid > 1:
            if pid == ancestor:
                return True
            fields = self.stat(pid)
            pid = int(fields[1]) if fields else 0
        return False


def awaited(what: str, look: Callable[[], Any]) -> Any:
    """Return what `look` finds as soon as that is something; TimeoutError names what did not come."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError(f"{what} did not come within {PATIENCE:g} s")


class ActionModule(ActionBase):
    """The task `playbook_run`."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        self._vars = task_vars
        args = dict(self._task.args)
        if "start" in args:
            self._start(args["start"], args["tasks"], int(args.get("verbosity", 1)), args.get("env") or {})
        if "signal" in args:
            result.update(self._signal(args["run"], signal.Signals[f"SIG{args['signal']}"], args["to"]))
        result.update({name: self._finish(name) for name in args.get("finish", [])})
        return result

    def _folder(self, name: str) -> Path:
        return Path(self._vars["setup_kubesim_folder"]) / f"run-{name}"

    def _start(self, name: str, tasks: list[Any], verbosity: int, env: dict[str, str]) -> None:
        folder = self._folder(name)
        (folder / "tmp").mkdir(parents=True)
        play = {"name": f"Play {name}", "hosts": "localhost", "gather_facts": False, "tasks": tasks}
        (folder / "play.yml").touch(0o600)
        (folder / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
        python = self._vars["kubeops_python"]
        command = [str(Path(python).with_name("ansible-playbook")), str(folder / "play.yml")]
        command += ["-" + "v" * verbosity] if verbosity else []
        kept = {key: value for key, value in os.environ.items() if key in ("HOME", "PATH", "LANG", "LC_ALL", "USER")}
        own = {
            "ANSIBLE_COLLECTIONS_PATH": self._vars["kubeops_collections"],
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCAL_TEMP": str(folder / "tmp" / "local"),
            "ANSIBLE_REMOTE_TEMP": str(folder / "tmp" / "remote"),
            "ANSIBLE_ASYNC_DIR": str(folder.parent / "async"),
            "TMPDIR": str(folder / "tmp"),
        }
        subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(folder), *command],
            env={**kept, **own, **env},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _pid(self, name: str) -> int:
        return int(awaited(f"the process of {name}", lambda: self._text(name, "pid")))

    def _text(self, name: str, file: str) -> str:
        path = self._folder(name) / file
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def _signal(self, name: str, number: signal.Signals, target: str) -> dict[str, Any]:
        processes, playbook = Processes(), self._pid(name)
        module = processes.module_of(playbook) or 0
        if target == "module" and not module:
            raise ValueError(f"{name} runs no module")
        (self._folder(name) / "workers").write_text("\n".join(processes.workers_of(playbook)), encoding="utf-8")
        began = time.monotonic()
        os.kill(module if target == "module" else playbook, number)
        while module and processes.stat(module) and time.monotonic() - began < PATIENCE:
            time.sleep(0.02)
        seconds = round(time.monotonic() - began, 2)
        return {"module": module, "gone": not processes.stat(module), "seconds": seconds}

    def _finish(self, name: str) -> dict[str, Any]:
        rc = int(awaited(f"the end of {name}", lambda: self._text(name, "rc")))
        for worker in self._text(name, "workers").splitlines():
            Processes().end(worker)
        output = self._text(name, "output")
        return {"rc": rc, "output": output, "results": [json.loads(found) for found in RESULT.findall(output)]}
