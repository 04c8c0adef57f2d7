# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sum up in a sentence or two what a person must know and can act on, also for hundreds of pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..cluster.cordon_owners import UNNAMED
from ..objects import full_name
from ..reasons import Reason
from ..text import MAX_NAMES, abbreviate, count_noun, end_sentence, group_by_text
from .node import NodeState, Phase
from .preflight import Queue


class Ended(Protocol):
    """What the sentences are made from (see drain_report.Report)."""

    state: str
    nodes: list[NodeState]
    refused: bool
    cancelled: str
    refusals: list[str]
    account: str
    queues: list[Queue]
    rehearsed: bool
    seconds: float


Pending = Mapping[str, list[dict[str, Any]]]


def message_of(end: Ended, pending: Pending) -> str:
    """Return the task's C(msg)."""
    if not end.nodes:
        return "No node matches, which allow_empty permits."
    if end.refused:
        return _refusal(end, end.nodes)
    if end.state != "drain":
        return marked(end.nodes, end.state, end.rehearsed)
    bad = [node for node in end.nodes if node.phase == Phase.FAILED]
    if bad:
        return _how_it_ended(end) + _failed(bad, end, pending)
    return _rehearsed(end, pending) if end.rehearsed else _drained(end.nodes)


def _failed(bad: list[NodeState], end: Ended, pending: Pending) -> str:
    said = [_not_drained(node, pending[node.name], end) + _what_became(node, end) for node in bad[:MAX_NAMES]]
    others = bad[MAX_NAMES:]
    if others:
        count, verb = count_noun(len(others), "more node"), "would not be" if end.rehearsed else "were not"
        verb = "was not" if len(others) == 1 and not end.rehearsed else verb
        said.append("%s %s drained: %s (see nodes)." % (count, verb, _listed(others)))
    return " ".join(said)


def _refusal(end: Ended, nodes: list[NodeState]) -> str:
    # What is wrong with the account comes first: nothing else can be tried before that is mended.
    said = [end_sentence("%s: grant it that right" % refusal) for refusal in end.refusals]
    blocked = [
        (full_name(drain.obj), drain.verdict.message) for node in nodes for drain in node.blocked() if drain.verdict
    ]
    if blocked:
        where = abbreviate(node.name for node in nodes if node.blocked())
        count = count_noun(len(blocked), "pod")
        said.append("%s on %s cannot be drained as asked: %s" % (count, where, end_sentence(group_by_text(blocked))))
    text = "Nothing was changed, because " + " Also, ".join(said)
    lacks = end.refusals or any(
        drain.verdict and drain.verdict.reason == Reason.FORBIDDEN for node in nodes for drain in node.blocked()
    )
    if lacks:
        text += " The rights were checked at %s; the guide on access rights lists what a task needs." % end.account
    return text


def _not_drained(node: NodeState, pending: list[dict[str, Any]], end: Ended) -> str:
    limit = " within %d s" % end.seconds if node.timed_out else ""
    text = "Node %s %s drained%s" % (node.name, "would not be" if end.rehearsed else "was not", limit)
    # Of pods that have not been listed since the cordon nothing is known that would say more.
    if node.error is not None and not (node.timed_out and pending and node.listed):
        return "%s: %s" % (text, end_sentence(node.error.message))
    attached = [volume.text() for volume in node.volumes or [] if not volume.detached]
    if attached:
        return "%s: its pods are gone, but %s still attached: %s; see what its storage driver is waiting for." % (
            text,
            count_noun(len(attached), "volume") + (" is" if len(attached) == 1 else " are"),
            abbreviate(attached),
        )
    if not pending:
        return text + (": there was no time for the last look at it, so run the task again." if node.timed_out else ".")
    verb = "is" if len(pending) == 1 else "are"
    return "%s: %s %s left: %s" % (text, count_noun(len(pending), "pod"), verb, end_sentence(left_over(pending)))


def _what_became(node: NodeState, end: Ended) -> str:
    if node.cordon.rolled_back:
        return " It is schedulable again."
    return " It stays cordoned." if node.cordon.cordoned and not end.rehearsed else ""


def _drained(nodes: list[NodeState]) -> str:
    gone = sum(len(node.evicted) for node in nodes)
    seconds = max(node.ended_at for node in nodes) - min(node.started_at for node in nodes)
    text = "Drained %s: %s gone in %.0f s" % (_listed(nodes), count_noun(gone, "pod"), seconds)
    skipped = sum(len(node.skipped) for node in nodes)
    text += ", %s left on purpose" % count_noun(skipped, "pod") if skipped else ""
    return text + _others_on(nodes) + "."


def _others_on(nodes: list[NodeState]) -> str:
    others = sum(node.others for node in nodes)
    verb = "stays" if others == 1 else "stay"
    return ", %s that pod_selectors do not match %s" % (count_noun(others, "pod"), verb) if others else ""


def _rehearsed(end: Ended, pending: Pending) -> str:
    gone = sum(len(node.evicted) for node in end.nodes)
    held = [pod for node in end.nodes for pod in pending[node.name]]
    waiting = sum(queue.waiting for queue in end.queues)
    count = "%d of %s" % (gone - waiting, count_noun(gone, "pod")) if waiting else count_noun(gone, "pod")
    text = "Would drain %s: %s would go now" % (_listed(end.nodes), count)
    for queue in end.queues[:MAX_NAMES]:
        words = ", %d would wait for room in disruption budget %s (which lets %d go at a time)"
        text += words % (queue.waiting, queue.budget, queue.room)
    others = sum(queue.waiting for queue in end.queues[MAX_NAMES:])
    text += ", %d for other budgets" % others if others else ""
    text += _others_on(end.nodes)
    if not held:
        return text + "."
    return "%s, %s would be blocked: %s" % (text, count_noun(len(held), "pod"), end_sentence(left_over(held)))


