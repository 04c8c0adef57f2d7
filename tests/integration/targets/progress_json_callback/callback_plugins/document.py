# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print what happened as one JSON document at the end, as callbacks for programs do."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.callback import CallbackBase


class CallbackModule(CallbackBase):
    """A list of [task, host, result]."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "document"

    def __init__(self) -> None:
        super().__init__()
        self._results: list[list[Any]] = []

    def v2_runner_on_ok(self, result: Any) -> None:
        self._note(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._note(result)

    def _note(self, result: Any) -> None:
        self._results.append([result._task.get_name(), result._host.get_name(), result._result.get("msg", "")])

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._display.display(json.dumps(self._results))
