# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module as a job of its own on another host, or as another user, and read its lines meanwhile."""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure

from ..module_utils.progress import ASKED, LINES
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

MARK = "k8s-progress:"

# A folder for the lines, and a file whose time of change tells the module that somebody still reads them.
_PREPARE = (
    'umask 077; d=$(mktemp -d "${TMPDIR:-/tmp}/k8s-progress-XXXXXXXXXX") && : > "$d/lines" && : > "$d/asked" '
    "&& echo %(mark)s$d"
)
# Wait a second at most for news, then print how the job stands and the lines from number %(first)d on. The job's
# file holds the module's result when it has ended, and something short before.
_ASK = (
    "cd %(folder)s 2>/dev/null || exit 0; i=0; while :; do job=; read -r job 2>/dev/null < %(result)s; "
    "case $job in "
    """'{"started": '*' "finished": '[0fF]*) if [ %(pid)d -eq 0 ] || kill -0 %(pid)d 2>/dev/null; """
    "then s=running; else s=lost; fi;; *) s=ended;; esac; "
    "if [ $s != running ] || [ lines -nt asked ] || [ $i -ge 5 ]; then break; fi; "
    "i=$((i+1)); sleep 0.2 2>/dev/null || sleep 1; done; "
    "touch asked; echo %(mark)s$s; tail -n +%(first)d lines"
)

# What Ansible adds to the result of a job.
_OF_THE_JOB = {"ansible_job_id", "started", "finished", "results_file"}
_OUTPUT = {"stdout", "stderr", "stdout_lines", "stderr_lines"}


class ActionWithJob(ActionWithFiles):
    """The part of the action plugins that starts a job, follows it, and fetches its result."""

    _clock = Clock()

    def _run_as_job(self, args: dict[str, Any], task_vars: dict[str, Any], lines: Lines) -> dict[str, Any]:
        """Return the module's result as if it had been run the usual way."""
        folder = self._prepared()
        if not folder:
            # Whatever is wrong there, the task itself may work.
            return self._module(args, task_vars, {})
        job: dict[str, Any] = {}
        ended = False
        try:
            variables = {LINES: folder + "/lines", ASKED: folder + "/asked"}
            limit, self._task.async_val = self._task.async_val, LONGEST_JOB
            try:
                job = self._module(args, task_vars, variables, wrap_async=True)
            finally:
                self._task.async_val = limit
            if "ansible_job_id" not in job:
                ended = True
                return job
            self._follow(folder, job, lines)
            ended = True
            return self._result(job, task_vars)
        finally:
            self._clear(folder, str(job.get("results_file") or ""), 0 if ended else lines.pid)

    def _module(
        self, args: dict[str, Any], task_vars: dict[str, Any], variables: dict[str, str], wrap_async: bool = False
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _prepared(self) -> str:
        answer = self._low_level_execute_command(_PREPARE % {"mark": MARK})
        return _after_mark(answer)[0] if answer["rc"] == 0 else ""

    def _follow(self, folder: str, job: dict[str, Any], lines: Lines) -> None:
        """Print the job's lines until it has ended; raise AnsibleActionFail if it is lost."""
        parent, read = os.getppid(), 0
        began = heard = alive = self._clock.monotonic()
        while True:
            state, fresh = self._asked(folder, job["results_file"], read, lines.pid)
            now = self._clock.monotonic()
            if os.getppid() != parent:
                raise AnsibleActionFail("the playbook ended before the task did")
            read += len(fresh)
            for line in fresh:
                lines.take(line)
            lines.rest()
            heard = now if state else heard
            alive = now if state == "running" and (lines.pid or now - began < LONGEST_START) else alive
            if state == "ended":
                return
            if now - heard > LONGEST_ABSENCE:
                raise AnsibleConnectionFailure("the host has been out of reach for %d s" % LONGEST_ABSENCE)
            if state and now - alive > LAST_WORDS:
                raise AnsibleActionFail("the module's process on the host ended without a result: was it killed?")
            if not state:
                self._clock.sleep(1.0)

    def _asked(self, folder: str, result: str, read: int, pid: int) -> tuple[str, list[str]]:
        """Return how the job stands, "" if that is unknown, and its complete new lines."""
        command = _ASK % {
            "mark": MARK,
            "folder": shlex.quote(folder),
            "result": shlex.quote(result),
            "first": read + 1,
            "pid": pid,
        }
        try:
            answer = self._low_level_execute_command(command)
        except AnsibleConnectionFailure:
            return "", []
        state, text = _after_mark(answer)
        *complete, _torn = text.replace("\r", "").split("\n")
        return state, complete

    def _result(self, job: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
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
            result = status.run(task_vars=task_vars)
        finally:
            status.cleanup()
        dropped = _OF_THE_JOB | _OUTPUT
        return {key: value for key, value in result.items() if key not in dropped}

    def _clear(self, folder: str, result: str, pid: int) -> None:
        """End a job that nobody waits for any more, and remove what was made for it."""
        command = "rm -rf %s %s" % (shlex.quote(folder), shlex.quote(result) if result else "")
        if pid:
            command = "kill -TERM %d 2>/dev/null; rm -rf %s" % (pid, shlex.quote(folder))
        with contextlib.suppress(Exception):
            self._low_level_execute_command(command)


def _after_mark(answer: dict[str, Any]) -> tuple[str, str]:
    """Return the rest of the line with our mark, and what follows it; a login may have printed something before."""
    _before, mark, text = str(answer.get("stdout") or "").partition(MARK)
    first, _end, rest = text.partition("\n")
    return (first.strip(), rest) if mark else ("", "")
