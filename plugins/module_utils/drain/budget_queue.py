# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose which of the pods that a disruption budget holds are evicted next, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..api.list_watch import Changed, Listed
from ..cluster.budgets import NamespaceBudgets, disruptions_allowed, exempts_unready, is_counted, is_subject_to_budgets
from ..objects import Obj, is_ready, labels_of, mapping_at, name_of, namespace_of
from ..selectors import selects
from .pod import PodState, State

# An accepted eviction is in disruptedPods of its budget, or in the budget's other counts, within N seconds.
BOOKING_SECONDS = 1.0
# What is held for a budget whose watch gives nothing within N seconds is evicted anyway.
PDB_WATCH_TIMEOUT = 2.0
# How long to trust a watched budget that allows no disruption.
PDB_TRUST_SECONDS = 60.0


class BudgetQueue:
    """The budgets of all namespaces in which one holds a pod.

    Where a budget is watched, its pods are evicted as soon as it allows disruptions and no more of them than it
    allows. One of them is tried now and then anyway: what looks like a budget's refusal may be something else's, and
    the result shall have the server's own message. Elsewhere each pod is tried again after a pause of its own.
    """

    def __init__(self, pause: float, seen: Mapping[str, NamespaceBudgets]) -> None:
        """Start with the budgets that preflight has read. pause: seconds between two attempts for one budget."""
        self._pause = pause
        self._seen = dict(seen)  # by namespace, as the next one
        self._books: dict[str, NamespaceBudgets] = {}  # of the namespaces that are watched
        self._retry_at: dict[tuple[str, str], float] = {}  # when a budget's next pod is tried, by namespace and name
        self._chosen_at = 0.0  # when choose() was called last

    def hold(self, pod: PodState, now: float) -> None:
        """Hold a pod back from its first eviction if a budget decides about it, until that budget is watched.

        To evict all pods at once would get a refusal for most of them.
        """
        pod.budget_checked = True
        namespace = pod.namespace
        watched = self._books.get(namespace)
        book = watched if watched is not None and watched.live else self._seen.get(namespace)
        budgets = book.of(pod.obj) if book is not None and is_subject_to_budgets(pod.obj) else []
        if len(budgets) == 1 and (is_ready(pod.obj) or not exempts_unready(budgets[0])):
            pod.hold_for(name_of(budgets[0]), now + PDB_WATCH_TIMEOUT)
            # A budget without room would refuse, so the first attempt can wait.
            key = (namespace, pod.guard)
            self._retry_at[key] = max(self._retry_at.get(key, 0.0), now + self._pause)

    def unwatched(self, pods: Iterable[PodState]) -> set[str]:
        """Return the namespaces whose budgets hold pods and are not watched yet."""
        return {pod.namespace for pod in pods if pod.state == State.HELD} - set(self._books)

    def on_watch_started(self, namespace: str) -> None:
        """Wait for the budgets of a namespace."""
        self._books[namespace] = NamespaceBudgets()

    def on_watch_event(self, namespace: str, event: Listed | Changed, pods: Iterable[PodState]) -> None:
        """Apply a list of a namespace's budgets or a change."""
        book = self._books[namespace]
        book.apply(event)
        book.live = not book.polled
        for pod in pods:
            budget = book.get(pod.budget) if pod.namespace == namespace else None
            if budget is not None and is_counted(budget, name_of(pod.obj)):
                pod.counted = True

    def on_watch_error(self, namespace: str) -> None:
        """Stop relying on events of a namespace's budgets: they cannot be watched, at best listed."""
        self._books[namespace].live = False
        self._books[namespace].polled = True

    def budget_of(self, pod: PodState) -> Obj | None:
        """Return the budget that refused the pod last, as far as it is known."""
        namespace = pod.namespace
        for books in (self._books, self._seen):
            found = books[namespace].get(pod.budget) if namespace in books else None
            if found is not None:
                return found
        return None

    def version_for(self, pod: PodState) -> str:
        """Return the resourceVersion of the pod's budget, which is known when an eviction is sent now."""
        book = self._books.get(pod.namespace)
        return book.version(pod.budget) if book is not None and pod.budget else ""

    def choose(self, pods: list[PodState], now: float) -> list[PodState]:
        """Return the held pods to be evicted now."""
        self._chosen_at = now
        chosen: list[PodState] = []
        # Few at any time, while budgets and pods may be many.
        busy = [pod for pod in pods if pod.state in (State.DUE, State.TRYING) or _just_accepted(pod, now)]
        trying = _budgets_in_flight(busy)
        for key, held in _held_by_budget(pods):
            book = self._books.get(key[0])
            if book is None or not book.live or not key[1]:
                chosen += [pod for pod in held if pod.retry_at <= now]
                continue
            # The server's own wait is kept even if the budget seems to have room.
            held = [pod for pod in held if now >= pod.not_before]
            fresh = [pod for pod in held if pod.asked_version != book.version(key[1])]
            going = fresh[: self._room(book, key, fresh, busy)] or self._evictable_unready(book, key, fresh)
            if not going and self._retry_at.get(key, 0.0) <= now and key not in trying:
                # While the budget does not change no pod is tried twice, unless something else refused it.
                eligible = [pod for pod in held if pod in fresh or not self._explains_refusal(pod)]
                going = sorted(eligible, key=lambda pod: pod.attempts)[:1]
            if going:
                self._retry_at[key] = now + max(self._pause, PDB_TRUST_SECONDS)
            chosen += going
        return chosen

    def on_refusal(self, pod: PodState, now: float) -> None:
        """Record that a budget has just refused, so that the next pod is tried only after a pause."""
        key = (pod.namespace, pod.budget)
        # If something else refused it, no event will tell when that changes.
        self._retry_at[key] = now + (
            max(self._pause, PDB_TRUST_SECONDS) if self._explains_refusal(pod) else self._pause
        )

    def next_retry(self, pods: list[PodState], now: float) -> float | None:
        """Return in how many seconds a held or paused pod is tried again if no event comes, None if none is."""
        times = [pod.retry_at for pod in pods if pod.state == State.PAUSED]
        trying = _budgets_in_flight(pods)
        for key, held in _held_by_budget(pods):
            book = self._books.get(key[0])
            if book is None or not book.live or not key[1]:
                times += [pod.retry_at for pod in held]
            elif key not in trying:
                times += [self._retry_at.get(key, 0.0), *(pod.not_before for pod in held)]
        if times:
            times += [
                pod.accepted_at + BOOKING_SECONDS for pod in pods if pod.state == State.LEAVING and not pod.counted
            ]
        # Pods that were already due wait for the next event.
        times = [time for time in times if time > self._chosen_at]
        return max(0.0, min(times) - now) if times else None

    def _explains_refusal(self, pod: PodState) -> bool:
        """Return whether the pod's budget, as it is known, refuses it: it has no room, and the pod needs some."""
        book = self._books.get(pod.namespace)
        budget = book.get(pod.budget) if book is not None else None
        if budget is None or disruptions_allowed(budget) > 0:
            return False
        return is_ready(pod.obj) or not exempts_unready(budget)

    def _evictable_unready(self, book: NamespaceBudgets, key: tuple[str, str], pods: list[PodState]) -> list[PodState]:
        """Return the pods that need no room, because they are not Ready and the budget lets such pods go."""
        budget = book.get(key[1])
        if budget is None or not exempts_unready(budget):
            return []
        return [pod for pod in pods if not is_ready(pod.obj)]

    def _room(self, book: NamespaceBudgets, key: tuple[str, str], held: list[PodState], busy: list[PodState]) -> int:
        budget = book.get(key[1])
        if budget is None:
            # It was deleted: nothing holds these pods any more.
            return len(held)
        room = disruptions_allowed(budget)
        if room == 0:
            return 0
        selector = mapping_at(budget, "spec").get("selector")
        return max(0, room - sum(_guards(key[0], selector, pod.obj) for pod in busy))


def _guards(namespace: str, selector: Any, pod: Obj) -> bool:
    return namespace_of(pod) == namespace and selects(selector, labels_of(pod))


def _budgets_in_flight(pods: list[PodState]) -> set[tuple[str, str]]:
    """Return the budgets for which an eviction is in flight."""
    return {(pod.namespace, pod.budget) for pod in pods if pod.state == State.TRYING}


def _just_accepted(pod: PodState, now: float) -> bool:
    return pod.state == State.LEAVING and pod.accepted and not pod.counted and now - pod.accepted_at < BOOKING_SECONDS


def _held_by_budget(pods: list[PodState]) -> Iterator[tuple[tuple[str, str], list[PodState]]]:
    groups: dict[tuple[str, str], list[PodState]] = {}
    for pod in pods:
        if pod.state == State.HELD:
            groups.setdefault((pod.namespace, pod.budget), []).append(pod)
    yield from sorted(groups.items())
