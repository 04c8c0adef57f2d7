# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose which of the pods that a budget holds back are asked for again, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..api.list_watch import Changed, Listed
from ..cluster.budgets import NamespaceBudgets, disruptions_allowed, exempts_unready, is_counted, is_subject_to_budgets
from ..objects import Obj, is_ready, labels_of, mapping_at, name_of, namespace_of
from ..selectors import selects
from .pod import DUE, HELD, LEAVING, PAUSED, TRYING, PodState

# An accepted eviction is in the budget's books, or its pod in the budget's counts, within that many seconds.
BOOKING = 1.0
# What is held for a budget that cannot be followed within that many seconds is asked for all the same.
PDB_WATCH_TIMEOUT = 2.0
# A followed budget without room would refuse, so it is believed that long.
PDB_TRUST_SECONDS = 60.0


class BudgetQueue:
    """The budgets of all namespaces in which one has refused a pod.

    Where the budgets are known to the moment, pods go as soon as there is room and no more of them than there is
    room for, and one of them asks now and then all the same, because what looks like a budget's refusal may be
    something else's, and to have the server's own words. Elsewhere each pod asks again after a pause of its own.
    """

    def __init__(self, pause: float, seen: Mapping[str, NamespaceBudgets]) -> None:
        """Begin with the budgets that were seen before the drain, by namespace."""
        self._pause = pause
        self._seen = dict(seen)
        self._books: dict[str, NamespaceBudgets] = {}
        self._ask_at: dict[tuple[str, str], float] = {}
        self._looked = 0.0

    def hold(self, drain: PodState, now: float) -> None:
        """Hold a pod back from its first eviction if a budget decides about it, until that budget is followed.

        Asking for all pods at once would get a refusal for most of them.
        """
        drain.weighed = True
        namespace = namespace_of(drain.pod)
        followed = self._books.get(namespace)
        book = followed if followed is not None and followed.live else self._seen.get(namespace)
        budgets = book.of(drain.pod) if book is not None and is_subject_to_budgets(drain.pod) else []
        if len(budgets) == 1 and (is_ready(drain.pod) or not exempts_unready(budgets[0])):
            drain.hold_for(name_of(budgets[0]), now + PDB_WATCH_TIMEOUT)
            # To ask a budget without room gets a refusal, so that can wait.
            key = (namespace, drain.guard)
            self._ask_at[key] = max(self._ask_at.get(key, 0.0), now + self._pause)

    def missing(self, pods: Iterable[PodState]) -> set[str]:
        """Return the namespaces whose budgets should be followed from now on and are not yet."""
        wanted = {namespace_of(drain.pod) for drain in pods if drain.state == HELD} - set(self._books)
        for namespace in wanted:
            self._books[namespace] = NamespaceBudgets()
        return wanted

    def apply(self, namespace: str, news: Listed | Changed, drains: Iterable[PodState]) -> None:
        """Take in news of a namespace's budgets."""
        book = self._books[namespace]
        book.apply(news)
        book.live = not book.polled
        for drain in drains:
            budget = book.get(drain.budget) if namespace_of(drain.pod) == namespace else None
            if budget is not None and is_counted(budget, name_of(drain.pod)):
                drain.booked = True

    def blind(self, namespace: str) -> None:
        """Note that news of a namespace's budgets do not come by themselves."""
        self._books[namespace].live = False
        self._books[namespace].polled = True

    def budget_of(self, drain: PodState) -> Obj | None:
        """Return the budget that refused the pod last, as far as it is known."""
        namespace = namespace_of(drain.pod)
        for books in (self._books, self._seen):
            found = books[namespace].get(drain.budget) if namespace in books else None
            if found is not None:
                return found
        return None

    def version_for(self, drain: PodState) -> str:
        """Return the version of the pod's budget that an eviction sent now goes by."""
        book = self._books.get(namespace_of(drain.pod))
        return book.version(drain.budget) if book is not None and drain.budget else ""

    def to_ask(self, drains: list[PodState], now: float) -> list[PodState]:
        """Return the held pods to ask for again now."""
        self._looked = now
        chosen: list[PodState] = []
        # Few at any time, while budgets and pods may be many.
        busy = [drain for drain in drains if drain.state in (DUE, TRYING) or _just_accepted(drain, now)]
        trying = _tried(busy)
        for key, held in _by_budget(drains, (HELD,)):
            book = self._books.get(key[0])
            if book is None or not book.live or not key[1]:
                chosen += [drain for drain in held if drain.retry_at <= now]
                continue
            # The server's own wait is kept even if the budget seems to have room.
            held = [drain for drain in held if now >= drain.not_before]
            fresh = [drain for drain in held if drain.asked_version != book.version(key[1])]
            going = fresh[: self._room(book, key, fresh, busy)] or self._needless(book, key, fresh)
            if not going and self._ask_at.get(key, 0.0) <= now and key not in trying:
                # While nothing changes no pod asks twice, unless something else refused it.
                asking = [drain for drain in held if drain in fresh or not self._has_reason(drain)]
                going = sorted(asking, key=lambda drain: drain.attempts)[:1]
            if going:
                self._ask_at[key] = now + max(self._pause, PDB_TRUST_SECONDS)
            chosen += going
        return chosen

    def refused(self, drain: PodState, now: float) -> None:
        """Note that a budget has refused just now, so that the next pod asks only after a pause."""
        key = (namespace_of(drain.pod), drain.budget)
        # Of what else refused it no news will come.
        self._ask_at[key] = now + (max(self._pause, PDB_TRUST_SECONDS) if self._has_reason(drain) else self._pause)

    def next_ask(self, drains: list[PodState], now: float) -> float | None:
        """Return in how many seconds a held or paused pod asks again if nothing is heard, None if none does."""
        times = [drain.retry_at for drain in drains if drain.state == PAUSED]
        trying = _tried(drains)
        for key, held in _by_budget(drains, (HELD,)):
            book = self._books.get(key[0])
            if book is None or not book.live or not key[1]:
                times += [drain.retry_at for drain in held]
            elif key not in trying:
                times += [self._ask_at.get(key, 0.0), *(drain.not_before for drain in held)]
        if times:
            times += [drain.accepted_at + BOOKING for drain in drains if drain.state == LEAVING and not drain.booked]
        # What was due at the last look waits for news.
        times = [time for time in times if time > self._looked]
        return max(0.0, min(times) - now) if times else None

    def _has_reason(self, drain: PodState) -> bool:
        """Tell whether the pod's budget, as it is known, refuses it: it has no room, and the pod needs some."""
        book = self._books.get(namespace_of(drain.pod))
        budget = book.get(drain.budget) if book is not None else None
        if budget is None or disruptions_allowed(budget) > 0:
            return False
        return is_ready(drain.pod) or not exempts_unready(budget)

    def _needless(self, book: NamespaceBudgets, key: tuple[str, str], drains: list[PodState]) -> list[PodState]:
        """Return the pods that may go without room, because they are not Ready and the budget lets such pods go."""
        budget = book.get(key[1])
        if budget is None or not exempts_unready(budget):
            return []
        return [drain for drain in drains if not is_ready(drain.pod)]

    def _room(self, book: NamespaceBudgets, key: tuple[str, str], held: list[PodState], busy: list[PodState]) -> int:
        budget = book.get(key[1])
        if budget is None:
            # Deleted: nothing holds these pods any more.
            return len(held)
        room = disruptions_allowed(budget)
        if room == 0:
            return 0
        selector = mapping_at(budget, "spec").get("selector")
        return max(0, room - sum(_guards(key[0], selector, drain.pod) for drain in busy))


def _guards(namespace: str, selector: Any, pod: Obj) -> bool:
    return namespace_of(pod) == namespace and selects(selector, labels_of(pod))


def _tried(drains: list[PodState]) -> set[tuple[str, str]]:
    """Return the budgets that are being asked just now."""
    return {(namespace_of(drain.pod), drain.budget) for drain in drains if drain.state == TRYING}


def _just_accepted(drain: PodState, now: float) -> bool:
    return drain.state == LEAVING and drain.accepted and not drain.booked and now - drain.accepted_at < BOOKING


def _by_budget(drains: list[PodState], states: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], list[PodState]]]:
    groups: dict[tuple[str, str], list[PodState]] = {}
    for drain in drains:
        if drain.state in states:
            groups.setdefault((namespace_of(drain.pod), drain.budget), []).append(drain)
    yield from sorted(groups.items())
