# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module as a job of its own on another host, or as another user, and read its lines meanwhile."""

from __future__ import annotations

import contextlib
import inspect
import os
import secrets
from typing import Any, NamedTuple

from ansible import constants as C
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError

from ...module_utils.runtime.clock import Clock
from ...module_utils.runtime.job_folder import FOLDER, PREFIX
from ..files import ActionWithFiles
from .job_shell import Job, Process
from .lines import Lines

# Seconds after which Ansible kills a job; the module's own deadline comes much sooner.
MAX_JOB_SECONDS = 30 * 86400
# Seconds that a host may be unreachable until the task fails. The module, which is not polled any more, is cancelled a
# little later.
MAX_UNREACHABLE = 45.0
# Seconds that a job whose process is gone has to write its result.
MAX_RESULT_DELAY = 10.0
# Seconds until a module has written its first line.
MAX_START = 120.0

# The start of async_wrapper's error if it cannot create the folder for its files. A module may still run.
_NO_FOLDER = "could not create directory"

# The only one of Ansible's own keys that parsing a result adds.
_PARSED = "_ansible_parsed"
# What Ansible adds to the result of a job.
_OF_THE_JOB = {
    *("ansible_job_id", "started", "finished", "results_file"),
    *("stdout", "stderr", "stdout_lines", "stderr_lines"),
}


class Poll(NamedTuple):
    """A job's state ("" if unknown), its complete new lines, and its result."""

    state: str
    lines: list[str]
    result: str = ""


class NoJob(Exception):
    """No module can be run as a job on this host, or by this user there."""


