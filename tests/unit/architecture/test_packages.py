# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of the product: imports point down, and each outside world has one door.

tests/tools/packages.py has the levels. docs/architecture.md says why they are what they are.
"""

from __future__ import annotations

import ast
import sys

import pytest

from packages import LEVELS, PICTURE, SUBJECTS, files, imports_of, own_imports, package_of, picture, tree_of

# Decisions: plain dicts in, a verdict out. They import only the vocabulary at the root and one another.
PURE = {
    "module_utils/api/responses.py",
    "module_utils/cluster/access.py",
    "module_utils/cluster/cordon_owners.py",
    "module_utils/cluster/eviction.py",
    "module_utils/cluster/json_patch.py",
    "module_utils/cluster/nodes.py",
    "module_utils/cluster/pods.py",
    "module_utils/cluster/volumes.py",
    "module_utils/drain/filters.py",
    "module_utils/maintenance/gate_remedies.py",
    "module_utils/maintenance/gate_rules.py",
    "module_utils/maintenance/node_conditions.py",
    "module_utils/maintenance/rights.py",
    "module_utils/maintenance/window.py",
    "module_utils/rollout/fail_fast.py",
    "module_utils/rollout/manifests.py",
    "module_utils/rollout/pod_status.py",
    "module_utils/rollout/targets.py",
    "module_utils/rollout/viewers.py",
    "module_utils/rollout/workload_status.py",
}
# Libraries that are not ours, and modules of the standard library that open a door: who may import them.
CLOCK = {"module_utils/runtime/clock.py"}
THREADS = {
    "module_utils/runtime/cancellation.py",
    "module_utils/connection/connection.py",
    "module_utils/api/rest.py",
    "module_utils/runtime/workers.py",
    "plugin_utils/progress/lines.py",
}
NETWORK = {
    "module_utils/api/transport.py",
    "module_utils/api/transport_errors.py",
    "module_utils/connection/pool.py",
}
DOORS = {
    "ansible": {file for file in files() if LEVELS.get(package_of(file), 9) >= 5},
    "jsonpatch": {"module_utils/cluster/json_patch.py"},
    # What comes with the package kubernetes is looked for, and its absence explained, in one file.
    "kubernetes": {"module_utils/connection/library.py"},
    "certifi": {"module_utils/connection/tls.py"},
    "urllib3": NETWORK | {"module_utils/connection/library.py"},
    "yaml": {
        "module_utils/connection/kubeconfig.py",
        "module_utils/rollout/manifests.py",
        "plugin_utils/node_patch/task_files.py",
    },
    # standard library
    "asyncio": set(),
    "concurrent": THREADS,
    "http": NETWORK,
    "multiprocessing": set(),
    "queue": THREADS,
    "socket": NETWORK,
    "ssl": NETWORK | {"module_utils/connection/tls.py"},
    "subprocess": {"module_utils/connection/exec_plugin.py"},
    "threading": THREADS,
    "time": CLOCK,
    "urllib.request": NETWORK,
}
# Time stamps may be parsed anywhere, the present moment is asked for in one place.
READS_THE_CLOCK = {"now", "utcnow", "today"}


def door_of(module: str) -> str | None:
    """Return the entry of DOORS that a module belongs to."""
    return next((door for door in DOORS if module == door or module.startswith(door + ".")), None)


def test_every_file_is_in_a_package_with_a_level() -> None:
    assert files()
    assert [file for file in files() if package_of(file) not in LEVELS] == []


def test_every_package_has_files() -> None:
    assert sorted(LEVELS) == sorted({package_of(file) for file in files()})


def test_imports_between_packages_point_downwards() -> None:
    wrong = [
        f"{file}:{line} imports {other}"
        for file in files()
        for other, line in own_imports(file).items()
        if package_of(other) != package_of(file) and LEVELS[package_of(other)] >= LEVELS[package_of(file)]
    ]
    assert wrong == [], "\n".join(["", *wrong])


@pytest.mark.parametrize("package", sorted(LEVELS))
def test_imports_inside_a_package_make_no_circle(package: str) -> None:
    inside = {
        file: {other for other in own_imports(file) if package_of(other) == package}
        for file in files()
        if package_of(file) == package
    }
    while free := {file for file, others in inside.items() if not others & inside.keys()}:
        inside = {file: others for file, others in inside.items() if file not in free}
    assert sorted(inside) == []


def test_decisions_import_only_the_vocabulary_and_one_another() -> None:
    wrong = [
        f"{file}:{line} imports {other}"
        for file in sorted(PURE)
        for other, line in own_imports(file).items()
        if other not in PURE and package_of(other) != "module_utils"
    ]
    assert wrong == [], "\n".join(["", *wrong])


def test_every_decision_has_a_file() -> None:
    assert sorted(PURE - set(files())) == []


def test_libraries_come_in_by_their_own_door() -> None:
    wrong = []
    for file in files():
        for target, line in imports_of(file):
            door = door_of(target)
            top = target.split(".")[0]
            if door and file not in DOORS[door]:
                wrong.append(f"{file}:{line} imports {target}, which is for {sorted(DOORS[door]) or 'nobody'}")
            elif not door and top not in sys.stdlib_module_names and top != "ansible_collections":
                wrong.append(f"{file}:{line} imports {target}, which the collection does not require")
    assert wrong == [], "\n".join(["", *wrong])


def test_the_present_moment_is_asked_for_in_one_place() -> None:
    asked = [
        f"{file}:{node.lineno} calls {ast.unparse(node.func)}"
        for file in files()
        if file not in CLOCK
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in READS_THE_CLOCK
        and ast.unparse(node.func.value) in {"datetime", "date", "datetime.datetime", "datetime.date"}
    ]
    assert asked == [], "\n".join(["", *asked])


def test_the_picture_shows_the_packages_as_they_are() -> None:
    assert sorted(LEVELS.keys() - SUBJECTS.keys()) == ["doc_fragments"]
    assert PICTURE.read_text(encoding="utf-8") == picture(), "run .venv/bin/python tests/tools/packages.py"
