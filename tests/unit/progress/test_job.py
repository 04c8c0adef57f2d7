# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the action plugins follow a module that is a job on another host, and how it notices that they do."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Cancelled
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime import cancellation, job_folder
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress import job
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress.job import ActionWithJob, Poll
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress.job_shell import Job, Process
from ansible_collections.kubeops.maintenance.plugins.plugin_utils.progress.lines import Lines
from runtime.listener import Hands


class Host:
    """Another host whose shell is that of this machine."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "j1.1"
        self.file.write_text('{"started": 1, "finished": 0, "ansible_job_id": "j1.1"}', encoding="ascii")
        self.folder = folder / "k8s-progress-1a2b"
        self.crlf = False

    def run(self, command: str, **_options: Any) -> dict[str, Any]:
        # Up to ansible-core 2.20, this is how it makes sure that ssh drops nothing.
        done = subprocess.run(["/bin/sh", "-c", command + " && sleep 0"], capture_output=True, text=True, check=False)
        return {"rc": done.returncode, "stdout": done.stdout.replace("\n", "\r\n") if self.crlf else done.stdout}

    def make(self) -> str:
        """Make the folder as the module does."""
        self.folder.mkdir()
        for name in ("asked", "lines"):
            (self.folder / name).touch()
        return str(self.folder)


class Plugin(ActionWithJob):
    """The plugin, with a host in place of Ansible's connection."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self._low_level_execute_command = host.run
        self._clock = clock
        shell = SimpleNamespace(tmpdir="/var/tmp/ansible-tmp-1", remove=lambda path, recurse: "rm " + path)
        self._connection = SimpleNamespace(_shell=shell, is_pipelining_enabled=lambda wrap_async: self.pipelined)
        self._task = SimpleNamespace(async_val=0)
        self._is_become_unprivileged = lambda: False
        self.pipelined = False
        self.starts: list[Any] = []

    def _usable_args(self) -> dict[str, Any]:
        return {"name": "w1"}

    def _module(self, args: Any, task_vars: Any, variables: Any, wrap_async: bool = False) -> dict[str, Any]:
        if not wrap_async:
            return {"changed": True, "msg": "ran the plain way"}
        found = self.starts.pop(0)
        if isinstance(found, Exception):
            raise found
        return dict(found)

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        raise NotImplementedError


@pytest.fixture
def host(tmp_path: Path) -> Host:
    jobs = tmp_path / "jobs of Jo's $HOME"
    jobs.mkdir()
    return Host(jobs)


@pytest.fixture
def action(host: Host, clock: Hands) -> Plugin:
    return Plugin(host, clock)


def written(folder: str, *texts: str) -> None:
    with open(folder + "/lines", "a", encoding="ascii") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    # Two changes at nearly the same moment look like one, and the question would wait for a second.
    os.utime(folder + "/asked", (1, 1))


@pytest.mark.parametrize("crlf", [False, True])
def test_only_new_lines_are_fetched(action: Plugin, host: Host, crlf: bool) -> None:
    host.crlf = crlf
    folder = host.make()
    written(folder, "one", "two")
    first = action._poll(Job(folder, str(host.file)), 0, Process(os.getpid()))
    written(folder, "three")
    second = action._poll(Job(folder, str(host.file)), 2, Process(os.getpid()))
    assert first == ("running", ['{"text": "one"}', '{"text": "two"}'], "")
    assert second == ("running", ['{"text": "three"}'], "")


def test_a_torn_line_waits_for_its_end(action: Plugin, host: Host) -> None:
    folder = host.make()
    written(folder, "one")
    with open(folder + "/lines", "a", encoding="ascii") as file:
        file.write('{"text"')
    assert action._poll(Job(folder, str(host.file)), 0, Process()).lines == ['{"text": "one"}']


def test_a_job_that_has_not_begun_has_no_lines(action: Plugin, host: Host) -> None:
    assert action._poll(Job(str(host.folder), str(host.file)), 0, Process()) == ("running", [], "")