class ActionWithJob(ActionWithFiles):
    """The part of the action plugins that starts a job, follows it, and fetches its result.

    Each command on another host takes its time. In addition to those of an ordinary module, there is one that starts
    the job, and one or more that wait for lines, of which the last one returns the result.
    """

    _clock = Clock()

    def _run_as_job(self, args: dict[str, Any], task_vars: dict[str, Any], lines: Lines) -> dict[str, Any]:
        """Return the module's result as if it had been run the usual way, which is done where no job can run."""
        parent, tmp = os.getppid(), ""
        name = PREFIX + secrets.token_hex(8)
        try:
            tmp = self._folder_for_files()
            start = self._start_job(args, task_vars, name)
            if "ansible_job_id" in start:
                file = str(start["results_file"])
                job = Job(os.path.dirname(file) + "/" + name, file)
                return self._follow_job(job, start, task_vars, lines, parent, tmp)
            self._discard(tmp)
            return start
        except NoJob:
            self._discard(tmp)
        # What was copied for the job is gone with its files.
        return self._module(self._usable_args(), task_vars, {})

    def _module(
        self, args: dict[str, Any], task_vars: dict[str, Any], variables: dict[str, str], wrap_async: bool = False
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _folder_for_files(self) -> str:
        """Return the folder on the host for the files that a job needs; raise NoJob if only a job needs any."""
        shell = self._connection._shell
        try:
            return str(shell.tmpdir or self._make_tmp_path())
        except AnsibleError as exc:
            if self._connection.is_pipelining_enabled(False):
                raise NoJob from exc
            raise

    def _start_job(self, args: dict[str, Any], task_vars: dict[str, Any], name: str) -> dict[str, Any]:
        """Start the job and return Ansible's result of that; raise NoJob if only modules can run here."""
        limit, self._task.async_val = self._task.async_val, MAX_JOB_SECONDS
        try:
            start = self._module(args, task_vars, {FOLDER: name}, wrap_async=True)
        except AnsibleConnectionFailure:
            # The job may have started.
            raise
        except AnsibleError as exc:
            if self._connection.is_pipelining_enabled(False):
                raise NoJob from exc
            raise
        finally:
            self._task.async_val = limit
        if start.get("failed") and _NO_FOLDER in str(start.get("msg")):
            raise NoJob
        return start

    def _follow_job(
        self, job: Job, start: dict[str, Any], task_vars: dict[str, Any], lines: Lines, parent: int, tmp: str
    ) -> dict[str, Any]:
        ended = False
        try:
            result = self._read_lines(job, lines, parent)
            ended = True
            return _with_the_start(start, self._parsed(result, start, task_vars))
        finally:
            self._clear(job, None if ended else Process(lines.pid, lines.tick), tmp)

    def _read_lines(self, job: Job, lines: Lines, parent: int) -> str:
        """Print the job's lines until it has ended, and return its result.

        Raise AnsibleActionFail if it is lost, NoJob if the host does not allow jobs. parent: the playbook's process.
        """
        read = 0
        began = heard = alive = self._clock.monotonic()
        while True:
            poll = self._poll(job, read, Process(lines.pid, lines.tick))
            now = self._clock.monotonic()
            if os.getppid() != parent:
                raise AnsibleActionFail("the playbook ended before the task did")
            read += len(poll.lines)
            for line in poll.lines:
                lines.show_entry(line)
            lines.check_silence()
            heard = now if poll.state else heard
            starts = not lines.pid and now - began < MAX_START
            alive = now if poll.state == "running" and (lines.pid or starts) else alive
            if poll.state == "ended" and poll.result:
                return poll.result
            if poll.state == "refused" and not lines.pid:
                raise NoJob
            if now - heard > MAX_UNREACHABLE:
                raise AnsibleConnectionFailure(f"the host has been out of reach for {MAX_UNREACHABLE:.0f} s")
            if poll.state and now - alive > MAX_RESULT_DELAY:
                raise AnsibleActionFail("the module's process on the host ended without a result: was it killed?")
            if poll.state != "running":
                self._clock.sleep(1.0)

    def _poll(self, job: Job, read: int, process: Process) -> Poll:
        try:
            answer = self._low_level_execute_command(job.poll(read, process))
        except AnsibleError:
            # Also raised when a busy host does not become another user in time.
            return Poll("", [])
        _before, _mark, text = str(answer.get("stdout") or "").replace("\r", "").partition(job.mark)
        state, _end, text = text.partition("\n")
        text, _mark, result = text.partition(job.mark)
        *complete, _torn = text.split("\n")
        return Poll(state, complete, result.strip())

    def _parsed(self, result: str, job: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the result that a job has written, as Ansible parses that of a module."""
        try:
            found = self._read(result)
            if "ansible_job_id" in found and "cmd" in found:
                # The module did not write a valid result. Ansible has the best message for that.
                said = str(found.get("data") or found.get("outdata") or ""), str(found.get("stderr") or "")
                found = self._read(*said)
        except (AttributeError, TypeError):
            # Ansible's parser is internal and may change. async_status is public, but takes longer.
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
        # Ansible's own keys, which a module must not set.
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

    def _clear(self, job: Job, process: Process | None, tmp: str) -> None:
        """Remove the files of a job. process: that of a job to end first, because nobody waits for it."""
        # Ansible's wrapper removes its files after some seconds, if it lives and may. A kubeconfig may be among them.
        mine = tmp if _is_temporary(tmp) and not self._is_become_unprivileged() else ""
        with contextlib.suppress(Exception):
            self._low_level_execute_command(job.end(process, mine) if process else job.remove(mine))
        if not mine:
            self._discard(tmp)

    def _discard(self, tmp: str) -> None:
        """Remove Ansible's temporary folder, as the user who made it."""
        if not _is_temporary(tmp):
            return
        with contextlib.suppress(Exception):
            self._low_level_execute_command(self._connection._shell.remove(tmp, recurse=True), sudoable=False)
        self._connection._shell.tmpdir = None


def _is_temporary(folder: str) -> bool:
    return "-tmp-" in folder and not C.DEFAULT_KEEP_REMOTE_FILES


def _with_the_start(job: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """Return the result with the facts (such as the discovered Python) and warnings of the job's start."""
    found = dict(result)
    if "ansible_facts" in job:
        found["ansible_facts"] = dict(job["ansible_facts"], **found.get("ansible_facts", {}))
    for key in ("warnings", "deprecations"):
        if job.get(key):
            found[key] = [*job[key], *found.get(key, [])]
    return found
