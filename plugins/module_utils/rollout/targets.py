# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workloads that a task names, grouped as the API lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import InvalidOptions
from ..objects import mapping_at, name_of, namespace_of
from .manifests import Described
from .viewers import KINDS

APPS = "apps/v1"
ANY_KIND = "Deployment, DaemonSet or StatefulSet"


class Target(NamedTuple):
    """A workload by its name. namespace: "" for that of the connection."""

    kind: str
    namespace: str
    name: str
    api_version: str = APPS

    def text(self) -> str:
        """Return it for messages, such as Deployment shop/web."""
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True)
class Selection:
    """Workloads of one list and one watch: by names, or (no names) all that match the selectors."""

    kind: str
    namespace: str
    api_version: str = APPS
    names: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()

    def target(self, name: str) -> Target:
        """Return the target of a name in this selection."""
        return Target(self.kind, self.namespace, name, self.api_version)


class Choice(NamedTuple):
    """The workloads of a task. skipped: those of other kinds, which have no rollout."""

    targets: tuple[Target, ...]
    skipped: tuple[str, ...] = ()


def of_workloads(entries: Iterable[Mapping[str, Any]], namespace: str) -> Choice:
    """Return the targets among the entries of a drain's affected_workloads."""
    targets, others = [], []
    for entry in entries:
        kind, name = str(entry.get("kind") or "").strip(), str(entry.get("name") or "").strip()
        if not kind or not name:
            raise InvalidOptions("the option workloads: each entry needs a kind and a name")
        place = str(entry.get("namespace") or "").strip() or namespace
        if kind in KINDS and _is_apps(entry.get("api_version")):
            targets.append(Target(kind, place, name))
        else:
            others.append(f"{kind} {place}/{name}" if place else f"{kind} {name}")
    return Choice(tuple(dict.fromkeys(targets)), tuple(dict.fromkeys(others)))


def of_manifests(described: Iterable[Described], namespace: str) -> Choice:
    """Return the targets that manifests name; other objects are skipped."""
    targets, others = [], []
    for obj, place in described:
        kind = str(obj["kind"])
        if kind not in KINDS or not _is_apps(obj.get("apiVersion")):
            others.append(kind)
        elif not name_of(obj):
            problem = "only a generateName" if mapping_at(obj, "metadata").get("generateName") else "no metadata.name"
            raise InvalidOptions(
                f"{place}: the {kind} has {problem}; wait for it by the name that it got when it was created"
            )
        else:
            targets.append(Target(kind, namespace_of(obj) or namespace, name_of(obj)))
    return Choice(tuple(dict.fromkeys(targets)), tuple(dict.fromkeys(others)))


def selections_of(targets: Iterable[Target], namespace: str) -> list[Selection]:
    """Return the targets by kind and namespace, in their order; namespace: for those that have none."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for target in targets:
        key = (target.kind, target.namespace or namespace, target.api_version)
        if target.name not in names.setdefault(key, []):
            names[key].append(target.name)
    return [Selection(*key, names=tuple(found)) for key, found in names.items()]


def _is_apps(api_version: Any) -> bool:
    return not api_version or str(api_version).startswith("apps/")
