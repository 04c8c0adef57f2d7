# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may change the phase of a node."""

from __future__ import annotations

import ast

from places import ROOT

DRAIN = ROOT / "plugins" / "module_utils" / "drain"


def assigned(tree: ast.AST) -> list[str]:
    """Return the attributes that code assigns, by any kind of assignment or with setattr."""
    stores = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "setattr"]
    return stores + [str(getattr(call.args[1], "value", "phase")) for call in calls]


def test_one_method_changes_the_phase_of_a_node() -> None:
    trees = {path.name: ast.parse(path.read_text()) for path in sorted(DRAIN.glob("*.py"))}
    functions = [(name, f) for name, tree in trees.items() for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    assert [(name, f.name) for name, f in functions if "phase" in assigned(f)] == [("node.py", "enter")]
