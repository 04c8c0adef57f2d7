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
from xml.sax.saxutils import escape

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
# What each package is about, for the picture.
SUBJECTS = {
    "module_utils": "vocabulary: errors, objects, selectors",
    "module_utils/runtime": "clock, threads, signals, progress lines",
    "module_utils/connection": "from options to a pool with credentials",
    "module_utils/api": "requests, retries, lists, watches",
    "module_utils/cluster": "nodes, pods, budgets, workloads, leases",
    "module_utils/drain": "k8s_node_drain",
    "module_utils/rollout": "k8s_rollout_status",
    "module_utils/maintenance": "gate, lock, mark, node info and wait",
    "module_utils/module": "speaks to AnsibleModule",
    "plugin_utils": "finds a kubeconfig on the controller",
    "plugin_utils/progress": "shows a module's lines",
    "plugin_utils/node_patch": "the role node_patch",
    "modules": "documentation, argument spec, main",
    "action": "one for each module",
    "filter": "filters of the role",
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


# The picture. Numbers are pixels.
_WIDTH, _BOX, _HIGH, _GAP, _ROW = 1060, 240, 58, 24, 128


def picture() -> str:
    """Return the packages, level above level, with an arrow for each that imports another one."""
    rows: dict[int, list[str]] = {}
    for package, level in LEVELS.items():
        if package in SUBJECTS:
            rows.setdefault(level, []).append(package)
    places = {}
    for row, level in enumerate(sorted(rows, reverse=True)):
        wide = len(rows[level]) * (_BOX + _GAP) - _GAP
        for number, package in enumerate(rows[level]):
            places[package] = ((_WIDTH - wide) // 2 + number * (_BOX + _GAP), 20 + row * _ROW)
    height = 20 + len(rows) * _ROW - (_ROW - _HIGH) + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#8895a7"/></marker></defs>',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for source, target in sorted(arrows()):
        if source in places and target in places:
            lines.append(_arrow(places[source], places[target], f"{source} imports {target}"))
    for package, place in places.items():
        lines += _box(package, *place)
    return "\n".join([*lines, "</svg>", ""])


def _arrow(source: tuple[int, int], target: tuple[int, int], title: str) -> str:
    x, y = source[0] + _BOX // 2, source[1] + _HIGH
    to_x, to_y = target[0] + _BOX // 2, target[1] - 2
    middle = (y + to_y) // 2
    return (
        f'<path d="M{x} {y} C{x} {middle} {to_x} {middle} {to_x} {to_y}" fill="none" stroke="#8895a7" '
        f'stroke-width="1.2" marker-end="url(#tip)"><title>{escape(title)}</title></path>'
    )


def _box(package: str, x: int, y: int) -> list[str]:
    name = package.rpartition("/")[2]
    shown = f"{name} (root)" if package in ("module_utils", "plugin_utils") else name
    fill = "#e8f1fd" if package.startswith("module_utils") else "#fdf3e1"
    return [
        f'<rect x="{x}" y="{y}" width="{_BOX}" height="{_HIGH}" rx="8" fill="{fill}" stroke="#5b6b80"/>',
        f'<text x="{x + _BOX // 2}" y="{y + 24}" text-anchor="middle" font-size="16" font-weight="bold" '
        f'fill="#1c2733">{escape(shown)}</text>',
        f'<text x="{x + _BOX // 2}" y="{y + 44}" text-anchor="middle" font-size="11.5" fill="#3c4a5c">'
        f"{escape(SUBJECTS[package])}</text>",
    ]


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    sys.exit(0)