@pytest.mark.parametrize("running", ['"started": 1, "finished": 0,', '"started": true, "finished": false,'])
def test_a_job_runs_until_its_file_holds_a_result(action: Plugin, host: Host, running: str) -> None:
    folder = host.make()
    written(folder, "one")
    host.file.write_text('{%s "ansible_job_id": "j"}' % running, encoding="ascii")
    before = action._poll(Job(folder, str(host.file)), 0, Process(os.getpid())).state
    host.file.write_text('{"changed": true, "msg": "it has \\"finished\\": 0"}', encoding="ascii")
    assert (before, action._poll(Job(folder, str(host.file)), 1, Process(os.getpid())).state) == ("running", "ended")


@pytest.mark.parametrize("crlf", [False, True])
def test_the_last_question_brings_the_last_lines_and_the_result(action: Plugin, host: Host, crlf: bool) -> None:
    host.crlf = crlf
    folder = host.make()
    written(folder, "one", "two")
    host.file.write_text('{"changed": true, "msg": "k8s-progress: done"}', encoding="ascii")
    assert action._poll(Job(folder, str(host.file)), 1, Process(os.getpid())) == (
        "ended",
        ['{"text": "two"}'],
        '{"changed": true, "msg": "k8s-progress: done"}',
    )


def test_a_result_of_a_megabyte_is_brought_whole(action: Plugin, host: Host) -> None:
    result = json.dumps({"msg": "x" * 2**20})
    host.file.write_text(result, encoding="ascii")
    assert action._poll(Job(host.make(), str(host.file)), 0, Process()).result == result


def test_a_job_whose_process_is_gone_without_a_result_is_lost(action: Plugin, host: Host) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert action._poll(Job(host.make(), str(host.file)), 0, Process(child.pid)).state == "lost"


def test_another_process_of_the_same_number_is_not_the_job(action: Plugin, host: Host) -> None:
    mine = cancellation.this_process()
    found = [
        action._poll(Job(host.make(), str(host.file)), 0, Process(mine["pid"], mine["tick"])).state,
        action._poll(Job(str(host.folder), str(host.file)), 0, Process(mine["pid"], mine["tick"] + 1)).state,
    ]
    assert found == ["running", "lost"]


def test_a_host_that_lets_no_job_write_down_that_it_has_begun_refuses_it(action: Plugin, host: Host) -> None:
    # The superuser may write everywhere but where there is no folder.
    nowhere = str(host.folder.parent / "nowhere")
    assert action._poll(Job(nowhere + "/k8s-progress-1a2b", nowhere + "/j1.1"), 0, Process()).state == "refused"


