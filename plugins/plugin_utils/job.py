# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module as a job of its own on another host, or as another user, and read its lines meanwhile."""

from __future__ import annotations

import contextlib
import inspect
import os
import secrets
import shlex
from typing import Any, NamedTuple

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure

from ..module_utils.job_folder import FOLDER, PREFIX
from ..module_utils.waiting import Clock
from .files import ActionWithFiles
from .lines import Lines

# Ansible ends a job after so many seconds; the module's own deadline comes much sooner.
LONGEST_JOB = 30 * 86400
# How long a host may be out of reach until the task counts as lost, in seconds. The module notices a little later that
# nobody asks any more.
LONGEST_ABSENCE = 45.0
# A job whose process is gone has so many seconds to have left its result.
LAST_WORDS = 10.0
# A module says that it has begun within so many seconds.
LONGEST_START = 120.0

# Wait a second at most for news, then print how the job stands, the lines from number %(first)d on, and in the end the
# result. The job's file holds the module's result when it has ended, and something short before. The module makes the
# folder of the lines when it begins, and a file there that it takes for a sign that somebody reads them. A module that
# has told its last line ends soon, so that the first looks after a line are close together.
_ASK = (
    "d=%(folder)s; i=0; while :; do case $(head -c 50 %(result)s 2>/dev/null) in "
    """'{"started": '*'"finished": '[0fF]*) if [ %(pid)d -eq 0 ] || kill -0 %(pid)d 2>/dev/null; """
    "then s=running; else s=lost; fi;; *) s=ended;; esac; "
    "if [ $s != running ] || [ $d/lines -nt $d/asked ] || [ $i -ge 14 ]; then break; fi; "
    "if [ $i -lt 5 ]; then s=0.02; else s=0.1; fi; "
    "if sleep $s 2>/dev/null; then i=$((i+1)); else sleep 1; i=14; fi; done; "
    "[ ! -d $d ] || touch $d/asked; echo %(mark)s$s; tail -n +%(first)d $d/lines 2>/dev/null; "
    "if [ $s = ended ]; then echo %(mark)s; cat %(result)s; fi"
)
# End a job that nobody waits for any more. It leaves a result, which is nobody's either, after a moment.
_END = (
    "kill -TERM %(pid)d 2>/dev/null; rm -rf %(folder)s; "
    "(i=0; while [ $i -lt 300 ]; do case $(head -c 12 %(result)s) in '{\"started\": '*) ;; *) break;; esac; "
    "sleep 0.2 || sleep 1; i=$((i+1)); done; rm -f %(result)s) >/dev/null 2>&1 </dev/null &"
)

# The only key of Ansible's own that reading a result adds.
_PARSED = "_ansible_parsed"
# What Ansible adds to the result of a job.
_OF_THE_JOB = {
    *("ansible_job_id", "started", "finished", "results_file"),
    *("stdout", "stderr", "stdout_lines", "stderr_lines"),
}


class Asked(NamedTuple):
    """How a job stands ("" if that is unknown), its complete new lines, and what it left as its result."""

    state: str
    lines: list[str]
    result: str = ""


