# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find and read task files before their turn comes.

Ansible reads an included file only when its turn comes, and an error in it ends the whole run at once, for all hosts
and without `rescue`: a node that was drained for it would stay cordoned.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from ansible.errors import AnsibleError
from ansible.parsing.mod_args import ModuleArgsParser
from ansible.parsing.utils.yaml import from_yaml
from ansible.plugins.loader import action_loader, module_loader

Known = Callable[[str, "list[str] | None"], bool]
_VAULT = "$ANSIBLE_VAULT"
_PARTS = ("block", "rescue", "always")


def is_known(action: str, collections: list[str] | None = None) -> bool:
    """Return whether Ansible finds a module or action of this name, in these collections where it does not say."""
    return any(
        loader.find_plugin_with_context(action, collection_list=collections).resolved
        for loader in (action_loader, module_loader)
    )


def invalid_task_files(paths: list[str], known: Known = is_known) -> str:
    """Return in sentences what is wrong with these task files, nothing if they can be read. Files that they include are
    not checked, nor are those that a vault encrypts.
    """
    faults = [(path, _fault(path, known)) for path in paths]
    return " ".join(f"The task file {path} cannot be run: {fault}" for path, fault in faults if fault)


def find_task_file(path: str, playbook_folder: str) -> str:
    """Return the path of a task file, relative to the folder in which Ansible was started or to the playbook's; "" if
    there is none.
    """
    path = os.path.expanduser(path)
    candidates = (os.path.realpath(path), os.path.join(playbook_folder, path))
    return next((candidate for candidate in candidates if os.path.isfile(candidate)), "")


@functools.lru_cache(maxsize=32)
def _fault(path: str, known: Known) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.startswith(_VAULT):
            return ""
        for _event in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
        for task in _tasks(from_yaml(text, file_name=path)):
            _check(task, known)
    except yaml.MarkedYAMLError as exc:
        line = exc.problem_mark.line + 1 if exc.problem_mark else 1
        return f"line {line} is not YAML ({exc.problem or exc.context})."
    except (OSError, UnicodeError, yaml.YAMLError, AnsibleError, _NotTasks) as exc:
        return f"{_first_line(exc)}."
    return ""


def _check(task: dict[str, Any], known: Known) -> None:
    collections = task.get("collections")
    # Also finds keywords that no task has: it would take them for a second action.
    action, _args, _delegate_to = ModuleArgsParser(task, collections).parse(skip_action_validation=True)
    if "{{" not in action and not known(action, collections):
        raise _NotTasks(f"there is no module {action}, or its collection is not installed")


def _tasks(found: Any) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file or of a part of a block, those of blocks included."""
    if found is None:
        return
    if not isinstance(found, list):
        raise _NotTasks("it must hold a list of tasks")
    for entry in found:
        if not isinstance(entry, dict):
            raise _NotTasks(f"{entry!r} is not a task")
        if "hosts" in entry:
            raise _NotTasks("it holds plays, and not a list of tasks")
        if "block" in entry:
            for part in _PARTS:
                yield from _tasks(entry.get(part))
        else:
            yield entry


def _first_line(exc: Exception) -> str:
    text = next((line.strip() for line in str(exc).splitlines() if line.strip()), type(exc).__name__)
    return text.rstrip(".?")


class _NotTasks(Exception):
    """A file holds something else than tasks; the text says what."""