def _how_it_ended(end: Ended) -> str:
    return "The task was %s. " % end.cancelled if end.cancelled else ""


def _listed(nodes: list[NodeState]) -> str:
    return abbreviate(node.name for node in nodes)


def left_over(pending: list[dict[str, Any]]) -> str:
    """Say which pods are left and why, those with the same words together, the most numerous first."""
    # Words with numbers in them differ from pod to pod, so pods with one reason and one budget stand together.
    ends: dict[tuple[str, str], list[str]] = {}
    words: dict[tuple[str, str], str] = {}
    for pod in pending:
        key = (pod["reason"], (pod["pdb"] or {}).get("name") or _without_numbers(pod["message"]))
        words.setdefault(key, pod["message"])
        ends.setdefault(key, []).append("%s/%s" % (pod["namespace"], pod["name"]))
    ranked = sorted(ends.items(), key=lambda entry: -len(entry[1]))
    told = "; ".join("%s: %s" % (abbreviate(names), words[key].rstrip(".")) for key, names in ranked[:MAX_NAMES])
    more = sum(len(names) for _key, names in ranked[MAX_NAMES:])
    return told + ("; %s more for other reasons (see pending_pods)" % count_noun(more, "pod") if more else "")


def _without_numbers(text: str) -> str:
    return "".join(letter for letter in text if not letter.isdigit())


def node_warnings(node: NodeState) -> list[str]:
    """Return what the evictions of a node cost, one sentence for each kind."""
    ends: dict[str, list[str]] = {}
    for pod, verdict in node.warned.values():
        for warning in verdict.warnings:
            ends.setdefault(warning, []).append(full_name(pod))
    return ["%s: %s: %s" % (node.name, abbreviate(sorted(names)), end) for end, names in sorted(ends.items())]


def marked(nodes: list[NodeState], state: str, rehearsed: bool) -> str:
    """Return the sentence. state: cordon or uncordon; rehearsed: nothing was changed."""
    if len(nodes) == 1:
        return _of_one(nodes[0], state, rehearsed)
    failed = [node for node in nodes if node.error is not None]
    kept = [node for node in nodes if _is_kept(node, state)]
    already = [node for node in nodes if node not in failed + kept and _was_so(node, state)]
    changed = [node for node in nodes if node not in failed + kept + already]
    said = []
    if failed:
        reasons = group_by_text([(node.name, node.error.message) for node in failed if node.error is not None])
        said.append("%s could not be %sed (%s)" % (count_noun(len(failed), "node"), state, reasons))
    if kept:
        holders = group_by_text([(node.name, "by " + node.cordon.kept_by) for node in kept])
        said.append("%s %s cordoned (%s)" % (count_noun(len(kept), "node"), _verb(kept, "stays", "stay"), holders))
    if changed or already:
        said.append(_as_wanted(changed, already, state, rehearsed))
    return end_sentence("; ".join(said)) + _lifting(kept)


def _lifting(kept: list[NodeState]) -> str:
    """Return how the cordon is lifted that nobody has put a name to."""
    names = [node.name for node in kept if node.cordon.kept_by == UNNAMED]
    return " To let pods on %s again, uncordon without cordon_owner." % abbreviate(names) if names else ""


def _of_one(node: NodeState, state: str, rehearsed: bool) -> str:
    if node.error is not None:
        return "Node %s could not be %sed: %s" % (node.name, state, end_sentence(node.error.message))
    if _is_kept(node, state):
        return "Node %s stays cordoned, by %s.%s" % (node.name, node.cordon.kept_by, _lifting([node]))
    if _was_so(node, state):
        return "Node %s is already %s." % (node.name, "cordoned" if state == "cordon" else "schedulable")
    return "Node %s %s %sed." % (node.name, "would be" if rehearsed else "is", state)


def _as_wanted(changed: list[NodeState], already: list[NodeState], state: str, rehearsed: bool) -> str:
    if not changed:
        which = "cordoned" if state == "cordon" else "schedulable"
        verb = _verb(already, "is already", "are already")
        return "%s %s %s (%s)" % (count_noun(len(already), "node"), verb, which, _names(already))
    verb = "would be" if rehearsed else _verb(changed, "is", "are")
    text = "%s %s %sed (%s)" % (count_noun(len(changed), "node"), verb, state, _names(changed))
    if not already:
        return text
    return "%s, %d already %s (%s)" % (text, len(already), _verb(already, "was", "were"), _names(already))


def _is_kept(node: NodeState, state: str) -> bool:
    """Tell whether somebody else keeps a node cordoned."""
    return node.error is None and bool(node.cordon.kept_by) and state == "uncordon"


def _was_so(node: NodeState, state: str) -> bool:
    return node.cordon.cordoned_before == (state == "cordon")


def _verb(nodes: list[NodeState], one: str, more: str) -> str:
    return one if len(nodes) == 1 else more


def _names(nodes: list[NodeState]) -> str:
    return abbreviate(node.name for node in nodes)
