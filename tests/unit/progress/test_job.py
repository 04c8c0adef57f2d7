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
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.job import ActionWithJob, Asked
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.lines import Lines
from progress.listener import Hands


class Host:
    """Another host whose shell is that of this machine."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "j1.1"
        self.file.write_text('{"started": 1, "finished": 0, "ansible_job_id": "j1.1"}', encoding="ascii")
        self.folder = folder / "k8s-progress-1a2b"
        self.crlf = False

    def run(self, command: str, **_options: Any) -> dict[str, Any]:
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
        return {"rc": done.returncode, "stdout": done.stdout.replace("\n", "\r\n") if self.crlf else done.stdout}

    def make(self) -> str:
        """Make the folder as the module does."""
        self.folder.mkdir()
        for name in ("asked", "lines"):
            (self.folder / name).touch()
        return str(self.folder)


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


@pytest.mark.parametrize("crlf", [False, True])
def test_only_new_lines_are_fetched(action: Job, host: Host, crlf: bool) -> None:
    host.crlf = crlf
    folder = host.make()
    written(folder, "one", "two")
    first = action._asked(folder, str(host.file), 0, os.getpid())
    written(folder, "three")
    second = action._asked(folder, str(host.file), 2, os.getpid())
    assert first == ("running", ['{"text": "one"}', '{"text": "two"}'], "")
    assert second == ("running", ['{"text": "three"}'], "")


def test_a_torn_line_waits_for_its_end(action: Job, host: Host) -> None:
    folder = host.make()
    written(folder, "one")
    with open(folder + "/lines", "a", encoding="ascii") as file:
        file.write('{"text"')
    assert action._asked(folder, str(host.file), 0, 0).lines == ['{"text": "one"}']


def test_a_job_that_has_not_begun_has_no_lines(action: Job, host: Host) -> None:
    assert action._asked(str(host.folder), str(host.file), 0, 0) == ("running", [], "")


@pytest.mark.parametrize("running", ['"started": 1, "finished": 0,', '"started": true, "finished": false,'])
def test_a_job_runs_until_its_file_holds_a_result(action: Job, host: Host, running: str) -> None:
    folder = host.make()
    written(folder, "one")
    host.file.write_text('{%s "ansible_job_id": "j"}' % running, encoding="ascii")
    before = action._asked(folder, str(host.file), 0, os.getpid()).state
    host.file.write_text('{"changed": true, "msg": "it has \\"finished\\": 0"}', encoding="ascii")
    assert (before, action._asked(folder, str(host.file), 1, os.getpid()).state) == ("running", "ended")


@pytest.mark.parametrize("crlf", [False, True])
def test_the_last_question_brings_the_last_lines_and_the_result(action: Job, host: Host, crlf: bool) -> None:
    host.crlf = crlf
    folder = host.make()
    written(folder, "one", "two")
    host.file.write_text('{"changed": true, "msg": "k8s-progress: done"}', encoding="ascii")
    assert action._asked(folder, str(host.file), 1, os.getpid()) == (
        "ended",
        ['{"text": "two"}'],
        '{"changed": true, "msg": "k8s-progress: done"}',
    )


def test_a_result_of_a_megabyte_is_brought_whole(action: Job, host: Host) -> None:
    result = json.dumps({"msg": "x" * 2**20})
    host.file.write_text(result, encoding="ascii")
    assert action._asked(host.make(), str(host.file), 0, 0).result == result


def test_a_job_whose_process_is_gone_without_a_result_is_lost(action: Job, host: Host) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert action._asked(host.make(), str(host.file), 0, child.pid).state == "lost"


def test_a_job_without_a_file_has_ended_without_a_result(action: Job, host: Host) -> None:
    host.file.unlink()
    assert action._asked(host.make(), str(host.file), 0, 0) == ("ended", [], "")


def test_each_question_leaves_a_sign_that_somebody_asks(action: Job, host: Host) -> None:
    folder = host.make()
    os.utime(folder + "/asked", (1, 1))
    written(folder, "one")
    action._asked(folder, str(host.file), 0, 0)
    assert os.stat(folder + "/asked").st_mtime > 1


def test_a_login_may_print_something_first(action: Job, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = host.run
    monkeypatch.setattr(
        action, "_low_level_execute_command", lambda command: {"rc": 0, "stdout": "hi\n" + plain(command)["stdout"]}
    )
    assert action._asked(host.make(), str(host.file), 0, 0).state == "running"


class Answers(Job):
    """A job that answers as a test has it. Each question takes a second."""

    def __init__(self, host: Host, clock: Hands, *answers: tuple[Any, ...]) -> None:
        super().__init__(host, clock)
        self._hands, self._answers = clock, list(answers)

    def _asked(self, folder: str, file: str, read: int, pid: int) -> Asked:
        self._hands.now += 1
        return Asked(*(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]))


def test_a_connection_that_drops_for_a_while_ends_nothing(screen: list[Any], host: Host, clock: Hands) -> None:
    away = [("", [])] * 20
    answers = [("running", ['{"pid": 7, "text": "one"}']), *away, ("ended", ['{"text": "two"}'], "{}")]
    Answers(host, clock, *answers)._follow("f", "r", Lines("n1", clock))
    assert [text for text, _stderr in screen] == ["[n1] one", "[n1] two"]


def test_a_host_that_stays_out_of_reach_is_unreachable(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleConnectionFailure, match="out of reach for 45 s"):
        Answers(host, clock, ("running", []), ("", []))._follow("f", "r", Lines("n1", clock))


def test_a_job_that_is_lost_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", ['{"pid": 7}']), ("lost", []))._follow("f", "r", Lines("n1", clock))


def test_a_job_that_never_begins_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", []))._follow("f", "r", Lines("n1", clock))


def test_a_playbook_that_is_gone_ends_the_job(host: Host, clock: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 1])
    monkeypatch.setattr(job.os, "getppid", lambda: next(parents))
    with pytest.raises(AnsibleActionFail, match="the playbook ended before the task did"):
        Answers(host, clock, ("running", []))._follow("f", "r", Lines("n1", clock))


def test_a_job_without_a_result_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", ['{"pid": 7}']), ("ended", []))._follow("f", "r", Lines("n1", clock))


def test_a_job_that_nobody_waits_for_is_told_to_end_and_leaves_nothing(action: Job, host: Host) -> None:
    # As Ansible's wrapper does, it writes the result after it was told.
    script = "trap 'echo {} > %s; exit' TERM; echo; while :; do sleep 0.05; done" % host.file
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        action._clear(host.make(), str(host.file), child.pid)
        assert (child.wait(timeout=10), host.folder.exists()) == (0, False)
    patient = subprocess.run(
        ["/bin/sh", "-c", f"for i in $(seq 100); do [ -e {host.file} ] || exit 0; sleep 0.1; done; exit 1"], check=False
    )
    assert patient.returncode == 0


def test_a_job_that_has_ended_leaves_nothing(action: Job, host: Host) -> None:
    folder = host.make()
    action._clear(folder, str(host.file), 0)
    assert [host.folder.exists(), host.file.exists()] == [False, False]


def test_a_job_that_nobody_asks_for_is_cancelled_and_its_folder_removed(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    folder = host.make()
    monkeypatch.setattr(cancellation, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(cancellation, "FORGOTTEN", 0.0)
    monkeypatch.setattr(cancellation.os, "kill", lambda pid, number: sent.append(number))
    cancellation._watch_job(folder)
    assert (sent, host.folder.exists()) == ([cancellation.signal.SIGTERM], False)


def test_a_job_that_is_asked_for_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # What a look that shows nothing new counts for: here, two of them in a row are too many.
    monkeypatch.setattr(cancellation, "LOOK_EVERY", 0.001)
    looks = [1, 2, 2, 3, 3, 3, 4]
    cancellation._wait_for_silence(lambda: looks.pop(0), 0.002)
    assert looks == [4]


def test_a_file_that_is_touched_or_gone_is_a_sign_or_none(tmp_path: Path) -> None:
    path = tmp_path / "asked"
    path.touch()
    before = cancellation._touched(str(path))
    os.utime(path, (5, 5))
    assert (before != cancellation._touched(str(path)), cancellation._touched(str(tmp_path / "gone"))) == (True, None)


def test_a_result_is_read_as_that_of_any_module(action: Job) -> None:
    found = action._parsed('{"changed": true, "msg": "ok", "stderr": "noise", "_ansible_delegated_vars": {}}', {}, {})
    assert {key: value for key, value in found.items() if key != "_ansible_parsed"} == {"changed": True, "msg": "ok"}


def test_a_module_that_crashed_is_told_with_its_last_words(action: Job) -> None:
    action._used_interpreter = "#!/usr/bin/python3"
    left = {"failed": True, "cmd": "x", "data": "", "stderr": "boom", "msg": "Traceback", "ansible_job_id": "j1.1"}
    found = action._parsed(json.dumps(left), {}, {})
    assert (found["failed"], found["module_stderr"], "Traceback" in found["msg"]) == (True, "boom", False)


def test_ansible_is_asked_for_a_result_that_it_reads_in_a_way_of_tomorrow(
    action: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "_parse_returned_data", lambda answer, profile: 1)
    monkeypatch.setattr(action, "_status", lambda job, task_vars: {"changed": True, "finished": True, **job})
    assert action._parsed("{}", {"ansible_job_id": "j1.1"}, {}) == {"changed": True}


def test_what_the_start_of_a_job_found_out_is_kept() -> None:
    started = {"changed": True, "ansible_facts": {"discovered": "python3.9"}, "warnings": ["which Python?"]}
    assert job._with_the_start(started, {"changed": False, "warnings": ["a pod"]}) == {
        "changed": False,
        "ansible_facts": {"discovered": "python3.9"},
        "warnings": ["which Python?", "a pod"],
    }
