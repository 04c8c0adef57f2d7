# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a module use files of the controller: a kubeconfig that may be in a vault, or is needed on another host."""

from __future__ import annotations

import os
import shlex
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ..module_utils.connection.secrecy import is_content


class ActionWithFiles(ActionBase):  # type: ignore[misc]
    """The part of the action plugins that finds files.

    As in kubernetes.core, a relative path is looked for where Ansible looks for files (C(files) of the role or beside
    the playbook), and one in a vault is decrypted. Unlike there, a file that the target does not have is copied to
    it, into the task's temporary folder.
    """

    def _is_here(self) -> bool:
        """Return whether the module runs on this machine as the user who runs Ansible."""
        return self._connection.transport == "local" and not self._connection.become

    def _usable_args(self) -> dict[str, Any]:
        """Return the task's arguments with paths that the module can read."""
        args = dict(self._task.args)
        # Ansible shows with -vvvvv which paths it looks for; a kubeconfig's content must not be among them.
        if isinstance(args.get("kubeconfig"), str) and not is_content(args["kubeconfig"]):
            paths = args["kubeconfig"].split(os.pathsep)
            args["kubeconfig"] = os.pathsep.join(self._usable(path, number) for number, path in enumerate(paths))
        if args.get("src") and self._connection.transport == "local":
            many = isinstance(args["src"], list)
            found = [self._found(path)[1] for path in (args["src"] if many else [args["src"]])]
            args["src"] = found if many else found[0]
        return args

    def _usable(self, path: str, number: int) -> str:
        found, real = self._found(path)
        if not found:
            # It may be on the target; if not, the module reports that.
            return path
        if self._is_here():
            return real
        there = real if self._connection.transport == "local" else path
        if real == found and self._is_readable(there):
            return there
        return self._copied(real, f"kubeconfig-{number}")

    def _found(self, path: Any) -> tuple[str, str]:
        """Return the path of a file of the controller and that of its decrypted form, the path itself if none is.

        Raise AnsibleActionFail if it cannot be decrypted.
        """
        if not isinstance(path, str) or not path.strip() or "://" in path or "\n" in path:
            return "", path
        try:
            found = self._find_needle("files", path)
        except AnsibleError:
            return "", path
        if not os.access(found, os.R_OK):
            # The user who runs the module may be allowed to read it.
            return "", path
        if os.path.isdir(found):
            return found, found
        try:
            return found, self._loader.get_real_file(found, decrypt=True)
        except AnsibleError as exc:
            why = f"cannot decrypt {found}, which is in an Ansible vault: {exc}"
            raise AnsibleActionFail(why) from exc

    def _is_readable(self, path: str) -> bool:
        # The shell there expands a tilde only where it is not quoted.
        home, slash, rest = path.partition("/")
        quoted = home + slash + shlex.quote(rest) if home == "~" and rest else shlex.quote(path)
        return bool(self._low_level_execute_command(f"test -r {quoted}")["rc"] == 0)

    def _copied(self, path: str, name: str) -> str:
        shell = self._connection._shell
        if shell.tmpdir is None:
            self._make_tmp_path()
        there: str = shell.join_path(shell.tmpdir, name)
        self._transfer_file(path, there)
        self._fixup_perms2([shell.tmpdir, there], execute=False)
        return there


class FilesAction(ActionWithFiles):
    """The action plugin of a module that ends soon, and needs only files of the controller."""

    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module and return its result."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        wrapped = bool(self._task.async_val) and not self._connection.has_native_async
        args = self._usable_args()
        result.update(self._execute_module(module_args=args, task_vars=task_vars, wrap_async=wrapped))
        return result