def test_a_host_too_busy_to_answer_is_asked_again(action: Plugin, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(command: str) -> dict[str, Any]:
        raise AnsibleError("Timeout (12s) waiting for privilege escalation prompt")

    monkeypatch.setattr(action, "_low_level_execute_command", busy)
    assert action._poll(Job(host.make(), str(host.file)), 0, Process()) == ("", [], "")


def test_a_job_without_a_file_has_ended_without_a_result(action: Plugin, host: Host) -> None:
    host.file.unlink()
    assert action._poll(Job(host.make(), str(host.file)), 0, Process()) == ("ended", [], "")


def test_each_question_leaves_a_sign_that_somebody_asks(action: Plugin, host: Host) -> None:
    folder = host.make()
    os.utime(folder + "/asked", (1, 1))
    written(folder, "one")
    action._poll(Job(folder, str(host.file)), 0, Process())
    assert os.stat(folder + "/asked").st_mtime > 1


def test_a_login_may_print_something_first(action: Plugin, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = host.run
    monkeypatch.setattr(
        action, "_low_level_execute_command", lambda command: {"rc": 0, "stdout": "hi\n" + plain(command)["stdout"]}
    )
    assert action._poll(Job(host.make(), str(host.file)), 0, Process()).state == "running"


class Answers(Plugin):
    """A job that answers as a test has it. Each question takes a second."""

    def __init__(self, host: Host, clock: Hands, *answers: tuple[Any, ...]) -> None:
        super().__init__(host, clock)
        self._hands, self._answers = clock, list(answers)

    def _poll(self, job: Job, read: int, process: Process) -> Poll:
        self._hands.now += 1
        return Poll(*(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]))


def test_a_connection_that_drops_for_a_while_ends_nothing(screen: list[Any], host: Host, clock: Hands) -> None:
    away = [("", [])] * 20
    answers = [("running", ['{"pid": 7, "text": "one"}']), *away, ("ended", ['{"text": "two"}'], "{}")]
    Answers(host, clock, *answers)._read_lines(Job("f", "r"), Lines("n1", clock), os.getppid())
    assert [text for text, _stderr in screen] == ["[n1] one", "[n1] two"]


def test_a_host_that_stays_out_of_reach_is_unreachable(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleConnectionFailure, match="out of reach for 45 s"):
        Answers(host, clock, ("running", []), ("", []))._read_lines(Job("f", "r"), Lines("n1", clock), os.getppid())


def test_a_job_that_is_lost_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", ['{"pid": 7}']), ("lost", []))._read_lines(
            Job("f", "r"), Lines("n1", clock), os.getppid()
        )


def test_a_job_that_never_begins_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", []))._read_lines(Job("f", "r"), Lines("n1", clock), os.getppid())


def test_a_playbook_that_is_gone_ends_the_job(host: Host, clock: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 1])
    monkeypatch.setattr(job.os, "getppid", lambda: next(parents))
    with pytest.raises(AnsibleActionFail, match="the playbook ended before the task did"):
        Answers(host, clock, ("running", []))._read_lines(Job("f", "r"), Lines("n1", clock), os.getppid())


def test_a_job_without_a_result_fails_with_a_sentence(host: Host, clock: Hands) -> None:
    with pytest.raises(AnsibleActionFail, match="ended without a result"):
        Answers(host, clock, ("running", ['{"pid": 7}']), ("ended", []))._read_lines(
            Job("f", "r"), Lines("n1", clock), os.getppid()
        )


def test_a_job_that_nobody_waits_for_is_told_to_end_and_leaves_nothing(action: Plugin, host: Host) -> None:
    # As Ansible's wrapper does, it writes the result after it was told.
    script = """trap 'echo {} > "$0"; exit' TERM; echo; while :; do sleep 0.05; done"""
    with subprocess.Popen(["/bin/sh", "-c", script, str(host.file)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        action._clear(Job(host.make(), str(host.file)), Process(child.pid), "")
        assert (child.wait(timeout=10), host.folder.exists()) == (0, False)
    patient = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f"for i in $(seq 100); do [ -e {shlex.quote(str(host.file))} ] || exit 0; sleep 0.1; done; exit 1",
        ],
        check=False,
    )
    assert patient.returncode == 0


def test_the_end_of_the_terminal_does_not_keep_the_result_of_an_ended_job(host: Host) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        command = Job(host.make(), str(host.file)).end(Process(child.pid)) + " && sleep 0"
        with subprocess.Popen(["/bin/sh", "-c", command], start_new_session=True) as shell:
            shell.wait(timeout=10)
            os.killpg(shell.pid, signal.SIGHUP)
        child.wait(timeout=10)
    host.file.write_text("{}", encoding="ascii")
    patient = f"for i in $(seq 100); do [ -e {shlex.quote(str(host.file))} ] || exit 0; sleep 0.1; done; exit 1"
    assert subprocess.run(["/bin/sh", "-c", patient], check=False).returncode == 0


