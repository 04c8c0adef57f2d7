# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the product: a file imports only from lower levels, and each outside world has one door.

A new file under plugins/ fails here until it has a line in LEVELS. Choose the lowest level that works. Files of one
level do not import one another; where a part is split into several files, decimals order them (3.0, 3.1).
docs/architecture.md says why the layers are what they are, and which file does what: a new file goes there, too.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"

LEVELS = {
    # 0: vocabulary, standard library only
    "module_utils/errors.py": 0.0,
    "module_utils/objects.py": 0.0,
    "module_utils/words.py": 0.0,
    "module_utils/results.py": 0.0,
    "module_utils/selectors.py": 0.1,
    "module_utils/secrecy.py": 0.0,
    # 1: pure decisions on plain dicts
    "module_utils/answers.py": 1.0,
    "module_utils/evictions.py": 1.1,
    "module_utils/node_facts.py": 1.0,
    "module_utils/option_checks.py": 1.0,
    "module_utils/cordon_owners.py": 1.0,
    "module_utils/pod_filters.py": 1.0,
    "module_utils/manifests.py": 1.0,
    "module_utils/pods.py": 1.0,
    "module_utils/rollout_viewers.py": 1.0,
    "module_utils/rollout_pods.py": 1.1,
    "module_utils/rollout_remedies.py": 1.2,
    "module_utils/rollout_targets.py": 1.1,
    "module_utils/rollout_diagnosis.py": 1.2,
    "module_utils/rights.py": 1.0,
    "module_utils/volumes.py": 1.0,
    "module_utils/maintenance_window.py": 1.0,
    "module_utils/processes.py": 0.0,
    "module_utils/playbook_process.py": 1.0,
    "module_utils/lease_terms.py": 1.1,
    "module_utils/maintenance_rights.py": 1.1,
    "module_utils/gate_rules.py": 1.1,
    "module_utils/gate_remedies.py": 1.2,
    "module_utils/node_return.py": 1.1,
    # 1: the clock, the network, threads
    "module_utils/cancellation.py": 1.0,
    "module_utils/job_folder.py": 0.9,
    "module_utils/waiting.py": 1.0,
    "module_utils/transport_faults.py": 1.0,
    "module_utils/doubts.py": 1.05,
    "module_utils/wire.py": 1.05,
    "module_utils/workers.py": 1.0,
    "module_utils/progress.py": 1.1,
    "module_utils/wait_progress.py": 1.2,
    "module_utils/rest.py": 1.1,
    "module_utils/tools.py": 1.2,
    # 1: where the server is and who we are
    "module_utils/exec_plugin.py": 1.0,
    "module_utils/connection_options.py": 1.0,
    "module_utils/kubeconfig.py": 1.0,
    "module_utils/server_address.py": 1.0,
    "module_utils/tls.py": 1.0,
    "module_utils/credentials.py": 1.1,
    "module_utils/proxies.py": 1.1,
    "module_utils/impersonation.py": 1.2,
    "module_utils/oidc.py": 1.2,
    "module_utils/auth_provider.py": 1.3,
    "module_utils/connection_pool.py": 1.2,
    "module_utils/kubeconfig_user.py": 1.2,
    "module_utils/connection_sources.py": 1.3,
    "module_utils/connection.py": 1.4,
    # 2: Kubernetes nouns and verbs
    "module_utils/list_watch.py": 2.0,
    "module_utils/pod_cache.py": 2.1,
    "module_utils/budgets.py": 2.1,
    "module_utils/cluster.py": 2.2,
    "module_utils/workloads.py": 2.1,
    "module_utils/leases.py": 2.0,
    # 3: use cases
    "module_utils/drain_options.py": 3.0,
    "module_utils/maintenance_gate.py": 3.0,
    "module_utils/maintenance_lock.py": 3.0,
    "module_utils/node_mark.py": 3.0,
    "module_utils/node_wait.py": 3.0,
    "module_utils/node_info.py": 3.0,
    "module_utils/pod_drain.py": 3.0,
    "module_utils/budget_watch.py": 3.1,
    "module_utils/diagnosis.py": 3.1,
    "module_utils/node_drain.py": 3.1,
    "module_utils/cordon.py": 3.2,
    "module_utils/detach_watch.py": 3.2,
    "module_utils/node_check.py": 3.3,
    "module_utils/drain_loop.py": 3.4,
    "module_utils/preflight.py": 3.2,
    "module_utils/drain_words.py": 3.25,
    "module_utils/drain_plan.py": 3.3,
    "module_utils/drain_rehearsal.py": 3.3,
    "module_utils/drain_report.py": 3.3,
    "module_utils/drain_progress.py": 3.4,
    "module_utils/drain.py": 3.5,
    "module_utils/rollout_options.py": 3.0,
    "module_utils/rollout_follow.py": 3.0,
    "module_utils/rollout_inquiry.py": 3.1,
    "module_utils/rollout_evidence.py": 3.2,
    "module_utils/rollout_groups.py": 3.1,
    "module_utils/rollout_progress.py": 3.3,
    "module_utils/rollout_words.py": 3.3,
    "module_utils/rollout_report.py": 3.4,
    "module_utils/rollout_wait.py": 3.5,
    # 4: the only one that knows AnsibleModule
    "module_utils/auth_options.py": 4.0,
    "module_utils/progress_options.py": 4.0,
    "module_utils/module_face.py": 4.1,
    # 4: on the controller, without any knowledge of Kubernetes
    "plugin_utils/files.py": 4.0,
    "plugin_utils/job_shell.py": 4.0,
    "plugin_utils/lines.py": 4.0,
    "plugin_utils/job.py": 4.1,
    "plugin_utils/progress.py": 4.2,
    "plugin_utils/node_patch_batches.py": 4.0,
    "plugin_utils/node_patch_marks.py": 4.0,
    "plugin_utils/node_patch_reach.py": 4.0,
    "plugin_utils/node_patch_report.py": 4.0,
    "plugin_utils/node_patch_task_files.py": 4.0,
    "plugin_utils/node_patch_types.py": 4.2,
    "plugin_utils/node_patch_values.py": 4.1,
    "plugin_utils/node_patch_variables.py": 4.0,
    # 5: documentation, argument spec, main
    "action/k8s_maintenance_gate.py": 5.0,
    "action/k8s_maintenance_lock.py": 5.0,
    "action/k8s_maintenance_report.py": 5.0,
    "action/k8s_node_drain.py": 5.0,
    "action/k8s_node_info.py": 5.0,
    "action/k8s_node_mark.py": 5.0,
    "action/k8s_node_wait.py": 5.0,
    "action/k8s_rollout_status.py": 5.0,
    "filter/node_patch.py": 5.0,
    "modules/k8s_maintenance_gate.py": 5.0,
    "modules/k8s_maintenance_lock.py": 5.0,
    "modules/k8s_maintenance_report.py": 5.0,
    "modules/k8s_node_drain.py": 5.0,
    "modules/k8s_node_info.py": 5.0,
    "modules/k8s_node_mark.py": 5.0,
    "modules/k8s_node_wait.py": 5.0,
    "modules/k8s_rollout_status.py": 5.0,
}

