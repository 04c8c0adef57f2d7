# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a signal ends a task, and when it does not any more."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Cancelled
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime import cancellation
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.cancellation import SIGNALS, arm, disarm


@pytest.fixture(autouse=True)
def armed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Arm the process, without a watch on the one that runs the tests; put back what signals did before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    monkeypatch.setattr(cancellation, "ancestors_to_watch", lambda parent: [])
    arm()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_nothing_is_watched_once_the_task_has_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "POLL_INTERVAL", 0.001)
    monkeypatch.setattr(cancellation, "ancestors_to_watch", lambda parent: [cancellation.Ancestor(1, "gone")])
    started: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        started.append(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    arm()
    disarm()
    # The ancestor has ended, which is no reason to signal any more.
    (watch,) = started
    signals: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append(number))
    watch.run()
    assert signals == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_a_task_once(number: signal.Signals) -> None:
    with pytest.raises(Cancelled) as caught:
        os.kill(os.getpid(), number)
    os.kill(os.getpid(), number)
    assert caught.value.message == "cancelled by " + number.name


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_does_not_interrupt_the_report_of_a_task_that_has_ended(number: signal.Signals) -> None:
    disarm()
    os.kill(os.getpid(), number)
    assert signal.getsignal(number) == signal.SIG_IGN
