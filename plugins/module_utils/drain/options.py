# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the module's options into one checked value that the drain works by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidOptions
from ..objects import int_field
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
    """What a task asks for. Seconds and numbers as documented for the module's options of the same names."""

    state: str = "drain"
    names: tuple[str, ...] = ()
    node_selectors: tuple[str, ...] = ()
    allow_empty: bool = False
    pod_selectors: tuple[str, ...] = ()
    choices: PodOptions = field(default_factory=PodOptions)
    grace: int | None = None
    evict: bool = True
    wait_timeout: int = 900
    wait_sleep: float = 5.0
    chunk_size: int = 500
    eviction_concurrency: int = 20
    max_parallel: int = 1
    preflight: str = "standard"
    on_failure: str = "keep_cordon"
    cordon_owner: str = ""
    wait_volume_detach: bool = False
    check_mode: bool = False


def task_from(params: Mapping[str, Any], check_mode: bool) -> DrainTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    options = params.get("delete_options") or {}
    for name, least, unit in _AT_LEAST:
        check_at_least("delete_options." + name, options.get(name), least, unit)
    check_at_least("eviction_concurrency", params.get("eviction_concurrency"), 1, "evictions at once")
    check_at_least("max_parallel", params.get("max_parallel"), 1, "nodes at once")
    grace = options.get("terminate_grace_period")
    return DrainTask(
        state=params.get("state") or "drain",
        names=distinct_texts("name", params.get("name"), "the name of a node"),
        node_selectors=distinct_texts(
            "node_selectors", params.get("node_selectors"), "a label selector such as pool=a"
        ),
        allow_empty=bool(params.get("allow_empty")),
        pod_selectors=distinct_texts(
            "pod_selectors", params.get("pod_selectors") or None, "a label selector such as app=web"
        ),
        choices=PodOptions(
            force=bool(options.get("force")),
            ignore_daemonsets=bool(options.get("ignore_daemonsets")),
            delete_emptydir_data=bool(options.get("delete_emptydir_data")),
            skip_wait_for_delete_timeout=int_field(options.get("skip_wait_for_delete_timeout")),
        ),
        # Unset and negative leave it to the pod; 0 is a wish like any other.
        grace=grace if grace is not None and grace >= 0 else None,
        evict=not options.get("disable_eviction"),
        wait_timeout=int_field(options.get("wait_timeout"), 900),
        # A pause of nothing would ask the API server without a break.
        wait_sleep=max(1.0, float(int_field(options.get("wait_sleep"), 5))),
        chunk_size=int_field(options.get("chunk_size"), 500),
        eviction_concurrency=int_field(params.get("eviction_concurrency"), 20),
        max_parallel=int_field(params.get("max_parallel"), 1),
        preflight=params.get("preflight") or "standard",
        on_failure=params.get("on_failure") or "keep_cordon",
        cordon_owner=_owner(params.get("cordon_owner")),
        wait_volume_detach=bool(params.get("wait_volume_detach")),
        check_mode=check_mode,
    )


def _owner(name: Any) -> str:
    if name is None:
        return ""
    # An empty owner, from a variable that is not set, would drop the protection that the user asked for.
    if not str(name).strip():
        raise InvalidOptions("cordon_owner is empty, but must be a name that tells who cordons the node")
    return str(name).strip()
