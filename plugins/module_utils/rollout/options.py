# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the module's options into one checked value that the wait for rollouts works by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidOptions
from ..objects import int_field
from ..option_checks import check_at_least, check_name, distinct_texts
from .manifests import objects_in, objects_of_files
from .targets import ANY_KIND, APPS, Choice, Target, of_manifests, of_workloads
from .viewers import KINDS

_API_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9]+")
# Ways to say which workloads; a task uses one.
SOURCES = ("name", "label_selectors", "workloads", "resource_definition", "src")


@dataclass(frozen=True)
class RolloutTask:
    """What a task asks for; options of the same names, as documented.

    targets: the workloads by name, empty where label selectors choose them. strict: semantics.
    """

    targets: tuple[Target, ...] = ()
    passed_over: tuple[str, ...] = ()
    kind: str = ""
    namespace: str = ""
    api_version: str = APPS
    label_selectors: tuple[str, ...] = ()
    revision: int = 0
    watch: bool = True
    wait_timeout: int = 900
    wait_sleep: float = 5.0
    allow_empty: bool = False
    allow_missing: bool = False
    fail_early: str = "tolerant"
    fail_early_window: int = 90
    strict: bool = False


def task_from(params: Mapping[str, Any]) -> RolloutTask:
    """Return the task that the module's parameters describe; raise InvalidOptions with the first fault."""
    check_at_least("revision", params.get("revision"), 0, "the number of a revision, 0 for any")
    check_at_least("wait_timeout", params.get("wait_timeout"), 0, "seconds, 0 for no limit")
    check_at_least("wait_sleep", params.get("wait_sleep"), 0, "seconds")
    check_at_least("fail_early_window", params.get("fail_early_window"), 0, "seconds")
    namespace = str(params.get("namespace") or "").strip()
    source = _source(params)
    choice = _chosen(source, params, namespace)
    allow_empty = bool(params.get("allow_empty"))
    if not choice.targets and source != "label_selectors" and not allow_empty:
        raise InvalidOptions(_nothing(source, choice))
    task = RolloutTask(
        targets=choice.targets,
        # Manifests are full of other kinds; of what a drain moved, each entry was meant.
        passed_over=choice.passed_over if source == "workloads" else (),
        kind=str(params.get("kind") or ""),
        namespace=namespace,
        api_version=_api_version(params),
        label_selectors=distinct_texts("label_selectors", params.get("label_selectors"), "a selector such as app=web"),
        revision=int_field(params.get("revision")),
        watch=params.get("watch") is not False,
        wait_timeout=int_field(params.get("wait_timeout"), 900),
        # A pause of nothing would ask the API server without a break, and no clock takes one of centuries.
        wait_sleep=float(min(86400, max(1, int_field(params.get("wait_sleep"), 5)))),
        allow_empty=allow_empty,
        allow_missing=bool(params.get("allow_missing")),
        fail_early=str(params.get("fail_early") or "tolerant"),
        fail_early_window=int_field(params.get("fail_early_window"), 90),
        strict=params.get("semantics") == "strict",
    )
    _check_revision(task)
    _check_names(task)
    return task


def _source(params: Mapping[str, Any]) -> str:
    given = [option for option in SOURCES if params.get(option) is not None]
    if len(given) != 1:
        found = "%s are given" % " and ".join(given) if given else "none is given"
        raise InvalidOptions(
            "give one of name (with kind), label_selectors (with kind), workloads, resource_definition and src; %s"
            % found
        )
    if given[0] in ("name", "label_selectors"):
        kind = params.get("kind")
        if kind not in KINDS:
            raise InvalidOptions(
                "the option %s needs a kind that has a rollout, %s%s"
                % (given[0], ANY_KIND, ", and not %s" % kind if kind else "")
            )
    elif params.get("kind"):
        raise InvalidOptions("the option kind goes with name or label_selectors; %s names kinds itself" % given[0])
    return given[0]


def _chosen(source: str, params: Mapping[str, Any], namespace: str) -> Choice:
    if source == "name":
        names = distinct_texts("name", params["name"], "the name of a workload")
        for name in names:
            if "/" in name:
                raise InvalidOptions("the option name is %r, but must be a name without a kind or a namespace" % name)
        kind, version = str(params["kind"]), _api_version(params)
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
    text = str(params.get("api_version") or APPS).strip()
    if not _API_VERSION.fullmatch(text):
        raise InvalidOptions(
            "the option api_version is %r, but must be a group and a version such as %s" % (text, APPS)
        )
    return text


def _nothing(source: str, choice: Choice) -> str:
    others = " (only %s)" % ", ".join(choice.passed_over[:5]) if choice.passed_over else ""
    return "the option %s names no %s%s; set allow_empty if that is fine" % (source, ANY_KIND, others)


def _check_names(task: RolloutTask) -> None:
    if task.namespace:
        check_name("the option namespace", task.namespace)
    for target in task.targets:
        check_name("the name of a %s" % target.kind, target.name)
        if target.namespace:
            check_name("the namespace of %s %s" % (target.kind, target.name), target.namespace)


def _check_revision(task: RolloutTask) -> None:
    """Refuse a revision for kinds that have none, rather than pass over it as kubectl does."""
    kinds = {target.kind for target in task.targets} | ({task.kind} if task.kind else set())
    without = sorted(kind for kind in kinds if kind in KINDS and not KINDS[kind].revisions)
    if task.revision and without:
        raise InvalidOptions("the option revision is only for Deployments; a %s has no revision number" % without[0])
