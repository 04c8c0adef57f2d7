# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugins of the modules that wait: run the module, and show its progress meanwhile.

The module appends lines to a file that an environment variable names. Where the module runs on this machine as the
same user, a thread reads the file. Elsewhere the module runs as a job, and the file is polled. Without the action
plugin, the module does the same and shows no lines.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any, ClassVar

from ansible import constants as C

from ...module_utils.runtime.progress import CHANGES, LINES, OFF, WANTED
from .job import ActionWithJob
from .lines import Lines, Tail, remove_file


class ProgressAction(ActionWithJob):
    """An action plugin that shows progress.

    BRIEF: values of options with which the module does not wait, so that a job on another host is not worth its time.
    """

    _supports_check_mode = True
    _supports_async = True
    BRIEF: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        args = self._usable_args()
        if self._task.async_val:
            result.update(self._module(args, variables, {}, wrap_async=not self._connection.has_native_async))
        elif self._task.no_log or self._wanted() == OFF:
            result.update(self._module(args, variables, {}))
        else:
            lines = Lines(str(variables.get("inventory_hostname") or "localhost"), self._clock)
            result.update(self._run_with_lines(args, variables, lines))
        return result

    def _run_with_lines(self, args: dict[str, Any], task_vars: dict[str, Any], lines: Lines) -> dict[str, Any]:
        if self._task.check_mode:
            result = self._module(args, task_vars, {})
            if not result.get("failed"):
                lines.show(str(result.get("msg") or ""))
            return result
        if self._is_here():
            return self._run_here(args, task_vars, lines)
        brief = any(self._task.args.get(option) in values for option, values in self.BRIEF.items())
        if brief or getattr(self._connection._shell, "_IS_WINDOWS", False):
            return self._module(args, task_vars, {})
        return self._run_as_job(args, task_vars, lines)

    def _run_here(self, args: dict[str, Any], task_vars: dict[str, Any], lines: Lines) -> dict[str, Any]:
        handle, path = tempfile.mkstemp(prefix="k8s-progress-", dir=C.DEFAULT_LOCAL_TMP)
        os.close(handle)
        tail = Tail(path, lines)
        tail.start()
        try:
            return self._module(args, task_vars, {LINES: path})
        finally:
            tail.finish()
            remove_file(path)

    def _wanted(self) -> str:
        """Return the level of progress, as known on the controller; the module also reads its own environment."""
        wanted = self._task.args.get("progress")
        if wanted is None:
            wanted = os.environ.get(WANTED) or CHANGES
        # YAML's off is false.
        return OFF if wanted is False or str(wanted).lower() in ("false", OFF) else str(wanted)

    def _module(
        self, args: dict[str, Any], task_vars: dict[str, Any], variables: dict[str, str], wrap_async: bool = False
    ) -> dict[str, Any]:
        """Run the module with additional environment variables."""
        mine = {WANTED: os.environ[WANTED]} if os.environ.get(WANTED) else {}
        environment = self._task.environment
        theirs = environment if isinstance(environment, list) else [environment] if environment else []
        self._task.environment = [mine, *theirs, variables]
        try:
            result: dict[str, Any] = self._execute_module(
                module_args=dict(args), task_vars=task_vars, wrap_async=wrap_async
            )
            return result
        finally:
            self._task.environment = environment
