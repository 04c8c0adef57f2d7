# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write how long each task took, for benchmarks: one JSON line per task into the file of KUBEOPS_TASK_SECONDS."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: task_seconds
type: aggregate
short_description: Write how long each task took
description:
  - Appends a JSON line {name, seconds, ended, failed, msg} for each task to the file that the environment variable
    KUBEOPS_TASK_SECONDS names.
author:
  - kubeops.maintenance contributors (@kubeops)
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Take the time from a task's start, before its module is even packed, to its result."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "task_seconds"

    def __init__(self) -> None:
        super().__init__()
        self._started = 0.0

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        self._started = time.monotonic()

    def v2_runner_on_ok(self, result: Any) -> None:
        self._write(result, failed=False)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._write(result, failed=True)

    def _write(self, result: Any, failed: bool) -> None:
        seconds = time.monotonic() - self._started
        task = getattr(result, "task", None) or result._task  # named so before ansible-core 2.19
        values = getattr(result, "result", None) or result._result
        line = {"name": task.get_name(), "seconds": seconds, "ended": time.time()}
        line.update(failed=failed, msg=str(values.get("msg", "")))
        with open(os.environ["KUBEOPS_TASK_SECONDS"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
