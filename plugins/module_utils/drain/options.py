# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the module's options into one checked DrainTask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidOptions
from ..option_checks import check_at_least, distinct_texts
from .filters import PodOptions

_AT_LEAST: tuple[tuple[str, int, str], ...] = (
    ("wait_timeout", 0, "seconds, 0 for no limit"),
    ("wait_sleep", 0, "seconds"),
    ("skip_wait_for_delete_timeout", 0, "seconds, 0 to wait for every pod"),
    ("chunk_size", 0, "pods in a page, 0 for one page"),
)


@dataclass(frozen=True)
class DrainTask:
    """The options of a task, as documented for the module's options of the same names.

    choices: which pods may be evicted. grace: seconds, None for each pod's own. evict: false to delete pods instead.
    """

    state: str
    names: tuple[str, ...]
    node_selectors: tuple[str, ...]
    allow_empty: bool
    pod_selectors: tuple[str, ...]
    choices: PodOptions
    grace: int | None
    evict: bool
    wait_timeout: int
    wait_sleep: float
    chunk_size: int
    eviction_concurrency: int
    max_parallel: int
    preflight: str
    on_failure: str
    cordon_owner: str
    wait_volume_detach: bool
    check_mode: bool


def task_from(params: Mapping[str, Any], check_mode: bool) -> DrainTask:
    """Return the task that the validated parameters describe; raise InvalidOptions for the first error."""
    options = params["delete_options"]
    for name, least, unit in _AT_LEAST:
        check_at_least("delete_options." + name, options[name], least, unit)
    check_at_least("eviction_concurrency", params["eviction_concurrency"], 1, "evictions at once")
    check_at_least("max_parallel", params["max_parallel"], 1, "nodes at once")
    grace = options["terminate_grace_period"]
    return DrainTask(
        state=params["state"],
        names=distinct_texts("name", params["name"], "the name of a node"),
        node_selectors=distinct_texts("node_selectors", params["node_selectors"], "a label selector such as pool=a"),
        allow_empty=params["allow_empty"],
        pod_selectors=distinct_texts(
            "pod_selectors", params["pod_selectors"] or None, "a label selector such as app=web"
        ),
        choices=PodOptions(
            force=options["force"],
            ignore_daemonsets=options["ignore_daemonsets"],
            delete_emptydir_data=options["delete_emptydir_data"],
            skip_wait_for_delete_timeout=options["skip_wait_for_delete_timeout"],
        ),
        # Unset and negative mean the pod's own grace period; 0 is a value of its own.
        grace=grace if grace is not None and grace >= 0 else None,
        evict=not options["disable_eviction"],
        wait_timeout=options["wait_timeout"],
        # 0 would poll the API server without a pause.
        wait_sleep=max(1.0, float(options["wait_sleep"])),
        chunk_size=options["chunk_size"],
        eviction_concurrency=params["eviction_concurrency"],
        max_parallel=params["max_parallel"],
        preflight=params["preflight"],
        on_failure=params["on_failure"],
        cordon_owner=_owner(params["cordon_owner"]),
        wait_volume_detach=params["wait_volume_detach"],
        check_mode=check_mode,
    )


def _owner(name: str | None) -> str:
    if name is None:
        return ""
    # An empty owner, from a variable that is not set, would drop the protection that the user asked for.
    if not name.strip():
        raise InvalidOptions("cordon_owner is empty, but must be a name that tells who cordons the node")
    return name.strip()
