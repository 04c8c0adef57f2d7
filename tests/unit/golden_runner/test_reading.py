# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases as they are read, and what is said of folders that hold none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden.cases import BrokenFolder, read_folder
from golden.drain_play import is_left
from golden.judge import AGREES, DEVIATES, DISAGREES
from golden.run import DEFAULT_FOLDER, closing_line, why_not_judged
from golden_runner.recordings import case, pod, recording


def test_cases_come_in_the_order_of_their_files(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(json.dumps(recording(id=name)), encoding="utf-8")
    (tmp_path / "README.md").write_text("no case", encoding="utf-8")
    assert [found.id for found in read_folder(tmp_path)] == ["a", "b"]


def test_what_may_be_missing_is_read_as_nothing() -> None:
    found = case()
    assert (found.check_mode, found.rights, found.during, found.exchanges) == (False, None, [], [])


def test_an_account_without_any_right_is_not_one_that_may_do_everything() -> None:
    assert case(rights=[]).rights == []


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BrokenFolder, match=r"^There is no folder .*/nowhere\.$"):
        read_folder(tmp_path / "nowhere")


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BrokenFolder, match=r"holds no case: no file there ends with \.json\.$"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    "text, why",
    [
        ("{", r"bad\.json is not a golden case: "),
        ("[]", r"bad\.json is not a golden case: "),
        ("{}", r"bad\.json is not a golden case: it has no 'module'\.$"),
        (json.dumps(recording(before=None)), r"bad\.json is not a golden case: "),
        (json.dumps(recording(exit_code="?")), r"bad\.json is not a golden case: "),
    ],
)
def test_a_file_that_is_no_case_is_told_by_name(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(BrokenFolder, match=why):
        read_folder(tmp_path)


def test_every_recorded_case_is_one_of_a_module_that_is_there() -> None:
    assert [found.id for found in read_folder(DEFAULT_FOLDER) if why_not_judged(found)] == []


def test_a_case_of_a_module_to_come_is_passed_over() -> None:
    wanted = case(module={"module": "k8s_to_come", "args": {}})
    assert why_not_judged(wanted) == "no module k8s_to_come yet"


def test_a_case_that_nothing_plays_is_passed_over() -> None:
    wanted = case(module={"module": "k8s_node_info", "args": {}})
    assert why_not_judged(wanted) == "nothing here plays cases of k8s_node_info yet"


@pytest.mark.parametrize(
    "kinds, not_judged, line",
    [
        ([AGREES, AGREES], 0, "2 of 2 cases agree"),
        ([AGREES, DEVIATES, DISAGREES], 0, "2 of 3 cases agree (1 of them by a listed deviation)"),
        ([AGREES], 4, "1 of 1 cases agree (4 more not judged)"),
        ([], 4, "0 of 0 cases agree (4 more not judged)"),
    ],
)
def test_the_closing_line_counts(kinds: list[str], not_judged: int, line: str) -> None:
    assert closing_line(kinds, not_judged) == line


WANTED = {"labels": {"app": "web"}, "node": "node-1"}


def test_a_pod_with_the_labels_on_the_node_is_left() -> None:
    assert is_left(pod("web", labels={"app": "web", "tier": "front"}), WANTED)


@pytest.mark.parametrize(
    "metadata",
    [{"labels": {"app": "db"}}, {}, {"labels": {"app": "web"}, "deletionTimestamp": "2026-11-30T10:00:00Z"}],
)
def test_a_pod_of_other_labels_or_one_that_is_being_deleted_is_not(metadata: dict[str, object]) -> None:
    assert not is_left(pod("web", **metadata), WANTED)


def test_a_pod_elsewhere_is_not() -> None:
    assert not is_left(pod("web", labels={"app": "web"}), {**WANTED, "node": "node-2"})
