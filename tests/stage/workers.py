# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workers without threads: jobs run at once, watches are asked in turn while time advances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.workers import Message, Pause
from kubesim.agenda import Agenda

Tag = tuple[Any, ...]
# How finely time advances while a test waits. Less than any pause of the collection.
STEP = 0.05


class _Followed:
    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items
        self.idle_until = 0.0


class InlineWorkers:
    """Stand in for Workers in unit tests."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._messages: list[Message] = []
        self._followed: dict[Tag, _Followed] = {}
        self.most_at_once = 0

    def start(self, tag: Tag, job: Callable[[], Any]) -> None:
        try:
            self._messages.append(Message(tag, job(), ended=True))
        except MaintenanceError as exc:
            self._messages.append(Message(tag, None, exc, ended=True))
        self.most_at_once = max(self.most_at_once, sum(1 for message in self._messages if message.tag[0] == "evict"))

    def follow(self, tag: Tag, items: Iterator[Any]) -> None:
        self._followed[tag] = _Followed(items)

    def drop(self, tag: Tag) -> None:
        self._followed.pop(tag, None)

    def receive(self, seconds: float) -> list[Message]:
        end = self._agenda.now + seconds
        while True:
            for tag in list(self._followed):
                self._ask(tag)
            if self._messages or self._agenda.now >= end:
                messages, self._messages = self._messages, []
                return messages
            self._agenda.advance_to(min(end, self._agenda.now + STEP))

    def _ask(self, tag: Tag) -> None:
        followed = self._followed[tag]
        while self._agenda.now >= followed.idle_until:
            try:
                item = next(followed.items)
            except StopIteration:
                self._end(tag, Message(tag, None, ended=True))
                return
            except MaintenanceError as exc:
                self._end(tag, Message(tag, None, exc, ended=True))
                return
            if item is None:
                return
            if isinstance(item, Pause):
                followed.idle_until = self._agenda.now + item.seconds
            else:
                self._messages.append(Message(tag, item))

    def _end(self, tag: Tag, message: Message) -> None:
        del self._followed[tag]
        self._messages.append(message)
