# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the record of a node while the role node_patch patches it. All of it happens on the controller."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils.runtime.clock import Clock
from ..plugin_utils.node_patch import failure, preflight, record
from ..plugin_utils.node_patch.role_vars import RoleVars

STEPS = {
    "begin": record.begin,
    "drain": record.drain,
    "drained": record.drained,
    "reboot": record.reboot,
    "wait": record.wait,
    "returned": record.returned,
    "heal": record.heal,
    "done": record.done,
    "assess": preflight.assess,
    "refuse": preflight.refuse,
    "fail": failure.fail,
    "left": failure.left,
    "finish": failure.finish,
}
ARGUMENT_SPEC = {"step": {"type": "str", "choices": list(STEPS), "required": True}}
# What Ansible adds to the result when it registers it.
_ADDED = {"changed", "failed", "msg", "exception", "warnings", "deprecations", "skipped", "unreachable"}


class ActionModule(ActionBase):  # type: ignore[misc]
    """The task `node_patch_record`; it registers its result as C(node_patch_record)."""

    _supports_check_mode = True
    _requires_connection = False
    _VALID_ARGS = frozenset(ARGUMENT_SPEC)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the record as it is after the step."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, args = self.validate_argument_spec(ARGUMENT_SPEC)
        role = RoleVars(task_vars or {}, self._templar)
        now = record.Now(Clock().wall(), bool(self._task.check_mode), Display().warning)
        before = {key: value for key, value in role.result("node_patch_record").items() if key not in _ADDED}
        result.update(STEPS[args["step"]](role, before, now), changed=False)
        return result
