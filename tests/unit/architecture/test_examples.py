# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example is a task that the module takes: those of the modules themselves, and those of the guides."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator

from ansible_collections.kubeops.maintenance.plugins.action import (
    k8s_maintenance_report,
    node_patch_input,
    node_patch_record,
)

ROOT = Path(__file__).resolve().parents[3]
PREFIX = "kubeops.maintenance."
MODULES = sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("*.py"))
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "roles").rglob("*.md"))]
PLAYBOOKS = sorted((ROOT / "docs" / "examples").glob("*.yml"))
# What stands for a value that only a playbook knows, by the option's type.
SAMPLES = {"int": 1, "float": 1.0, "bool": True, "list": ["sample"], "dict": {}}
# Actions that do all of it on the controller.
WITHOUT_MODULE: dict[str, Any] = {
    action.__name__.rpartition(".")[2]: action
    for action in (k8s_maintenance_report, node_patch_input, node_patch_record)
}


class Example(NamedTuple):
    place: str
    module: str
    args: dict[str, Any]


def tasks_in(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the tasks of this collection's modules, wherever they stand in what YAML has made of a text."""
    for key, value in found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ():
        if isinstance(key, str) and key.removeprefix(PREFIX) in MODULES and key.startswith(PREFIX):
            yield key.removeprefix(PREFIX), value or {}
        elif key != "module_defaults":
            yield from tasks_in(value)


def blocks_of(text: str) -> Iterator[Any]:
    """Return what YAML makes of the indented and fenced blocks of a guide, of those that are YAML."""
    fenced = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(
        r"(?:^(?: {4}.*)?\n)+", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    for block in fenced + indented:
        try:
            yield yaml.safe_load(block)
        except yaml.YAMLError:
            # Most blocks are commands, or what they print.
            if f" {PREFIX}k8s_" in block and "name:" in block:
                raise


def examples() -> Iterator[Example]:
    for name in MODULES:
        text = importlib.import_module(f"ansible_collections.kubeops.maintenance.plugins.modules.{name}").EXAMPLES
        yield from (Example(f"module-{name}", *task) for task in tasks_in(yaml.safe_load(text)))
    for path in GUIDES:
        for found in blocks_of(path.read_text(encoding="utf-8") + "\n"):
            yield from (Example(path.relative_to(ROOT).as_posix(), *task) for task in tasks_in(found))
    for path in PLAYBOOKS:
        for found in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            yield from (Example(path.relative_to(ROOT).as_posix(), *task) for task in tasks_in(found))


EXAMPLES = list(examples())


def filled(args: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with something of the right type wherever a template stands."""
    known = {name: option for key, option in spec.items() for name in (key, *option.get("aliases", ()))}
    values = dict(args)
    for name, value in args.items():
        option = known.get(name, {})
        if isinstance(value, str) and "{{" in value:
            lists_dicts = option.get("elements") == "dict"
            values[name] = [] if lists_dicts else SAMPLES.get(option.get("type", "str"), "sample")
        elif isinstance(value, dict) and option.get("options"):
            values[name] = filled(value, option["options"])
    return values


def complaints(example: Example, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the task to the module, up to the moment at which it would connect; return what it does not like."""
    if example.module in WITHOUT_MODULE:
        spec = WITHOUT_MODULE[example.module].ARGUMENT_SPEC
        return list(ModuleArgumentSpecValidator(spec).validate(filled(example.args, spec)).error_messages)
    module = importlib.import_module(f"ansible_collections.kubeops.maintenance.plugins.modules.{example.module}")
    found: list[str] = []

    class Checked:
        """What is asked of ClusterModule before anything is done."""

        check_mode = True
        no_log_values: set[str] = set()  # noqa: RUF012 - of one example

        def __init__(self, argument_spec: dict[str, Any], supports_check_mode: bool, **rules: Any) -> None:
            checked = ModuleArgumentSpecValidator(argument_spec, **rules).validate(filled(example.args, argument_spec))
            found.extend(checked.error_messages)
            self.params = checked.validated_parameters

    def read_only(_module: Any, read: Any, **_rest: Any) -> None:
        # The manifests of an example are nowhere to be read.
        if not found and "src" not in example.args:
            read()

    monkeypatch.setattr(module, "ClusterModule", Checked)
    monkeypatch.setattr(module, "run", read_only)
    module.main()
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"{e.place}-{e.module}" for e in EXAMPLES])
def test_an_example_is_a_task_that_the_module_takes(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints(example, monkeypatch) == []


@pytest.mark.parametrize("name", MODULES)
def test_every_module_shows_an_example_of_itself(name: str) -> None:
    assert [example for example in EXAMPLES if example.place == f"module-{name}"]


def test_an_example_with_an_option_that_there_is_not_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Example("here", "k8s_node_mark", {"name": "w1", "anotations": {}})
    assert "anotations" in complaints(wrong, monkeypatch)[0]