def test_a_job_that_has_not_told_its_process_finds_out_that_nobody_waits(
    action: Plugin, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_ASYNC_DIR", str(host.folder.parent))
    monkeypatch.setenv(job_folder.FOLDER, host.folder.name)
    action._clear(Job(str(host.folder), str(host.file)), Process(), "")
    with pytest.raises(Cancelled, match="before it began"):
        job_folder.make_folder({})
    assert host.folder.exists() is False


def test_another_process_of_the_same_number_is_not_ended(action: Plugin, host: Host) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        action._clear(Job(host.make(), str(host.file)), Process(child.pid, 1), "")
        found = child.poll()
        child.kill()
    assert found is None


def test_a_job_that_has_ended_leaves_nothing(action: Plugin, host: Host) -> None:
    folder = host.make()
    action._clear(Job(folder, str(host.file)), None, "")
    assert [host.folder.exists(), host.file.exists()] == [False, False]


def test_the_files_of_a_job_are_removed_with_it(action: Plugin, host: Host, tmp_path: Path) -> None:
    tmp = tmp_path / "ansible-tmp-1"
    tmp.mkdir()
    action._clear(Job(host.make(), str(host.file)), None, str(tmp))
    assert tmp.exists() is False


def test_files_that_only_another_user_may_remove_are_removed_by_him(
    host: Host, clock: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, bool]] = []
    plugin = Plugin(host, clock)
    plugin._low_level_execute_command = lambda command, sudoable=True: said.append((command, sudoable))
    plugin._is_become_unprivileged = lambda: True
    plugin._clear(Job("f", "r"), None, "/var/tmp/ansible-tmp-1")
    assert said == [("rm -rf f r", True), ("rm /var/tmp/ansible-tmp-1", False)]


def test_a_job_that_nobody_asks_for_is_cancelled_and_its_folder_removed(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    folder = host.make()
    monkeypatch.setattr(cancellation, "POLL_INTERVAL", 0.0)
    monkeypatch.setattr(cancellation, "MAX_UNPOLLED", 0.0)
    monkeypatch.setattr(cancellation.os, "kill", lambda pid, number: sent.append(number))
    cancellation._watch_job(folder, threading.Event())
    assert (sent, host.folder.exists()) == ([cancellation.signal.SIGTERM], False)


def test_a_job_whose_folder_is_gone_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "POLL_INTERVAL", 0.001)
    looks = [1, 1, None, None]
    cancellation._wait_until_unchanged(lambda: looks.pop(0), 60.0, threading.Event())
    assert looks == [None]


def test_a_job_that_is_asked_for_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # What a look that shows nothing new counts for: here, two of them in a row are too many.
    monkeypatch.setattr(cancellation, "POLL_INTERVAL", 0.001)
    looks = [1, 2, 2, 3, 3, 3, 4]
    cancellation._wait_until_unchanged(lambda: looks.pop(0), 0.002, threading.Event())
    assert looks == [4]


def test_a_file_that_is_touched_or_gone_is_a_sign_or_none(tmp_path: Path) -> None:
    path = tmp_path / "asked"
    path.touch()
    before = cancellation._mtime_of(str(path))
    os.utime(path, (5, 5))
    assert (before != cancellation._mtime_of(str(path)), cancellation._mtime_of(str(tmp_path / "gone"))) == (True, None)


def test_a_result_is_read_as_that_of_any_module(action: Plugin) -> None:
    found = action._parsed('{"changed": true, "msg": "ok", "stderr": "noise", "_ansible_delegated_vars": {}}', {}, {})
    assert {key: value for key, value in found.items() if key != "_ansible_parsed"} == {"changed": True, "msg": "ok"}


def test_a_module_that_crashed_is_told_with_its_last_words(action: Plugin) -> None:
    action._used_interpreter = "#!/usr/bin/python3"
    left = {"failed": True, "cmd": "x", "data": "", "stderr": "boom", "msg": "Traceback", "ansible_job_id": "j1.1"}
    found = action._parsed(json.dumps(left), {}, {})
    assert (found["failed"], found["module_stderr"], "Traceback" in found["msg"]) == (True, "boom", False)


