# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start an embedded cluster for a target, and end it: the task `kubesim_server`.

    arguments   of `python -m kubesim`
    lifetime    seconds after which it ends by itself, should the target not come so far
    objects     what it holds at the start

The result has the `folder` that it works in, its `url`, its administrator's `kubeconfig` and its `process`. Both
`folder` and `process` as options end it and remove the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

READY = "kubesim listening on "


class ActionModule(ActionBase):
    """The task `kubesim_server`."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        args = self._task.args
        if "process" in args:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(args["process"]), signal.SIGTERM)
            shutil.rmtree(args["folder"], ignore_errors=True)
        else:
            result.update(self._started(task_vars))
        return dict(result, changed=True)

    def _started(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        args = self._task.args
        folder = Path(tempfile.mkdtemp(suffix=".kubesim"))
        (folder / "state.json").write_text(json.dumps(args["objects"]), encoding="utf-8")
        command = [task_vars["kubeops_python"], "-m", "kubesim", *args["arguments"], "--state", "state.json"]
        command += ["--kubeconfig", "kubeconfig", "--lifetime", str(args["lifetime"])]
        with open(folder / "errors", "w+", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": task_vars["kubeops_tests"]},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
            first = process.stdout.readline() if process.stdout else ""
            if not first.startswith(READY):
                process.kill()
                errors.seek(0)
                raise AnsibleActionFail(f"the embedded cluster did not start: {errors.read()}")
        return {
            "folder": str(folder),
            "url": first[len(READY) :].strip(),
            "kubeconfig": str(folder / "kubeconfig"),
            "process": process.pid,
        }
