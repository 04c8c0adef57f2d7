# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find option values of the role node_patch that would stop a run only after a node was drained."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils.module.auth_spec import AUTH_SPEC
from .variables import ALIKE, with_suggestion

# The minimum of each number; those that a module checks in the preflight are left to it.
_MINIMUM = {
    "node_patch_gate_timeout": 0,
    "node_patch_heal_timeout": 0,
    "node_patch_packages_timeout": 1,
    "node_patch_reach_timeout": 1,
    "node_patch_ready_timeout": 0,
    "node_patch_reboot_timeout": 1,
    "node_patch_soak": 0,
    "node_patch_wait_sleep": 0,
}
# The distribution chooses what follows the numbers, as in v1.33.4+k3s1 or v1.33.5-gke.1080000.
_VERSION = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+([-+.].+)?$")
# The keys of dictionaries in variables: those that the modules take.
CONNECTION_KEYS = frozenset(AUTH_SPEC).union(*(spec.get("aliases", ()) for spec in AUTH_SPEC.values()))
_WINDOW_KEYS = ("days", "start", "end", "timezone", "not_before", "not_after")
# The options that are checked here.
CHECKED = (
    *_MINIMUM,
    "node_patch_gate_workloads",
    "node_patch_kubelet_version",
    "node_patch_window",
)
_WORKLOAD_KEYS = ("api_version", "kind", "namespace", "name")


def invalid_values(values: Mapping[str, Any]) -> str:
    """Return in sentences what is wrong with the values of variables, by name; "" if nothing is.

    Variables may be missing. What is not a number is left to the argument spec.
    """
    found = [
        f"The variable {name} is {value}, but must be {least} or more."
        for name, least in _MINIMUM.items()
        for value in _numbers(values, name)
        if value < least
    ]
    found += _soak_too_long(values) + _invalid_version(values)
    found += unknown_keys("node_patch_connection", values.get("node_patch_connection"), CONNECTION_KEYS)
    windows = values.get("node_patch_window") or ()
    for number, window in enumerate(windows if isinstance(windows, (list, tuple)) else ()):
        found += unknown_keys(f"node_patch_window[{number}]", window, _WINDOW_KEYS)
    found += _invalid_workloads(values.get("node_patch_gate_workloads") or ())
    return " ".join(found)


def _soak_too_long(values: Mapping[str, Any]) -> list[str]:
    for soak in _numbers(values, "node_patch_soak"):
        for timeout in _numbers(values, "node_patch_ready_timeout"):
            if 0 < timeout <= soak:
                return [
                    f"The variable node_patch_soak ({soak}) is a part of node_patch_ready_timeout ({timeout}), so it "
                    "must be shorter."
                ]
    return []


def _invalid_version(values: Mapping[str, Any]) -> list[str]:
    version = str(values.get("node_patch_kubelet_version") or "")
    if not version or _VERSION.match(version):
        return []
    like = "v" + version.strip().lstrip("vV")
    meant = f" Did you mean {like}?" if _VERSION.match(like) else ""
    return [
        f"The variable node_patch_kubelet_version is {version!r}, but kubelets name their versions as in v1.36.3, as "
        f"kubectl get nodes shows them.{meant}"
    ]


def _invalid_workloads(entries: Any) -> list[str]:
    if isinstance(entries, (Mapping, str)) or not isinstance(entries, Iterable):
        return ["The variable node_patch_gate_workloads must be a list, each entry with kind, namespace and name."]
    for number, entry in enumerate(entries):
        unknown = unknown_keys(f"node_patch_gate_workloads[{number}]", entry, _WORKLOAD_KEYS)
        if unknown:
            return unknown
        if not (isinstance(entry, Mapping) and entry.get("kind") and entry.get("name")):
            return [f"The variable node_patch_gate_workloads[{number}] needs both a kind and a name."]
    return []


def unknown_keys(name: str, value: Any, keys: Iterable[str]) -> list[str]:
    """Return in a sentence which keys of a dictionary are unknown; never a value, which may be secret."""
    unknown = sorted(str(key) for key in value if key not in keys) if isinstance(value, Mapping) else []
    if not unknown:
        return []
    shown = [with_suggestion(key, difflib.get_close_matches(key, sorted(keys), 1, ALIKE)) for key in unknown]
    return [f"The variable {name} has unknown keys: {', '.join(shown)}."]


def _numbers(values: Mapping[str, Any], name: str) -> list[int]:
    """Return the variable's number, if it is a number."""
    try:
        return [int(str(values[name]).strip())]
    except (KeyError, ValueError):
        return []