# Libraries that are not ours, and modules of the standard library that open a door: who may import them.
CLOCK = {"module_utils/waiting.py"}
THREADS = {
    "module_utils/cancellation.py",
    "module_utils/connection.py",
    "module_utils/rest.py",
    "module_utils/workers.py",
    "plugin_utils/lines.py",
}
NETWORK = {"module_utils/wire.py", "module_utils/transport_faults.py", "module_utils/connection_pool.py"}
DOORS = {
    "ansible": {file for file, level in LEVELS.items() if level >= 4},
    "kubernetes": {"module_utils/connection.py"},
    "urllib3": NETWORK,
    "yaml": {"module_utils/kubeconfig.py", "module_utils/manifests.py", "plugin_utils/node_patch_task_files.py"},
    # standard library
    "asyncio": set(),
    "concurrent": THREADS,
    "http": NETWORK,
    "multiprocessing": set(),
    "queue": THREADS,
    "socket": NETWORK,
    "ssl": NETWORK | {"module_utils/tls.py"},
    "subprocess": {"module_utils/exec_plugin.py"},
    "threading": THREADS,
    "time": CLOCK,
    "urllib.request": NETWORK,
}
# Time stamps may be parsed anywhere, the present moment is asked for in one place.
READS_THE_CLOCK = {"now", "utcnow", "today"}


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
    package = ["ansible_collections", "kubeops", "maintenance", "plugins", *Path(file).parent.parts]
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
    prefix = "ansible_collections.kubeops.maintenance.plugins."
    if not module.startswith(prefix):
        return None
    file = module.removeprefix(prefix).replace(".", "/") + ".py"
    return file if (PLUGINS / file).exists() else None


def door_of(module: str) -> str | None:
    """Return the entry of DOORS that a module belongs to."""
    return next((door for door in DOORS if module == door or module.startswith(door + ".")), None)


def test_every_file_has_a_level() -> None:
    assert files()
    missing = [file for file in files() if file not in LEVELS and not file.startswith("doc_fragments/")]
    assert missing == [], f"Give each of {missing} a line in LEVELS"


def test_every_level_has_a_file() -> None:
    assert [file for file in LEVELS if file not in files()] == []


def test_imports_point_downwards() -> None:
    wrong = []
    for file, level in LEVELS.items():
        for target, line in imports_of(file) if file in files() else ():
            other = own_file(target)
            if other and LEVELS.get(other, 9.0) >= level:
                wrong.append(f"{file}:{line} (level {level}) imports {other} (level {LEVELS.get(other)})")
    assert wrong == [], "\n".join(["", *wrong])


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


def test_every_file_has_a_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## The rooms")[2]
    rooms = set(re.findall(r"`(\w+)`", text.partition("\n## ")[0]))
    names = {Path(file).stem for file in LEVELS if file.startswith("module_utils/")}
    assert sorted(names - rooms) == [], "Put each of them into the table of docs/architecture.md"