def test_ansible_is_asked_for_a_result_that_it_reads_in_a_way_of_tomorrow(
    action: Plugin, monkeypatch: pytest.MonkeyPatch
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


NO_FOLDER = {
    "failed": True,
    "changed": True,
    "msg": "could not create directory: /srv/ann/.ansible_async - Read-only file system",
}
NO_RIGHTS = AnsibleError("Failed to set permissions on the temporary files Ansible needs to create")
PLAIN = {"changed": True, "msg": "ran the plain way"}


@pytest.mark.parametrize("pipelined, start", [(False, NO_FOLDER), (True, NO_FOLDER), (True, NO_RIGHTS)])
def test_where_no_job_can_be_started_the_module_runs_the_plain_way(
    action: Plugin, clock: Hands, pipelined: bool, start: Any
) -> None:
    action.pipelined, action.starts = pipelined, [start]
    assert action._run_as_job({}, {}, Lines("n1", clock)) == PLAIN


def test_where_modules_need_no_files_the_lack_of_a_place_for_them_fails_nothing(action: Plugin, clock: Hands) -> None:
    def no_place() -> str:
        raise AnsibleConnectionFailure("Failed to create temporary directory")

    action.pipelined, action._connection._shell.tmpdir, action._make_tmp_path = True, None, no_place
    assert action._run_as_job({}, {}, Lines("n1", clock)) == PLAIN


def test_a_job_that_its_host_refuses_to_begin_is_run_the_plain_way(host: Host, clock: Hands) -> None:
    plugin = Answers(host, clock, ("refused", []))
    plugin.starts = [{"ansible_job_id": "j1.1", "results_file": str(host.file)}]
    assert plugin._run_as_job({}, {}, Lines("n1", clock)) == PLAIN


@pytest.mark.parametrize("fault", [AnsibleConnectionFailure("gone"), NO_RIGHTS])
def test_what_may_have_begun_or_would_fail_again_is_not_tried_again(
    action: Plugin, clock: Hands, fault: Exception
) -> None:
    action.starts = [fault]
    with pytest.raises(type(fault), match=str(fault)):
        action._run_as_job({}, {}, Lines("n1", clock))


def test_a_module_that_cannot_be_started_at_all_leaves_no_files(action: Plugin, host: Host, clock: Hands) -> None:
    said: list[str] = []
    action._low_level_execute_command = lambda command, sudoable: said.append(command)
    action.starts = [{"failed": True, "msg": "python: not found"}]
    found = action._run_as_job({}, {}, Lines("n1", clock))
    assert (found["msg"], said) == ("python: not found", ["rm /var/tmp/ansible-tmp-1"])


def chain_of(monkeypatch: pytest.MonkeyPatch, *commands: str) -> list[int]:
    """Let processes 10, 11... have these commands, each the child of the next one; return which are watched."""
    monkeypatch.setattr(cancellation, "_identity", lambda pid: cancellation.Ancestor(pid, "1"))
    monkeypatch.setattr(cancellation, "command_of", lambda pid: commands[pid - 10].split())
    monkeypatch.setattr(cancellation, "parent_of", lambda pid: pid + 1 if pid - 9 < len(commands) else 1)
    return [ancestor.pid for ancestor in cancellation.ancestors_to_watch(10)]


@pytest.mark.parametrize(
    "commands, watched",
    [
        (["sh -c x", "python /bin/ansible-playbook p.yml", "bash"], [10, 11]),
        (["sh -c x", "bash"], [10]),
        (["python /tmp/async_wrapper.py j1", "python /tmp/async_wrapper.py j1"], []),
        # A playbook that somebody has started as a job.
        (["sh -c x", "ansible-playbook p.yml", "sh -c ansible-playbook", "python /tmp/async_wrapper.py j1"], [10, 11]),
    ],
)
def test_the_playbook_of_a_task_is_watched_unless_the_task_is_meant_to_outlive_it(
    monkeypatch: pytest.MonkeyPatch, commands: list[str], watched: list[int]
) -> None:
    assert chain_of(monkeypatch, *commands) == watched
