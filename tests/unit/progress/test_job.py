# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the action plugins follow a module that is a job on another host, and how it notices that they do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure

from ansible_collections.kubeops.maintenance.plugins.module_utils import cancellation
from ansible_collections.kubeops.maintenance.plugins.module_utils.waiting import Clock
from ansible_collections.kubeops.maintenance.plugins.plugin_utils import job
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.job import ActionWithJob
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.lines import Lines
from progress.listener import Hands


class Host:
    """Another host whose shell is that of this machine."""

    def __init__(self, folder: Path) -> None:
        self.result = folder / "result"
        self.result.write_text('{"started": 1, "finished": 0, "ansible_job_id": "j1.1"}', encoding="ascii")
        self.env = dict(os.environ, TMPDIR=str(folder))
        self.crlf = False

    def run(self, command: str, **_options: Any) -> dict[str, Any]:
        done = subprocess.run(["/bin/sh", "-c", command], env=self.env, capture_output=True, text=True, check=False)
        return {"rc": done.returncode, "stdout": done.stdout.replace("\n", "\r\n") if self.crlf else done.stdout}


class Job(ActionWithJob):
    """The plugin, with a host in place of Ansible's connection."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self._low_level_execute_command = host.run
        self._clock = clock

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        raise NotImplementedError


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def action(host: Host, clock: Hands) -> Job:
    return Job(host, clock)


def written(folder: str, *texts: str) -> None:
    with open(folder + "/lines", "a", encoding="ascii") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    # Two changes at nearly the same moment look like one, and the question would wait for a second.
    os.utime(folder + "/asked", (1, 1))


def test_a_folder_is_made_for_the_lines_that_nobody_else_can_read(action: Job, tmp_path: Path) -> None:
    folder = Path(action._prepared())
    assert (folder.parent, folder.stat().st_mode & 0o777) == (tmp_path, 0o700)
    assert sorted(path.name for path in folder.iterdir()) == ["asked", "lines"]


@pytest.mark.parametrize("crlf", [False, True])
def test_only_new_lines_are_fetched(action: Job, host: Host, crlf: bool) -> None:
    host.crlf = crlf
    folder = action._prepared()
    written(folder, "one", "two")
    first = action._asked(folder, str(host.result), 0, os.getpid())
    written(folder, "three")
    second = action._asked(folder, str(host.result), 2, os.getpid())
    assert first == ("running", ['{"text": "one"}', '{"text": "two"}'])
    assert second == ("running", ['{"text": "three"}'])


def test_a_torn_line_waits_for_its_end(action: Job, host: Host) -> None:
    folder = action._prepared()
    written(folder, "one")
    with open(folder + "/lines", "a", encoding="ascii") as file:
        file.write('{"text"')
    assert action._asked(folder, str(host.result), 0, 0)[1] == ['{"text": "one"}']


@pytest.mark.parametrize("running", ['"started": 1, "finished": 0,', '"started": true, "finished": false,'])
def test_a_job_runs_until_its_file_holds_a_result(action: Job, host: Host, running: str) -> None:
    folder = action._prepared()
    written(folder, "one")
    host.result.write_text('{%s "ansible_job_id": "j"}' % running, encoding="ascii")
    before = action._asked(folder, str(host.result), 0, os.getpid())[0]
    host.result.write_text('{"changed": true, "msg": "it has \\"finished\\": 0"}', encoding="ascii")
    assert (before, action._asked(folder, str(host.result), 1, os.getpid())[0]) == ("running", "ended")


def test_a_job_whose_process_is_gone_without_a_result_is_lost(action: Job, host: Host) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert action._asked(action._prepared(), str(host.result), 0, child.pid)[0] == "lost"


def test_a_job_without_a_file_has_ended(action: Job, host: Host) -> None:
    host.result.unlink()
    assert action._asked(action._prepared(), str(host.result), 0, 0)[0] == "ended"


def test_each_question_leaves_a_sign_that_somebody_asks(action: Job, host: Host) -> None:
    folder = action._prepared()
    os.utime(folder + "/asked", (1, 1))
    written(folder, "one")
    action._asked(folder, str(host.result), 0, 0)
    assert os.stat(folder + "/asked").st_mtime > 1


def test_a_login_may_print_something_first(action: Job, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = host.run
    monkeypatch.setattr(
        action, "_low_level_execute_command", lambda command: {"rc": 0, "stdout": "hi\n" + plain(command)["stdout"]}
    )
    assert Path(action._prepared()).is_dir()


class Answers(Job):
    """A job that answers as a test has it. Each question takes a second."""

    def __init__(self, host: Host, clock: Hands, *answers: tuple[str, list[str]]) -> None:
        super().__init__(host, clock)
        self._hands, self._answers = clock, list(answers)

    def _asked(self, folder: str, result: str, read: int, pid: int) -> tuple[str, list[str]]:
        self._hands.now += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


JOB = {"results_file": "r", "ansible_job_id": "j"}


def test_a_connection_that_drops_for_a_while_ends_nothing(screen: list[Any], host: Host, clock: Hands) -> None:
    away = [("", [])] * 20
    answers = [("running", ['{"pid": 7, "text": "one"}']), *away, ("ended", ['{"text": "two"}'])]
    Answers(host, clock, *answers)._follow("f", JOB, Lines("n1", clock))
    assert [text for text, _stderr in screen] == ["[n1] one", "[n1] two"]


def test_a_host_that_stays_out_of_reach_is_unreachable(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleConnectionFailure, match="out of reach for 45 s"):
        Answers(host, clock, ("running", []), ("", []))._follow("f", JOB, Lines("n1", clock))


def test_a_job_that_is_lost_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", ['{"pid": 7}']), ("lost", []))._follow("f", JOB, Lines("n1", clock))


def test_a_job_that_never_begins_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", []))._follow("f", JOB, Lines("n1", clock))


def test_a_playbook_that_is_gone_ends_the_job(host: Host, clock: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 1])
    monkeypatch.setattr(job.os, "getppid", lambda: next(parents))
    with pytest.raises(AnsibleActionFail, match="the playbook ended before the task did"):
        Answers(host, clock, ("running", []))._follow("f", JOB, Lines("n1", clock))


def test_a_job_that_nobody_waits_for_is_told_to_end(action: Job, tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "60"])
    folder = action._prepared()
    action._clear(folder, "", child.pid)
    assert (child.wait(timeout=10), Path(folder).exists()) == (-15, False)


def test_a_job_that_nobody_asks_for_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(cancellation, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(cancellation.os, "kill", lambda pid, number: sent.append(number))
    looks = iter([1, 1, 2, 3, 4])
    # LOOK_EVERY is what a look that shows nothing new counts for, so here only the number of looks bounds the watch.
    cancellation._watch_for(lambda: next(looks, 4), 0.0)
    assert sent == [cancellation.signal.SIGTERM]


def test_a_file_that_is_touched_or_gone_is_a_sign_or_none(tmp_path: Path) -> None:
    path = tmp_path / "asked"
    path.touch()
    before = cancellation._touched(str(path))
    os.utime(path, (5, 5))
    assert (before != cancellation._touched(str(path)), cancellation._touched(str(tmp_path / "gone"))) == (True, None)
