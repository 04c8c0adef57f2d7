# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The house rules that a machine can check. CONTRIBUTING.md tells them to people."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADER = (
    "# Copyright (c) 2026 kubeops.maintenance contributors\n"
    "# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)\n"
    "# SPDX-License-Identifier: GPL-3.0-or-later\n"
)
LONGEST_FILE = 250
LONGEST_FUNCTION = 40
PYTHON_FOLDERS = ("plugins", "tests", "docs")
TEXT = {".py", ".md", ".rst", ".yml", ".yaml", ".txt", ".toml", ".sh", ".cfg"}
# Folders of one machine: a home folder, or where somebody keeps a checkout.
MACHINE_PATH = re.compile(r"(?<![\w.~}/-])/(?:root|home|Users|work|workspace)/[\w.][\w./-]*")
# Well-known folders of containers that documentation may speak of.
PUBLIC_PATHS = ("/home/runner/", "/home/awx/")


def python_files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "output" not in path.relative_to(ROOT).parts]


def text_files() -> list[Path]:
    """Return the text files that people write: neither what tools left behind nor recorded data."""
    found = []
    for top in sorted(ROOT.iterdir()):
        if top.is_file() and not top.name.startswith(".git"):
            found.append(top)
        elif top.is_dir() and (not top.name.startswith(".") or top.name == ".ci"):
            found += [path for path in sorted(top.rglob("*")) if path.is_file()]
    recorded = (ROOT / "tests" / "golden" / "cases", ROOT / "tests" / "output")
    return [
        path
        for path in found
        if (path.suffix in TEXT or path.name in {"Makefile", "run"}) and not any(r in path.parents for r in recorded)
    ]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_of(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_python_files_begin_with_the_licence() -> None:
    without = []
    for path in python_files(*PYTHON_FOLDERS):
        text = path.read_text(encoding="utf-8")
        while text.startswith(("#!", "# -*-")):  # what Ansible wants above it in modules
            text = text.partition("\n")[2]
        wants_to_be_empty = path.name == "__init__.py" and not text  # by a rule of sanity
        if not text.startswith(HEADER) and not wants_to_be_empty:
            without.append(named(path))
    assert without == [], "\n".join(["", *without])


def test_files_are_short_enough_to_be_read_at_once() -> None:
    lines = {named(path): len(path.read_text("utf-8").splitlines()) for path in python_files("plugins/module_utils")}
    assert {name: number for name, number in lines.items() if number > LONGEST_FILE} == {}


def test_functions_fit_on_a_screen() -> None:
    lines = {f"{named(path)} {f.name}": length_of(f) for path in python_files("plugins") for f in functions_of(path)}
    assert {name: number for name, number in lines.items() if number > LONGEST_FUNCTION} == {}


def test_the_product_is_typed() -> None:
    untyped = [
        f"{named(path)} {function.name}({argument.arg})"
        for path in python_files("plugins")
        for function in functions_of(path)
        for argument in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if argument.annotation is None and argument.arg not in {"self", "cls"}
    ]
    assert untyped == [], "\n".join(["", *untyped])


def test_unit_tests_do_not_sleep() -> None:
    naps = [
        f"{named(path)}:{node.lineno}"
        for path in python_files("tests/unit")
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and node.attr == "sleep" and ast.unparse(node.value) in {"time", "asyncio"})
        or (isinstance(node, ast.ImportFrom) and node.module == "time" and any(a.name == "sleep" for a in node.names))
    ]
    assert naps == [], "\n".join(["", *naps])


def test_nothing_is_called_underscore() -> None:
    # ansible-test sanity refuses the name, some minutes later than this test.
    found = [
        f"{named(path)}:{node.lineno}"
        for path in python_files(*PYTHON_FOLDERS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == "_"
    ]
    assert found == [], "\n".join(["", *found])


def test_no_file_speaks_of_one_machine() -> None:
    found = [
        f"{named(path)}:{number} {match[0]}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in MACHINE_PATH.finditer(line)
        if not match[0].startswith(PUBLIC_PATHS)
    ]
    assert found == [], "\n".join(["", *found])


def test_module_utils_have_no_empty_package_files() -> None:
    # ansible-test sanity refuses them, and Ansible needs none.
    assert list((ROOT / "plugins").rglob("__init__.py")) == []
