# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check what the role node_patch was given. All of it happens on the controller, without a module."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..module_utils.runtime.clock import Clock
from ..plugin_utils.node_patch import input as checks
from ..plugin_utils.node_patch.role_vars import RoleVars
from ..plugin_utils.node_patch.variables import PLAYBOOKS

ARGUMENT_SPEC = {
    "check": {
        "type": "str",
        "choices": ["variables", "names", "playbook", "rights", "host", "packages"],
        "default": "variables",
    },
    "playbook": {"type": "str", "choices": list(PLAYBOOKS)},
    "hosts": {"type": "list", "elements": "str", "default": []},
    "problems": {"type": "list", "elements": "str", "default": []},
}


class ActionModule(ActionBase):  # type: ignore[misc]
    """The task `node_patch_input`."""

    _supports_check_mode = True
    _requires_connection = False
    _VALID_ARGS = frozenset(ARGUMENT_SPEC)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Check the input; the result is a failure if something is wrong, except in the preflight."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        result.update(changed=False, started=Clock().wall(), problems="")
        _validated, args = self.validate_argument_spec(ARGUMENT_SPEC)
        role = RoleVars(task_vars or {}, self._templar)
        values, problems = self._checked(role, args)
        result.update(values)
        problems = [text for text in [*args["problems"], *problems] if text]
        result["problems"] = " ".join(problems)
        if problems and not role.flag("node_patch_preflight"):
            result.update(failed=True, msg=result["problems"])
        return result

    def _checked(self, role: RoleVars, args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        check = args["check"]
        if check == "variables":
            return checks.read_input(role, self._connection.transport == "local")
        if check == "playbook":
            foreign = checks.foreign_names(role, args["hosts"], args["playbook"])
            if foreign:
                Display().warning(f"unknown variables of the playbook {args['playbook']}: {', '.join(foreign)}")
            return {}, checks.check_playbook(role, args["hosts"], args["playbook"])
        if check == "rights":
            return {"rights": checks.steps_with_rights(role)}, []
        found = {"names": checks.unknown_names, "host": checks.check_host, "packages": checks.check_packages}
        return {}, [found[check](role)]
