# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/connection-design.md: each row names a file of the connection and a test, and each file has a row."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "plugins" / "module_utils" / "connection"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "connection-design.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| what users get")
]
# kubeconfig_user only translates what the files around it decide.
WITHOUT_A_ROW = {"kubeconfig_user.py"}


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_test_of_each_row_exists(row: list[str]) -> None:
    _gets, _package, _files, named = row
    file, *names = named.strip("` |").split("::")
    found: ast.AST = ast.parse((Path(__file__).parent / file).read_text("utf-8"))
    for name in names:
        bodies = [node for node in ast.iter_child_nodes(found) if getattr(node, "name", "") == name]
        assert bodies, f"{file} has no {name}"
        found = bodies[0]
    assert names[-1].startswith("test_")


def test_each_file_has_a_row() -> None:
    files = {path.name for path in PACKAGE.glob("*.py")}
    named = {file for row in ROWS for file in re.findall(r"`(\w+\.py)`", row[2])}
    assert named == files - WITHOUT_A_ROW
