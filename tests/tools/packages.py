# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Know the packages of the product and what each may import. `packages.py` draws them into docs/packages.svg.

tests/unit/architecture/test_packages.py holds the code, and the picture, to what stands here. Standard library only.
"""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path
from typing import NamedTuple

from drawing import Box, draw
from places import ROOT

PLUGINS = ROOT / "plugins"
PICTURE = ROOT / "docs" / "packages.svg"
NAME = "ansible_collections.kubeops.maintenance.plugins"

# A package imports only from lower levels, so drain, rollout and maintenance never import one another.
LEVELS = {
    "module_utils": 0,
    "module_utils/runtime": 1,
    "module_utils/connection": 2,
    "module_utils/api": 2,
    "module_utils/cluster": 3,
    "module_utils/drain": 4,
    "module_utils/rollout": 4,
    "module_utils/maintenance": 4,
    "module_utils/module": 5,
    "plugin_utils": 5,
    "plugin_utils/progress": 6,
    "plugin_utils/node_patch": 6,
    "modules": 7,
    "action": 7,
    "filter": 7,
    "doc_fragments": 7,
}
# For the picture: in which column each package is drawn, and what it is about.
SUBJECTS: dict[str, tuple[float, str, str]] = {
    "modules": (1, "documentation, main", "one for each module"),
    "action": (3, "one for each module:", "shows its lines as they come"),
    "filter": (4, "filters of the roles", ""),
    "plugin_utils/progress": (3, "follows the lines of a", "module, here or on a host"),
    "plugin_utils/node_patch": (4, "batches, marks, report and", "input of the role node_patch"),
    "module_utils/module": (0, "argument specs; runs a", "use case as a module"),
    "plugin_utils": (3, "finds a kubeconfig", "on the controller"),
    "module_utils/drain": (0, "k8s_node_drain", ""),
    "module_utils/rollout": (1, "k8s_rollout_status", ""),
    "module_utils/maintenance": (2, "gate, lock, mark,", "node info and node wait"),
    "module_utils/cluster": (1, "nouns and verbs: node, pod,", "budget, workload, lease"),
    "module_utils/connection": (0, "from options to a", "connection with credentials"),
    "module_utils/api": (1, "requests, retries,", "lists and watches"),
    "module_utils/runtime": (1, "clock, threads, signals,", "progress lines"),
    "module_utils": (1, "vocabulary: errors, objects,", "selectors, reasons, text"),
}


class Import(NamedTuple):
    """One import statement's target: `module` as Python would name it, `line` where it stands."""

    module: str
    line: int


@functools.cache
def files() -> list[str]:
    """Return every Python file of the product, relative to plugins/."""
    return sorted(path.relative_to(PLUGINS).as_posix() for path in PLUGINS.rglob("*.py"))


@functools.cache
def tree_of(file: str) -> ast.Module:
    return ast.parse((PLUGINS / file).read_text(encoding="utf-8"), file)


@functools.cache
def imports_of(file: str) -> list[Import]:
    """Return all imports of a file, at any depth: Ansible ships type-only and guarded ones just the same."""
    found = []
    package = [*NAME.split("."), *Path(file).parent.parts]
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            found.append(Import(module, node.lineno))
            found += [Import(f"{module}.{alias.name}", node.lineno) for alias in node.names]
    return found


def own_file(module: str) -> str | None:
    """Return the file under plugins/ that a module name of the collection means."""
    if not module.startswith(NAME + "."):
        return None
    file = module.removeprefix(NAME + ".").replace(".", "/") + ".py"
    return file if (PLUGINS / file).exists() else None


def package_of(file: str) -> str:
    """Return the package of a file, its folder."""
    return Path(file).parent.as_posix()


def own_imports(file: str) -> dict[str, int]:
    """Return the files of the product that a file imports, each with the line of its first import."""
    found: dict[str, int] = {}
    for target, line in imports_of(file):
        other = own_file(target)
        if other and other != file:
            found.setdefault(other, line)
    return found


def arrows() -> set[tuple[str, str]]:
    """Return the pairs of packages of which the first imports the second."""
    pairs = {(package_of(file), package_of(other)) for file in files() for other in own_imports(file)}
    return {(source, target) for source, target in pairs if source != target}


def needed_arrows() -> set[tuple[str, str]]:
    """Return the arrows that do not follow from others: without a -> c where a -> b and b -> c."""
    below: dict[str, set[str]] = {}
    pairs = arrows()
    for package in sorted(LEVELS, key=lambda name: LEVELS[name]):
        direct = {target for source, target in pairs if source == package}
        below[package] = direct.union(*(below[target] for target in direct))
    return {
        (source, target)
        for source, target in pairs
        if not any(target in below[other] for one, other in pairs if one == source)
    }


def picture() -> str:
    """Return docs/packages.svg: the packages, level above level, and their arrows."""
    levels = sorted({LEVELS[package] for package in SUBJECTS}, reverse=True)
    boxes = []
    for package, (column, *subject) in SUBJECTS.items():
        title = package.rpartition("/")[2]
        root = title in ("module_utils", "plugin_utils")
        fill = "#e8f1fd" if package.startswith("module") else "#fdf3e1"
        row = levels.index(LEVELS[package])
        boxes.append(Box(package, f"{title} (root)" if root else title, subject, row, column, fill))
    notes = [
        "An arrow means: imports. What follows from other arrows has none of its own.",
        "Blue runs where a module runs (module_utils and modules), yellow on the controller.",
    ]
    return draw(boxes, {pair for pair in needed_arrows() if set(pair) <= SUBJECTS.keys()}, notes)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    sys.exit(0)
