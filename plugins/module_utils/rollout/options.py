# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the module's options into one checked RolloutTask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidOptions
from ..option_checks import check_at_least, check_name, distinct_texts
from .manifests import objects_in, objects_of_files
from .targets import ANY_KIND, APPS, Choice, Target, of_manifests, of_workloads
from .viewers import KINDS

_API_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9]+")
# The options that name workloads; a task uses one of them.
SOURCES = ("name", "label_selectors", "workloads", "resource_definition", "src")


@dataclass(frozen=True)
class RolloutTask:
    """The options of a task, under their documented names.

    targets: the workloads by name, empty where label selectors choose them. strict: semantics.
    """

    targets: tuple[Target, ...]
    skipped: tuple[str, ...]
    kind: str
    namespace: str
    api_version: str
    label_selectors: tuple[str, ...]
    revision: int
    watch: bool
    wait_timeout: int
    wait_sleep: float
    allow_empty: bool
    allow_missing: bool
    fail_early: str
    fail_early_window: int
    strict: bool


def task_from(params: Mapping[str, Any]) -> RolloutTask:
    """Return the task that the validated parameters describe; raise InvalidOptions for the first error."""
    check_at_least("revision", params["revision"], 0, "the number of a revision, 0 for any")
    check_at_least("wait_timeout", params["wait_timeout"], 0, "seconds, 0 for no limit")
    check_at_least("wait_sleep", params["wait_sleep"], 0, "seconds")
    check_at_least("fail_early_window", params["fail_early_window"], 0, "seconds")
    namespace = (params["namespace"] or "").strip()
    source = _source(params)
    choice = _chosen(source, params, namespace)
    if not choice.targets and source != "label_selectors" and not params["allow_empty"]:
        raise InvalidOptions(_nothing(source, choice))
    task = RolloutTask(
        targets=choice.targets,
        # Manifests are full of other kinds; of affected_workloads, each entry was meant.
        skipped=choice.skipped if source == "workloads" else (),
        kind=params["kind"] or "",
        namespace=namespace,
        api_version=_api_version(params),
        label_selectors=distinct_texts("label_selectors", params["label_selectors"], "a selector such as app=web"),
        revision=params["revision"],
        watch=params["watch"],
        wait_timeout=params["wait_timeout"],
        # 0 would poll the API server without a pause, and no clock can wait for centuries.
        wait_sleep=float(min(86400, max(1, params["wait_sleep"]))),
        allow_empty=params["allow_empty"],
        allow_missing=params["allow_missing"],
        fail_early=params["fail_early"],
        fail_early_window=params["fail_early_window"],
        strict=params["semantics"] == "strict",
    )
    _check_revision(task)
    _check_names(task)
    return task


def _source(params: Mapping[str, Any]) -> str:
    given = [option for option in SOURCES if params[option] is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} are given" if given else "none is given"
        raise InvalidOptions(
            "give one of name (with kind), label_selectors (with kind), workloads, resource_definition and src;"
            f" {found}"
        )
    if given[0] in ("name", "label_selectors"):
        if not params["kind"]:
            raise InvalidOptions(f"the option {given[0]} needs a kind that has a rollout, {ANY_KIND}")
    elif params["kind"]:
        raise InvalidOptions(f"the option kind goes with name or label_selectors; {given[0]} names kinds itself")
    return given[0]


def _chosen(source: str, params: Mapping[str, Any], namespace: str) -> Choice:
    if source == "name":
        names = distinct_texts("name", params["name"], "the name of a workload")
        for name in names:
            if "/" in name:
                raise InvalidOptions(f"the option name is {name!r}, but must be a name without a kind or a namespace")
        kind, version = params["kind"], _api_version(params)
        return Choice(tuple(Target(kind, namespace, name, version) for name in names))
    if source == "workloads":
        return of_workloads(params["workloads"], namespace)
    if source == "resource_definition":
        return of_manifests(objects_in(params["resource_definition"], "the option " + source), namespace)
    if source == "src":
        paths = distinct_texts("src", params["src"], "the path of a manifest or of a folder with manifests")
        return of_manifests(objects_of_files(paths), namespace)
    return Choice(())


def _api_version(params: Mapping[str, Any]) -> str:
    text = (params["api_version"] or APPS).strip()
    if not _API_VERSION.fullmatch(text):
        raise InvalidOptions(f"the option api_version is {text!r}, but must be a group and a version such as {APPS}")
    return text


def _nothing(source: str, choice: Choice) -> str:
    others = f" (only {', '.join(choice.skipped[:5])})" if choice.skipped else ""
    return f"the option {source} names no {ANY_KIND}{others}; set allow_empty to accept that"


def _check_names(task: RolloutTask) -> None:
    if task.namespace:
        check_name("the option namespace", task.namespace)
    for target in task.targets:
        check_name(f"the name of a {target.kind}", target.name)
        if target.namespace:
            check_name(f"the namespace of {target.kind} {target.name}", target.namespace)


def _check_revision(task: RolloutTask) -> None:
    """Reject a revision for kinds that have none, instead of ignoring it as kubectl does."""
    kinds = {target.kind for target in task.targets} | ({task.kind} if task.kind else set())
    without = sorted(kind for kind in kinds if kind in KINDS and not KINDS[kind].revisions)
    if task.revision and without:
        raise InvalidOptions(f"the option revision is only for Deployments; a {without[0]} has no revision number")
