# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find values of the role node_patch that cannot work and would stop a run only after a node was drained."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils.module.auth_spec import AUTH_SPEC
from .variables import ALIKE, asked_back

# The least that a number may be; those that are looked at beforehand by a module are left to it.
_LEAST = {
    "node_patch_gate_timeout": 0,
    "node_patch_heal_timeout": 0,
    "node_patch_packages_timeout": 1,
    "node_patch_reach_timeout": 1,
    "node_patch_ready_timeout": 0,
    "node_patch_reboot_timeout": 1,
    "node_patch_soak": 0,
    "node_patch_wait_sleep": 0,
}
# Whatever follows the numbers is the distribution's, as in v1.33.4+k3s1 or v1.33.5-gke.1080000.
_VERSION = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+([-+.].+)?$")
# The keys of dictionaries in variables: those that the modules take.
CONNECTION_KEYS = frozenset(AUTH_SPEC).union(*(spec.get("aliases", ()) for spec in AUTH_SPEC.values()))
_WINDOW_KEYS = ("days", "start", "end", "timezone", "not_before", "not_after")
_WORKLOAD_KEYS = ("api_version", "kind", "namespace", "name")


def amiss(values: Mapping[str, Any]) -> str:
    """Return in sentences what is wrong with the values of variables, by name; nothing if all may be right.

    Variables that are left out are right, and so is what is no number, which the argument spec refuses.
    """
    found = [
        "The variable %s is %d, but must be %d or more." % (name, value, least)
        for name, least in _LEAST.items()
        for value in _numbers(values, name)
        if value < least
    ]
    found += _soaks_too_long(values) + _no_version(values)
    found += strange_keys("node_patch_connection", values.get("node_patch_connection"), CONNECTION_KEYS)
    windows = values.get("node_patch_window") or ()
    for number, window in enumerate(windows if isinstance(windows, (list, tuple)) else ()):
        found += strange_keys("node_patch_window[%d]" % number, window, _WINDOW_KEYS)
    found += _no_workloads(values.get("node_patch_gate_workloads") or ())
    return " ".join(found)


def _soaks_too_long(values: Mapping[str, Any]) -> list[str]:
    for soak in _numbers(values, "node_patch_soak"):
        for timeout in _numbers(values, "node_patch_ready_timeout"):
            if 0 < timeout <= soak:
                return [
                    "The variable node_patch_soak (%d) is a part of node_patch_ready_timeout (%d), so it must be "
                    "shorter." % (soak, timeout)
                ]
    return []


def _no_version(values: Mapping[str, Any]) -> list[str]:
    version = str(values.get("node_patch_kubelet_version") or "")
    if not version or _VERSION.match(version):
        return []
    like = "v" + version.strip().lstrip("vV")
    meant = " Did you mean %s?" % like if _VERSION.match(like) else ""
    return [
        "The variable node_patch_kubelet_version is %r, but kubelets name their versions as in v1.36.3, as kubectl get "
        "nodes shows them.%s" % (version, meant)
    ]


def _no_workloads(entries: Any) -> list[str]:
    if isinstance(entries, (Mapping, str)) or not isinstance(entries, Iterable):
        return ["The variable node_patch_gate_workloads must be a list, each entry with kind, namespace and name."]
    for number, entry in enumerate(entries):
        strange = strange_keys("node_patch_gate_workloads[%d]" % number, entry, _WORKLOAD_KEYS)
        if strange:
            return strange
        if not (isinstance(entry, Mapping) and entry.get("kind") and entry.get("name")):
            return ["The variable node_patch_gate_workloads[%d] needs a kind and a name, and has not both." % number]
    return []


def strange_keys(name: str, value: Any, keys: Iterable[str]) -> list[str]:
    """Say which keys of a dictionary nothing reads; never a value, which may be secret."""
    strange = sorted(str(key) for key in value if key not in keys) if isinstance(value, Mapping) else []
    if not strange:
        return []
    said = [asked_back(key, difflib.get_close_matches(key, sorted(keys), 1, ALIKE)) for key in strange]
    return ["The variable %s has keys that nothing reads: %s." % (name, ", ".join(said))]


def _numbers(values: Mapping[str, Any], name: str) -> list[int]:
    """Return the variable's number, if it is one."""
    try:
        return [int(str(values[name]).strip())]
    except (KeyError, ValueError):
        return []
