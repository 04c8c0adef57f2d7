# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read task files before their turn comes.

Ansible reads a file that is included only when it is its turn, and a fault in it ends the whole run at once, for all
hosts and without `rescue`: a node that was drained for it would stay out.
"""

from __future__ import annotations

import functools
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
    """Tell whether Ansible finds a module or action of this name, in these collections where it does not say."""
    return any(
        loader.find_plugin_with_context(action, collection_list=collections).resolved
        for loader in (action_loader, module_loader)
    )


def malformed(paths: list[str], known: Known = is_known) -> str:
    """Return in sentences what is wrong with these task files, nothing if they can be read. Files that they include are
    not looked at, nor are those that a vault encrypts.
    """
    faults = [(path, _fault(path, known)) for path in paths]
    return " ".join("The task file %s cannot be run: %s" % (path, fault) for path, fault in faults if fault)


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
        return "line %d is not YAML (%s)." % (line, exc.problem or exc.context)
    except (OSError, UnicodeError, yaml.YAMLError, AnsibleError, _NoTasks) as exc:
        return "%s." % _first_line(exc)
    return ""


def _check(task: dict[str, Any], known: Known) -> None:
    collections = task.get("collections")
    # Finds what is no keyword of a task either, as there is one action only.
    action, _args, _delegate_to = ModuleArgsParser(task, collections).parse(skip_action_validation=True)
    if "{{" not in action and not known(action, collections):
        raise _NoTasks("there is no module %s, or its collection is not installed" % action)


def _tasks(found: Any) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file or of a part of a block, those of blocks included."""
    if found is None:
        return
    if not isinstance(found, list):
        raise _NoTasks("it must hold a list of tasks")
    for entry in found:
        if not isinstance(entry, dict):
            raise _NoTasks("%r is not a task" % (entry,))
        if "hosts" in entry:
            raise _NoTasks("it holds plays, and not a list of tasks")
        if "block" in entry:
            for part in _PARTS:
                yield from _tasks(entry.get(part))
        else:
            yield entry


def _first_line(exc: Exception) -> str:
    text = next((line.strip() for line in str(exc).splitlines() if line.strip()), type(exc).__name__)
    return text.rstrip(".?")


class _NoTasks(Exception):
    """A file holds something else than tasks; the text says what."""
