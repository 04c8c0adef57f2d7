# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a playbook and note when each line of its output came: the task `heard`.

    plays       the plays, as in a playbook
    inventory   {host: {variables}}; hosts are reached by a local connection unless they say otherwise
    arguments   more arguments of ansible-playbook
    env         environment variables
    command     what to run in place of ansible-playbook; its arguments are the inventory and the playbook

The result has `rc`, `stdout` and `stderr` as texts, and what was shown of progress, lines that begin with a host's name
in brackets:

    lines   [{at, stream, host, task, text}...]; at: seconds since 1970; task: of the last headline before
    ends    {task: {host: at}}: when the result of a task on a host was shown
    most    the most lines of one host within about half a second
    slowness    how many times longer than its processor time a computation took meanwhile: 1 on an idle machine; what
                has to come within a second there may take so many seconds here
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

from ansible.plugins.action import ActionBase

LONGEST = 120.0
LINE = re.compile(r"^\[(\w[\w.-]*)\] (.*)$")
HEADLINE = re.compile(r"^(?:TASK|RUNNING HANDLER) \[(.*?)\]")
RESULT = re.compile(r"^(?:ok|changed|fatal|failed|skipping): \[(\w[\w.-]*)")


class Ear(threading.Thread):
    """Reads one stream of a process."""

    def __init__(self, name: str, stream: IO[str]) -> None:
        super().__init__(daemon=True)
        self.heard: list[tuple[float, str, str]] = []
        self._name, self._stream = name, stream
        self.start()

    def run(self) -> None:
        for line in self._stream:
            self.heard.append((time.time(), self._name, line.rstrip("\n")))


class Yardstick(threading.Thread):
    """Computes a little, again and again, to find out how slow the machine is at present."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._over = threading.Event()
        self._wall = self._processor = 0.0
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.25):
            wall, processor = time.monotonic(), time.thread_time()
            while time.thread_time() - processor < 0.01:
                pass
            self._wall += time.monotonic() - wall
            self._processor += time.thread_time() - processor

    def read(self) -> float:
        """Stop measuring. Return how many times longer than its processor time the computing took."""
        self._over.set()
        self.join(5)
        return max(1.0, round(self._wall / self._processor, 2)) if self._processor else 1.0


def understood(heard: list[tuple[float, str, str]]) -> dict[str, Any]:
    """Return what lines of output mean; the docstring of this file says how."""
    lines: list[dict[str, Any]] = []
    ends: dict[str, dict[str, float]] = {}
    task = ""
    for at, stream, text in sorted(heard, key=lambda entry: entry[0]):
        if found := HEADLINE.match(text):
            task = found[1]
        elif found := RESULT.match(text):
            ends.setdefault(task, {})[found[1]] = at
        elif (found := LINE.match(text)) and not found[1].isupper():
            lines.append({"at": at, "stream": stream, "host": found[1], "task": task, "text": found[2]})
    return {"lines": lines, "ends": ends, "most": most_in_a_second(lines)}


def most_in_a_second(lines: list[dict[str, Any]]) -> int:
    """Return the most lines of one host and task that came within a time in which two may come.

    It is less than a second, because a line that is printed late comes nearer to the next.
    """
    return max(
        (
            sum(
                1
                for other in lines
                if 0 <= other["at"] - line["at"] < 0.6
                and (other["host"], other["task"]) == (line["host"], line["task"])
            )
            for line in lines
        ),
        default=0,
    )


class ActionModule(ActionBase):
    """The task `heard`."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        args = self._task.args
        with tempfile.TemporaryDirectory(dir=task_vars["setup_kubesim_folder"]) as folder:
            process = subprocess.Popen(
                self._command(Path(folder), args, task_vars),
                env=self._environment(Path(folder), args.get("env") or {}, task_vars),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            yardstick = Yardstick()
            ears = [Ear("stdout", process.stdout), Ear("stderr", process.stderr)]
            try:
                result["rc"] = process.wait(LONGEST)
            finally:
                process.kill()
                result["slowness"] = yardstick.read()
            for ear in ears:
                ear.join(5)
        result.update(understood([entry for ear in ears for entry in ear.heard]))
        result.update({ear._name: "\n".join(text for _at, _name, text in ear.heard) for ear in ears})
        return result

    @staticmethod
    def _command(folder: Path, args: dict[str, Any], task_vars: dict[str, Any]) -> list[str]:
        python = task_vars["kubeops_python"]
        basis = {"ansible_connection": "local", "ansible_python_interpreter": python}
        hosts = {host: {**basis, **(variables or {})} for host, variables in args["inventory"].items()}
        (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}), encoding="utf-8")
        (folder / "play.yml").write_text(json.dumps(args["plays"]), encoding="utf-8")
        (folder / "files").symlink_to(task_vars["setup_kubesim_folder"])
        command = args.get("command") or [str(Path(python).with_name("ansible-playbook"))]
        more = [str(argument) for argument in args.get("arguments") or []]
        return [*command, "-i", str(folder / "hosts.json"), str(folder / "play.yml"), *more]

    @staticmethod
    def _environment(folder: Path, env: dict[str, str], task_vars: dict[str, Any]) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key in ("HOME", "PATH", "LANG", "LC_ALL", "USER")}
        return {
            **kept,
            "ANSIBLE_COLLECTIONS_PATH": task_vars["kubeops_collections"],
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCAL_TEMP": str(folder / "local"),
            "ANSIBLE_REMOTE_TEMP": str(folder / "remote"),
            "ANSIBLE_ASYNC_DIR": str(folder / "async"),
            "PYTHONUNBUFFERED": "1",
            **{key: str(value) for key, value in env.items()},
        }
