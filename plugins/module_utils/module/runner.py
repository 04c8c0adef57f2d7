# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speak Ansible: the only file, besides the modules, that knows AnsibleModule."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from ansible.module_utils.basic import AnsibleModule

from ..api.rest import Rest
from ..connection.connection import connect
from ..connection.secrecy import passwords_in, secrets_of_kubeconfig, shown
from ..errors import Cancelled, Forbidden, MaintenanceError
from ..rollout.manifests import secrets_in
from ..runtime.cancellation import arm, disarm, this_process
from ..runtime.clock import Clock, Deadline
from ..runtime.job_folder import make_folder
from .auth_spec import secret_values, variables_taken


class Ending(NamedTuple):
    """How a task ends: its result, whether that is a failure, what to warn of, and Ansible's diff."""

    result: dict[str, Any]
    failed: bool = False
    warnings: tuple[str, ...] = ()
    diff: tuple[dict[str, Any], ...] = ()


class ClusterModule(AnsibleModule):  # type: ignore[misc]
    """A module whose arguments hold credentials. Ansible shows arguments in results, and writes them to the syslog.

    Ansible only knows options that are secret as a whole, and exits in the constructor when an argument is wrong. So
    secrets are collected as soon as the arguments are read, and a copy without them is shown.
    """

    params: dict[str, Any]

    def exit_json(self, **kwargs: Any) -> None:
        """End the module, and show its arguments without secrets."""
        with self._discreet():
            super().exit_json(**kwargs)

    def fail_json(self, msg: str, **kwargs: Any) -> None:
        """End the module with a failure, and show its arguments without secrets."""
        with self._discreet():
            super().fail_json(msg, **kwargs)

    def _load_params(self) -> None:
        super()._load_params()
        self.no_log_values.update(_secrets_of(self.params, self.argument_spec))

    def _log_invocation(self) -> None:
        with self._discreet():
            super()._log_invocation()

    @contextmanager
    def _discreet(self) -> Iterator[None]:
        """Let Ansible see the arguments without secrets."""
        # Again, because environment variables have set more options since.
        self.no_log_values.update(_secrets_of(self.params, self.argument_spec))
        params: dict[str, Any] = self.params
        self.params = shown(params, self.argument_spec)
        try:
            yield
        finally:
            self.params = params


def _secrets_of(params: Mapping[str, Any], spec: Mapping[str, Any]) -> set[str]:
    """Return the secrets in the arguments. params: validated or not."""
    found = secret_values(params)
    known = {name: option for key, option in spec.items() for name in (key, *option.get("aliases", ()))}
    for name, value in params.items():
        option = known.get(name, {})
        if option.get("type") == "raw" and name != "kubeconfig":
            found |= secrets_in(value)
        elif isinstance(value, (dict, list)) and (name not in known or option.get("type", "str") == "str"):
            # Perhaps a kubeconfig under a wrong name. Ansible's message repeats a value that is not one of the choices.
            found |= secrets_of_kubeconfig(value)
    for name, text in os.environ.items():
        if name.lower().endswith("_proxy"):
            found |= passwords_in(text)
    return found


RestFor = Callable[[Deadline], Rest]
Task = TypeVar("Task")


def run(
    module: ClusterModule,
    read: Callable[[], Task],
    work: Callable[[Task, Clock, RestFor], Ending],
    nothing_done: Mapping[str, Any],
) -> None:
    """Read the task, connect as the module's parameters say, do the work, and end the module with its result.

    work: gets the task, the clock, and a function that returns a client of the API server with a deadline;
    nothing_done: the result of a task that could not start.
    """
    try:
        # Before connecting: a wrong option should not have to wait for a server.
        task = read()
        arm(make_folder(this_process()))
        limit = float(getattr(task, "wait_timeout", 0) or 0)
        ending = _connected(module, limit, lambda clock, rest_for: work(task, clock, rest_for))
    except (MaintenanceError, Cancelled) as exc:
        # Also where there was no connection yet.
        disarm()
        module.fail_json(**dict(nothing_done, msg=sentence(exc.message)))
    for warning in ending.warnings:
        module.warn(warning)
    result = dict(ending.result)
    # pylint: disable-next=protected-access
    if module._diff and ending.diff:
        result["diff"] = list(ending.diff)
    if ending.failed:
        module.fail_json(**result)
    module.exit_json(**result)


def _connected(module: ClusterModule, limit: float, work: Callable[[Clock, RestFor], Ending]) -> Ending:
    clock = Clock()
    # The time to get credentials counts.
    clock.began = clock.monotonic()
    connection = connect(module.params, clock, variables_taken(), limit)
    # Ansible does not know tokens that come from files or plugins.
    connection.secrets = module.no_log_values
    try:
        return work(clock, lambda deadline: Rest(connection, clock, deadline))
    except Forbidden as exc:
        exc.message = (
            f"{exc.message} (asked at {connection.describe()}; the guide on access rights lists what a task needs)"
        )
        raise
    finally:
        disarm()
        # Worker threads must not change no_log_values while Ansible iterates over it.
        connection.secrets = set()
        connection.close()


def sentence(text: str) -> str:
    """Return an error's message as a sentence."""
    text = text.strip() or "the task failed"
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
