# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts and containers with few threads: a task is slower there, and says what is missing where it cannot go on."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.workers import (
    NO_THREADS,
    ThreadWorkers,
    within,
)


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_a_bounded_job_is_done_without_a_thread() -> None:
    assert within(1.0, lambda: "done") == "done"


def test_a_job_beside_the_main_thread_is_done_by_the_main_thread() -> None:
    workers = ThreadWorkers()
    workers.start(("evict", "web-0"), lambda: "done")
    assert [(message.tag, message.value) for message in workers.receive(0)] == [(("evict", "web-0"), "done")]


def test_what_cannot_be_followed_ends_with_what_to_do() -> None:
    workers = ThreadWorkers()
    workers.follow(("pods", "w1"), iter(()))
    assert [(str(message.error), message.ended) for message in workers.receive(0)] == [(NO_THREADS, True)]
