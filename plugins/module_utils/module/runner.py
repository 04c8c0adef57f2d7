# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speak Ansible: the only file, besides the modules, that knows AnsibleModule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..api.rest import Rest
from ..connection.connection import connect
from ..errors import Cancelled, Forbidden, MaintenanceError
from ..runtime.cancellation import arm, disarm, this_process
from ..runtime.clock import Clock, Deadline
from ..runtime.job_folder import make_folder
from .auth_spec import secret_values, variables_taken

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


class Ending(NamedTuple):
    """How a task ends: its result, whether that is a failure, what to warn of, and Ansible's diff."""

    result: dict[str, Any]
    failed: bool = False
    warnings: tuple[str, ...] = ()
    diff: tuple[dict[str, Any], ...] = ()


RestFor = Callable[[Deadline], Rest]
Task = TypeVar("Task")


def run(
    module: AnsibleModule,
    read: Callable[[], Task],
    work: Callable[[Task, Clock, RestFor], Ending],
    nothing_done: Mapping[str, Any],
) -> None:
    """Read the task, connect as the module's parameters say, do the work, and end the module with its result.

    work: gets the task, the clock, and a function that makes a dialogue with the API server under a deadline;
    nothing_done: the result's keys as they are when the task could not even begin.
    """
    # Ansible shows the arguments again with -vvv, and knows only of options that are secret as a whole.
    module.no_log_values.update(secret_values(module.params))
    try:
        # Before connecting: a wrong option should not have to wait for a server.
        task = read()
        arm(make_folder(this_process()))
        limit = float(getattr(task, "wait_timeout", 0) or 0)
        ending = _connected(module, limit, lambda clock, rest_for: work(task, clock, rest_for))
    except (MaintenanceError, Cancelled) as exc:
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


def _connected(module: AnsibleModule, limit: float, work: Callable[[Clock, RestFor], Ending]) -> Ending:
    clock = Clock()
    # What it takes to get credentials is part of the task's time.
    clock.began = clock.monotonic()
    connection = connect(module.params, clock, variables_taken(), limit)
    # Tokens from files and plugins are no options, of which Ansible would know.
    connection.secrets = module.no_log_values
    try:
        return work(clock, lambda deadline: Rest(connection, clock, deadline))
    except Forbidden as exc:
        exc.message = "%s (asked at %s; the guide on access rights lists what a task needs)" % (
            exc.message,
            connection.describe(),
        )
        raise
    finally:
        disarm()
        # From here on, no thread that is still asking may change what Ansible walks through.
        connection.secrets = set()
        connection.close()


def sentence(text: str) -> str:
    """Return an error's message as a sentence."""
    text = text.strip() or "the task failed"
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")
