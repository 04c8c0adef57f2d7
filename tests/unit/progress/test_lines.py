# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the action plugins print what a module tells."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress import lines
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress.lines import Lines, Tail, show_text
from runtime.listener import Hands


def test_a_line_bears_the_name_of_the_host(screen: list[Any], clock: Hands) -> None:
    Lines("n1", clock).show_entry('{"text": "w1: cordoned"}')
    assert screen == [("[n1] w1: cordoned", False)]


def test_what_would_move_the_cursor_is_not_printed(screen: list[Any], clock: Hands) -> None:
    Lines("n1", clock).show("would be\nblocked: \x1b[2Jno\u202e")
    assert screen == [("[n1] would be blocked:  [2Jno ", False)]


@pytest.mark.parametrize("line", ["", "{", "[]", "3", '{"text": ""}', '{"pid": "x", "text": "y"}'])
def test_what_is_no_line_is_passed_over(screen: list[Any], clock: Hands, line: str) -> None:
    Lines("n1", clock).show_entry(line)
    assert screen == []


@pytest.mark.parametrize(
    "callback, stderr",
    [("default", False), ("ansible.builtin.default", False), ("community.general.yaml", False), ("json", True),
     ("ansible.posix.jsonl", True), ("awx_display", True)],
)  # fmt: skip
def test_lines_keep_away_from_output_that_programs_read(
    screen: list[Any], clock: Hands, monkeypatch: pytest.MonkeyPatch, callback: str, stderr: bool
) -> None:
    monkeypatch.setattr(lines.C, "DEFAULT_STDOUT_CALLBACK", callback, raising=False)
    Lines("n1", clock).show("text")
    assert screen == [("[n1] text", stderr)]


def test_a_module_that_says_nothing_for_a_minute_is_spoken_for(screen: list[Any], clock: Hands) -> None:
    told = Lines("n1", clock)
    told.show_entry('{"speaks": true}')
    for _second in range(120):
        clock.now += 1
        told.check_silence()
    assert screen == [
        ("[n1] no progress line for a minute, 58 s in all", False),
        ("[n1] no progress line for a minute, 1 m 56 s in all", False),
    ]


def test_a_module_that_does_not_want_to_be_heard_is_not_spoken_for(screen: list[Any], clock: Hands) -> None:
    told = Lines("n1", clock)
    told.show_entry('{"pid": 7, "tick": 1}')
    clock.now += 600
    told.check_silence()
    assert screen == []


def test_a_screen_that_is_gone_fails_nothing(clock: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OSError("broken pipe")

    monkeypatch.setattr(lines, "Display", gone)
    Lines("n1", clock).show("text")


def test_what_nobody_can_read_is_not_printed(screen: list[Any], clock: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    # As if ansible-playbook, of which this is no worker, had it for its standard output.
    monkeypatch.setattr(lines.os, "getppid", os.getpid)
    monkeypatch.setattr(lines, "is_closed", partial(lambda closed, descriptor: closed(writer), lines.is_closed))
    Lines("n1", clock).show("one")
    os.close(reader)
    Lines("n1", clock).show("two")
    show_text("three")
    os.close(writer)
    assert screen == [("[n1] one", False)]


def test_a_file_or_nothing_is_not_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines.os, "getppid", os.getpid)
    with (tmp_path / "output").open("w", encoding="ascii") as file:
        assert (lines.is_closed(file.fileno()), lines.is_closed(9999)) == (False, False)


def test_a_tail_shows_all_that_was_written_before_the_end(screen: list[Any], clock: Hands, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text('{"text": "one"}\n{"text": "two"}\n{"text": "torn', encoding="ascii")
    tail = Tail(str(path), Lines("n1", clock))
    tail.start()
    with path.open("a", encoding="ascii") as file:
        file.write(' and mended"}\n')
    tail.finish()
    assert [text for text, _stderr in screen] == ["[n1] one", "[n1] two", "[n1] torn and mended"]


def test_a_tail_of_a_file_that_is_gone_ends(clock: Hands, tmp_path: Path) -> None:
    tail = Tail(str(tmp_path / "gone"), Lines("n1", clock))
    tail.start()
    tail.finish()
    assert not tail.is_alive()


def test_no_thread_is_left(clock: Hands, tmp_path: Path) -> None:
    before = threading.active_count()
    path = tmp_path / "lines"
    path.touch()
    tail = Tail(str(path), Lines("n1", clock))
    tail.start()
    tail.finish()
    assert threading.active_count() == before
