# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a line is told, how many there are, and what becomes of the file they go to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.progress import (
    CHANGES,
    NEVER,
    OFF,
    SILENT,
    SUMMARY,
    LineFile,
    Progress,
)
from runtime.listener import Hands, Listener, most_in_a_second


class Story:
    """A source that a test writes: numbers that have come up since they were last told."""

    def __init__(self) -> None:
        self.news: list[str] = []
        self.asked = 0

    def changes(self, detail: bool) -> str:
        self.asked += 1
        told, self.news = ", ".join(self.news), []
        return told + (" in detail" if detail and told else "")

    def summary(self) -> str:
        return "so it stands"


def told_over(clock: Hands, progress: Progress, story: Story, seconds: float, every: float = 0.1) -> None:
    """Let something happen again and again."""
    for number in range(round(seconds / every)):
        story.news.append(str(number))
        progress.step()
        clock.now += every


@pytest.fixture
def story() -> Story:
    return Story()


def happen(clock: Hands, progress: Progress, story: Story, *news: str) -> None:
    """Let something happen, and wait until it is told."""
    for text in news:
        story.news.append(text)
        progress.step()
    clock.now += progress.due()
    progress.step()


def test_changes_are_told_at_once_those_that_come_together_in_one_line(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    happen(clock, listener.progress, story, "one", "two")
    assert listener.entries == [{"text": "one, two", "kind": "changes", "at": 1_790_000_100.2}]


def test_nothing_new_is_not_told(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    listener.progress.step()
    assert listener.texts == []


def test_a_change_right_after_a_line_is_told_within_a_second_together_with_others(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    happen(clock, listener.progress, story, "one")
    happen(clock, listener.progress, story, "two", "three")
    assert listener.timed == [(0.2, "one"), (1.05, "two, three")]


def test_there_are_two_lines_a_second_at_most(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    told_over(clock, listener.progress, story, 30.0)
    listener.progress.close()
    assert most_in_a_second(listener.times) == 2


def test_the_end_of_a_task_does_not_wait_for_its_last_line(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    happen(clock, listener.progress, story, "one")
    story.news.append("two")
    listener.progress.close()
    assert listener.timed == [(0.2, "one"), (0.2, "two")]


def test_the_third_line_within_a_second_waits_a_moment_even_at_the_end(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    happen(clock, listener.progress, story, "one")
    happen(clock, listener.progress, story, "two")
    story.news.append("three")
    listener.progress.close()
    assert listener.timed == [(0.2, "one"), (1.05, "two"), (1.2, "three")]


def test_after_the_end_nothing_is_told(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    listener.progress.close()
    story.news.append("late")
    listener.progress.step()
    assert (listener.texts, listener.progress.due()) == ([], NEVER)


@pytest.mark.parametrize("level", [CHANGES, SUMMARY])
def test_who_waits_gets_a_summary_each_minute(clock: Hands, story: Story, level: str) -> None:
    listener = Listener(clock, level=level)
    listener.progress.follow(story)
    for _round in range(3):
        clock.now += listener.progress.due()
        listener.progress.step()
    assert listener.timed == [(50.0, "so it stands"), (100.0, "so it stands"), (150.0, "so it stands")]


def test_a_summary_comes_although_something_happens_all_the_time(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    told_over(clock, listener.progress, story, 120.0)
    assert sum(1 for text in listener.texts if text.endswith("so it stands")) == 2


def test_at_level_summary_changes_are_told_only_at_the_end(clock: Hands, story: Story) -> None:
    listener = Listener(clock, level=SUMMARY)
    listener.progress.follow(story)
    told_over(clock, listener.progress, story, 0.3)
    listener.progress.close()
    assert listener.timed == [(0.3, "0, 1, 2")]


def test_whoever_waits_is_not_woken_more_often_than_there_are_lines(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    wakes = 0
    while clock.now < 220.0:
        clock.now += listener.progress.due()
        listener.progress.step()
        wakes += 1
    assert wakes == len(listener.texts) == 3


def test_between_two_lines_the_source_is_not_asked(clock: Hands, story: Story) -> None:
    listener = Listener(clock)
    listener.progress.follow(story)
    told_over(clock, listener.progress, story, 8.5, every=0.01)
    assert story.asked == 10


def test_detail_is_asked_for(clock: Hands, story: Story) -> None:
    listener = Listener(clock, detail=True)
    listener.progress.follow(story)
    happen(clock, listener.progress, story, "one")
    assert listener.texts == ["one in detail"]


def test_secrets_are_taken_out(clock: Hands) -> None:
    listener = Listener(clock, clean=lambda text: text.replace("s3cret", "***"))
    listener.progress.tell("the webhook said s3cret")
    assert listener.texts == ["the webhook said ***"]


def test_a_line_stays_one_line_without_control_characters(clock: Hands) -> None:
    listener = Listener(clock)
    listener.progress.tell("one\ntwo\x1b[31m\x07three")
    assert listener.texts == ["one two [31m three"]


def test_a_long_line_is_cut(clock: Hands) -> None:
    listener = Listener(clock)
    listener.progress.tell("x" * 1001)
    assert listener.texts == ["x" * 997 + "..."]


def test_facts_stand_beside_the_text(clock: Hands) -> None:
    listener = Listener(clock)
    listener.progress.tell("one", CHANGES, node="w1")
    assert listener.entries[0]["node"] == "w1"


def test_a_file_gets_one_line_of_json_for_each_entry(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.touch()
    file = LineFile(str(path))
    assert [file.append({"text": "ü\n"}), file.append({"text": "b"})] == [True, True]
    assert path.read_bytes() == b'{"text": "\\u00fc\\n"}\n{"text": "b"}\n'


def test_a_file_that_nobody_made_is_not_made(tmp_path: Path) -> None:
    file = LineFile(str(tmp_path / "lines"))
    assert (file.append({}), list(tmp_path.iterdir())) == (False, [])


def test_a_full_disk_ends_the_lines_and_nothing_else(clock: Hands, story: Story) -> None:
    progress = Progress(clock, LineFile("/dev/full").append)
    progress.follow(story)
    happen(clock, progress, story, "one")
    story.news.append("two")
    clock.now += 60
    progress.step()
    progress.close()
    assert (story.news, progress.due()) == (["two"], NEVER)


def test_a_pipe_without_a_reader_does_not_hold_the_task_up(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    assert LineFile(pipe).append({}) is False


def test_the_silent_one_asks_nothing(story: Story) -> None:
    SILENT.follow(story)
    SILENT.step()
    SILENT.close()
    assert (story.asked, SILENT.due()) == (0, NEVER)


def test_a_progress_that_is_off_writes_nothing(clock: Hands) -> None:
    listener = Listener(clock, level=OFF)
    listener.progress.tell("one")
    assert listener.texts == []


def test_lines_are_json_that_others_can_read(clock: Hands, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.touch()
    Progress(clock, LineFile(str(path)).append).tell("one")
    assert json.loads(path.read_text(encoding="ascii")) == {"text": "one", "kind": "changes", "at": 1_790_000_100.0}
