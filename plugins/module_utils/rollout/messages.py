# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sum up in a few sentences how rollouts ended, what keeps them, and what to look at; also for hundreds of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..objects import full_name, name_of
from ..text import MAX_NAMES, abbreviate
from .evidence import Entry
from .options import RolloutTask
from .remedies import with_remedy
from .workload import Workload


class Ended(Protocol):
    """What the sentences are made from (see rollout_report.Report)."""

    task: RolloutTask
    seconds: float
    timed_out: bool
    cancelled: str
    refused: str
    entries: list[Entry]
    notes: list[str]

    @property
    def members(self) -> list[Workload]:
        """Return the workloads."""

    @property
    def failed(self) -> bool:
        """Tell whether the task failed."""


def message_of(end: Ended) -> str:
    """Return the task's C(msg)."""
    sentences = [_main(end)]
    if end.failed:
        pods = _pods(end.entries)
        sentences += ["Not ready: %s." % pods] if pods else []
        sentences += ["%s." % (note[0].upper() + note[1:]) for note in end.notes[:MAX_NAMES]]
    if end.task.passed_over:
        sentences.append("Skipped, because they have no rollout: %s." % abbreviate(end.task.passed_over))
    return " ".join(sentences)


def _main(end: Ended) -> str:
    members = end.members
    open_ones = [member for member in members if not member.over]
    failed = [member for member in members if member.failure]
    if not members:
        return "There is no workload to follow, which allow_empty permits."
    if end.cancelled:
        return "The wait was %s: %s." % (end.cancelled, _told(open_ones + failed))
    if end.refused:
        rest = sum(member.known for member in members)
        return "%s. %s not waited for (see workloads)." % (
            end.refused[0].upper() + end.refused[1:].rstrip("."),
            "The other workload was" if rest == 1 else "The other %d workloads were" % rest,
        )
    given_up = [entry for entry in end.entries if entry.decisive]
    sentences = []
    if given_up:
        sentences.append("Failed early (fail_early=%s): %s." % (end.task.fail_early, _given_up(given_up)))
    if failed:
        sentences.append("Failed: %s." % "; ".join(_failure(member) for member in failed[:MAX_NAMES]) + _more(failed))
    if open_ones and not given_up:
        limit = " within %d s" % end.task.wait_timeout if end.timed_out else " yet"
        sentences.append("Not rolled out%s: %s." % (limit, _told(open_ones)))
    if sentences:
        return " ".join(sentences)
    there = [member.target.text() for member in members if member.known]
    gone = [member.target.text() for member in members if not member.known]
    after = " after %.0f s." % end.seconds if end.seconds >= 1 else "."
    said = ["Rolled out: %s%s" % (abbreviate(there), after)] if there else []
    return " ".join(said + (["Not there, which allow_missing permits: %s." % abbreviate(gone)] if gone else []))


def _told(members: list[Workload]) -> str:
    """Say of some workloads what they wait for or why they failed."""
    told = [_failure(member) if member.failure else _state(member) for member in members[:MAX_NAMES]]
    return "; ".join(told) + _more(members)


def _state(member: Workload) -> str:
    return "%s (%s)" % (member.target.text(), member.message.rstrip(".") or "not judged yet")


def _failure(member: Workload) -> str:
    return "%s: %s" % (member.target.text(), member.failure.rstrip("."))


def _given_up(entries: list[Entry]) -> str:
    return _grouped(entries, lambda entry: entry.followed.target.text())


def _pods(entries: list[Entry]) -> str:
    """Say which pods keep the rollouts, and not again what was said before."""
    return _grouped([entry for entry in entries if not entry.decisive], lambda entry: "")


def _grouped(entries: list[Entry], start: Callable[[Entry], str]) -> str:
    """Name pods first and then what holds them, those with the same words together; start: what stands before."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        before, end = start(entry), with_remedy(entry.trouble) + _log(entry)
        if name_of(entry.pod):
            groups.setdefault((before + ": " if before else "", ": " + end), []).append(full_name(entry.pod))
        else:
            groups.setdefault(("", " " + end), []).append(entry.followed.target.text())
    told = [before + _numbered(names, end) for (before, end), names in list(groups.items())[:MAX_NAMES]]
    more = sum(len(names) for names in list(groups.values())[MAX_NAMES:])
    return "; ".join(told) + ("; %d more (see pending_pods)" % more if more else "")


def _numbered(names: list[str], end: str) -> str:
    noun = "" if not end.startswith(":") else "pods " if len(names) > 1 else "pod "
    return noun + abbreviate(names) + end


def _log(entry: Entry) -> str:
    lines = entry.last_log.splitlines()
    return "; its log ends with %r" % lines[-1][:300] if lines else ""


def _more(members: list[Workload]) -> str:
    more = len(members) - MAX_NAMES
    return " and %d more" % more if more > 0 else ""
