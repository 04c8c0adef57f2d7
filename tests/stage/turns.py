# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run jobs and watches at once in simulated time, reproducibly: threads that take turns.

Only one thread runs at any moment. It passes its turn on where a real one would wait (for an answer, in a pause, for
messages), and gets it back when its time has come, so answers overtake each other as they do on a network. Who is
next among those that are due is drawn from a seeded generator.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.workers import Message, Pause, Tag
from kubesim.agenda import Agenda

from .line import SimClock, SimConnection
from .scene import Scene
from .workers import STEP

# Nobody waits that long for a turn: somebody else's fault would otherwise leave a test hanging.
LONGEST_TURN = 120.0
# This number of turns without any time passing is a loop that keeps a processor busy.
MOST_IDLE = 2000


# Seconds that a request takes each way.
LATENCY = (0.001, 0.02)


class Over(BaseException):
    """The task has ended; the thread ends too."""


class _Party:
    """A thread that takes turns. wake: when it is due next."""

    def __init__(self, wake: float) -> None:
        self.wake = wake
        self._turn = threading.Semaphore(0)

    def go(self) -> None:
        self._turn.release()

    def wait(self) -> None:
        if not self._turn.acquire(timeout=LONGEST_TURN):
            raise RuntimeError("no turn came")


class Turns:
    """Stand in for Workers. To be used by the thread that made it, and closed by it."""

    def __init__(self, agenda: Agenda, seed: int) -> None:
        self._agenda = agenda
        self._draw = random.Random(seed)
        self._main = _Party(agenda.now)
        self._local = threading.local()
        self._local.party = self._main
        self._parked: list[_Party] = []
        self._threads: list[threading.Thread] = []
        self._messages: list[Message] = []
        self._faults: list[BaseException] = []
        self._dropped: set[Tag] = set()
        self._listening = False
        self._over = False
        self._idle = 0

    def start(self, tag: Tag, job: Callable[[], Any]) -> None:
        """Run a job; its value or its error arrives as one message."""
        self._thread(lambda: self._post(_outcome(tag, job)))

    def follow(self, tag: Tag, items: Iterator[Any]) -> None:
        """Post each item of an endless iterator as it comes."""
        self._thread(lambda: self._pump(tag, items))

    def drop(self, tag: Tag) -> None:
        """Follow no more what was started with this tag."""
        self._dropped.add(tag)

    def receive(self, seconds: float) -> list[Message]:
        """Wait up to `seconds` for a message; return all that have come."""
        if not self._messages:
            self._listening = True
            self.sleep(seconds)
            self._listening = False
        if self._faults:
            raise self._faults[0]
        messages, self._messages = self._messages, []
        return messages

    def sleep(self, seconds: float) -> None:
        """Let the other threads go on for `seconds` of simulated time."""
        me: _Party = self._local.party
        me.wake = self._agenda.now + seconds
        self._parked.append(me)
        following = self._next()
        if following is not me:
            following.go()
            me.wait()
        if self._over:
            raise Over

    def close(self) -> None:
        """End every thread, one after the other."""
        self._over = True
        for party in self._parked:
            party.go()
        for thread in self._threads:
            thread.join(LONGEST_TURN)

    def _next(self) -> _Party:
        """Return who is due first, and advance time to then."""
        while True:
            earliest = min(party.wake for party in self._parked)
            due = self._agenda.next_due()
            if due is not None and due < earliest:
                # What happens in the cluster may give somebody a reason to wake earlier.
                self._agenda.advance_to(due)
                continue
            self._count(earliest)
            self._agenda.advance_to(max(earliest, self._agenda.now))
            ready = [party for party in self._parked if party.wake <= self._agenda.now]
            chosen = ready[self._draw.randrange(len(ready))]
            self._parked.remove(chosen)
            return chosen

    def _count(self, earliest: float) -> None:
        self._idle = 0 if earliest > self._agenda.now else self._idle + 1
        if self._idle > MOST_IDLE:
            self._faults.append(RuntimeError(f"busy at {self._agenda.now - self._agenda.started:.3f} s"))
            self._idle = 0

    def _thread(self, run: Callable[[], None]) -> None:
        party = _Party(self._agenda.now)

        def turn() -> None:
            self._local.party = party
            party.wait()
            try:
                if not self._over:
                    run()
            except Over:
                return
            except BaseException as exc:
                self._faults.append(exc)
                self._wake()
            if not self._over:
                self._next().go()

        thread = threading.Thread(target=turn, daemon=True)
        self._threads.append(thread)
        self._parked.append(party)
        thread.start()

    def _post(self, message: Message) -> None:
        self._messages.append(message)
        self._wake()

    def _wake(self) -> None:
        if self._listening:
            self._main.wake = min(self._main.wake, self._agenda.now)

    def _pump(self, tag: Tag, items: Iterator[Any]) -> None:
        try:
            for item in items:
                if tag in self._dropped:
                    return
                if item is None:
                    self.sleep(STEP)
                elif isinstance(item, Pause):
                    self.sleep(item.seconds)
                else:
                    self._post(Message(tag, item))
        except MaintenanceError as exc:
            self._post(Message(tag, None, exc, ended=True))
            return
        self._post(Message(tag, None, ended=True))


def _outcome(tag: Tag, job: Callable[[], Any]) -> Message:
    try:
        return Message(tag, job(), ended=True)
    except MaintenanceError as exc:
        return Message(tag, None, exc, ended=True)


class TurnClock(SimClock):
    """Simulated time, in which a thread that sleeps lets others go on."""

    def __init__(self, scene: Scene, turns: Turns) -> None:
        super().__init__(scene.cluster)
        self._turns = turns

    def sleep(self, seconds: float) -> None:
        self._turns.sleep(seconds)


class Line:
    """A network with latency. before: called with method and target of each request that is about to be sent."""

    def __init__(self, pool: Any, clock: TurnClock, seed: int) -> None:
        self.before: Callable[[str, str], None] = lambda method, target: None
        self._pool, self._clock = pool, clock
        self._draw = random.Random(seed)

    def request(self, method: str, url: str, **settings: Any) -> Any:
        self._clock.sleep(self._draw.uniform(*LATENCY))
        self.before(method, url.partition(":6443")[2])
        answer = self._pool.request(method, url, **settings)
        self._clock.sleep(self._draw.uniform(*LATENCY))
        return answer


class ConcurrentScene(Scene):
    """A scene whose requests and watches run at once. It runs one task."""

    def __init__(self, *objects: dict[str, Any], seed: int = 0, **options: Any) -> None:
        super().__init__(*objects, **options)
        self.turns = Turns(self.agenda, seed)
        self.workers: Any = self.turns
        clock = TurnClock(self, self.turns)
        self.clock, self.connection = clock, SimConnection(self.cluster, clock)
        self.line = Line(self.connection.pool, clock, seed)
        self.connection.pool = self.line  # type: ignore[assignment]

    def run(self, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Run k8s_node_drain as Scene does, then end every thread."""
        try:
            return super().run(check_mode, **params)
        finally:
            self.turns.close()