class ActionWithJob(ActionWithFiles):
    """The part of the action plugins that starts a job, follows it, and fetches its result.

    Each command on another host takes its time. Beyond those of a module that is waited for there is one that starts
    the job, and one or more that wait for news, of which the last one brings the result.
    """

    _clock = Clock()

    def _run_as_job(self, args: dict[str, Any], task_vars: dict[str, Any], lines: Lines) -> dict[str, Any]:
        """Return the module's result as if it had been run the usual way."""
        name = PREFIX + secrets.token_hex(8)
        limit, self._task.async_val = self._task.async_val, LONGEST_JOB
        try:
            job = self._module(args, task_vars, {FOLDER: name}, wrap_async=True)
        finally:
            self._task.async_val = limit
        if "ansible_job_id" not in job:
            return job
        file = str(job["results_file"])
        folder = os.path.dirname(file) + "/" + name
        ended = False
        try:
            result = self._follow(folder, file, lines)
            ended = True
            return _with_the_start(job, self._parsed(result, job, task_vars))
        finally:
            self._clear(folder, file, 0 if ended else lines.pid)

    def _module(
        self, args: dict[str, Any], task_vars: dict[str, Any], variables: dict[str, str], wrap_async: bool = False
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _follow(self, folder: str, file: str, lines: Lines) -> str:
        """Print the job's lines until it has ended, and return its result; raise AnsibleActionFail if it is lost."""
        parent, read = os.getppid(), 0
        began = heard = alive = self._clock.monotonic()
        while True:
            asked = self._asked(folder, file, read, lines.pid)
            now = self._clock.monotonic()
            if os.getppid() != parent:
                raise AnsibleActionFail("the playbook ended before the task did")
            read += len(asked.lines)
            for line in asked.lines:
                lines.take(line)
            lines.rest()
            heard = now if asked.state else heard
            starts = not lines.pid and now - began < LONGEST_START
            alive = now if asked.state == "running" and (lines.pid or starts) else alive
            if asked.state == "ended" and asked.result:
                return asked.result
            if now - heard > LONGEST_ABSENCE:
                raise AnsibleConnectionFailure("the host has been out of reach for %d s" % LONGEST_ABSENCE)
            if asked.state and now - alive > LAST_WORDS:
                raise AnsibleActionFail("the module's process on the host ended without a result: was it killed?")
            if asked.state != "running":
                self._clock.sleep(1.0)

    def _asked(self, folder: str, file: str, read: int, pid: int) -> Asked:
        # A mark of this job only, whatever a login or a line may say.
        mark = os.path.basename(folder) + ":"
        command = _ASK % {
            "mark": mark,
            "folder": shlex.quote(folder),
            "result": shlex.quote(file),
            "first": read + 1,
            "pid": pid,
        }
        try:
            answer = self._low_level_execute_command(command)
        except AnsibleConnectionFailure:
            return Asked("", [])
        _before, _mark, text = str(answer.get("stdout") or "").replace("\r", "").partition(mark)
        state, _end, text = text.partition("\n")
        text, _mark, result = text.partition(mark)
        *complete, _torn = text.split("\n")
        return Asked(state, complete, result.strip())

    def _parsed(self, result: str, job: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the result that a job has left, as Ansible reads that of a module."""
        try:
            found = self._read(result)
            if "ansible_job_id" in found and "cmd" in found:
                # What the module left was none. Ansible knows best what to say of that.
                said = str(found.get("data") or found.get("outdata") or ""), str(found.get("stderr") or "")
                found = self._read(*said)
        except (AttributeError, TypeError):
            # How results are read is Ansible's own business, and may change. This way is everybody's, but takes longer.
            found = self._status(job, task_vars)
        return {key: value for key, value in found.items() if key not in _OF_THE_JOB}

    def _read(self, stdout: str, stderr: str = "") -> dict[str, Any]:
        answer = {"rc": 1 if stderr else 0, "stdout": stdout, "stderr": stderr}
        # From ansible-core 2.19 on, there are several ways to read a result.
        ways = len(inspect.signature(self._parse_returned_data).parameters)
        found = self._parse_returned_data(answer, *["legacy"][: ways - 1])
        if not isinstance(found, dict):
            # From 2.21 on, it is an object.
            found.remove_internal_keys()
            return dict(found.as_result_dict(for_round_trip=True))
        # Keys of Ansible itself, which a module has no business with.
        return {key: value for key, value in found.items() if key == _PARSED or not key.startswith("_ansible_")}

    def _status(self, job: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        task = self._task.copy()
        task.args, task.async_val = {"jid": job["ansible_job_id"]}, 0
        status = self._shared_loader_obj.action_loader.get(
            "ansible.legacy.async_status",
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        try:
            return dict(status.run(task_vars=task_vars))
        finally:
            status.cleanup()

    def _clear(self, folder: str, file: str, pid: int) -> None:
        """Remove what was made for a job; end one that nobody waits for any more, whose process is pid."""
        words = {"folder": shlex.quote(folder), "result": shlex.quote(file), "pid": pid}
        command = (_END if pid else "rm -rf %(folder)s %(result)s") % words
        with contextlib.suppress(Exception):
            self._low_level_execute_command(command)


def _with_the_start(job: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return the result with what the start of the job has said: which Python was found there, and warnings."""
    found = dict(result)
    if "ansible_facts" in job:
        found["ansible_facts"] = dict(job["ansible_facts"], **found.get("ansible_facts", {}))
    for key in ("warnings", "deprecations"):
        if job.get(key):
            found[key] = [*job[key], *found.get(key, [])]
    return found
