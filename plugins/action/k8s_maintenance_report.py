# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the state of every node, and write it to files. All of it happens on the controller, without a module."""

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.node_patch.report import as_json, junit, reasons, table
from ..plugin_utils.progress.lines import remove_file, show_text

ARGUMENT_SPEC = {
    "records": {"type": "list", "elements": "dict", "required": True},
    "notes": {"type": "list", "elements": "str", "default": []},
    "json_file": {"type": "str"},
    "junit_file": {"type": "str"},
}


class ActionModule(ActionBase):  # type: ignore[misc]
    """The task `k8s_maintenance_report`."""

    _supports_check_mode = True
    _requires_connection = False
    _VALID_ARGS = frozenset(ARGUMENT_SPEC)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Show the table and write the files; the result is a failure if one cannot be written."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(ARGUMENT_SPEC)
        lines = [*table(args["records"]), *args["notes"]]
        if not self._task.no_log:
            show_text("\n".join(lines))
        result.update(changed=False, table=lines, reasons=reasons(args["records"]))
        try:
            if args["json_file"]:
                _write(args["json_file"], as_json(args["records"]))
            if args["junit_file"]:
                _write(args["junit_file"], junit(args["records"]))
        except OSError as exc:
            why = f"cannot write the report {exc.filename}: {exc.strerror or exc}"
            result.update(failed=True, msg=why)
        return result


def _write(path: str, text: str) -> None:
    """Replace a file at once, so that no reader ever sees half of it; raise OSError with its name."""
    path = os.path.realpath(os.path.expanduser(path))
    draft = f"{path}.{os.getpid()}.draft"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError as exc:
        remove_file(draft)
        raise OSError(exc.errno, exc.strerror, path) from exc
