# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for the code of the drain loop: who changes the phase of a node, and that every message has a handler."""

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


def test_every_message_that_a_request_of_the_drain_posts_has_a_handler() -> None:
    nodes = {path.name: list(ast.walk(ast.parse(path.read_text()))) for path in sorted(DRAIN.glob("*.py"))}
    # A tag is a tuple that starts with the kind of its messages.
    calls = [n for name in nodes if name != "dry_run.py" for n in nodes[name] if isinstance(n, ast.Call)]
    tags = [call.args[0] for call in calls if getattr(call.func, "attr", "") in ("start", "follow") and call.args]
    tags += [call.args[1] for call in calls if getattr(call.func, "id", "") == "Subscription"]
    kinds = {getattr(tag.elts[0], "value", "") for tag in tags if isinstance(tag, ast.Tuple)}
    tables = [n for n in nodes["loop.py"] if isinstance(n, ast.Dict)]
    assert kinds == {getattr(key, "value", None) for table in tables for key in table.keys}
