# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a playbook as AWX runs a job: ansible-runner, a private data folder, the credential's environment variables."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from embedded_cluster import EmbeddedCluster
from places import LINKED, ROOT, VENV, link

PROJECT = ROOT / "docs" / "awx" / "project"
PATIENCE = 180.0
_RUN = "1"


def bearer_token_environment(cluster: EmbeddedCluster, token: str, folder: Path) -> dict[str, str]:
    """Return what AWX sets for a credential of the type "OpenShift or Kubernetes API Bearer Token" with a CA."""
    authority = folder / "env" / "tmp_ca"
    authority.parent.mkdir(parents=True, exist_ok=True)
    authority.write_bytes(cluster.ca.read_bytes())
    return {
        "K8S_AUTH_HOST": cluster.url,
        "K8S_AUTH_API_KEY": token,
        "K8S_AUTH_VERIFY_SSL": "True",
        "K8S_AUTH_SSL_CA_CERT": str(authority),
    }


class Job:
    """One job; in a `with` block, at whose end nothing of it runs any more.

    folder: its private data; nodes: the hosts of the group `nodes`, with their variables; files: more files of the
    project, by name; credential: environment variables; the job gets no others of the caller's.
    """

    def __init__(
        self,
        folder: Path,
        playbook: str,
        nodes: dict[str, Any],
        variables: dict[str, Any],
        credential: dict[str, str],
        *,
        files: dict[str, str] | None = None,
        check: bool = False,
    ) -> None:
        link()
        self.folder = folder
        shutil.copytree(PROJECT, folder / "project")
        for name, text in (files or {}).items():
            (folder / "project" / name).write_text(text, encoding="utf-8")
        self._write("inventory/hosts.json", {"nodes": {"hosts": nodes}})
        self._write("env/extravars", variables)
        self._write("env/settings", {"job_timeout": 300})
        (folder / "home").mkdir()
        self._environment = {
            "PATH": f"{VENV / 'bin'}:{os.defpath}",
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "TMPDIR": str(folder / "home"),
            "ANSIBLE_COLLECTIONS_PATH": str(LINKED),
            # Jobs of an AWX that lives in a cluster see that cluster's address too.
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": "1",
            **credential,
        }
        (folder / "env" / "cmdline").write_text("--check" if check else "", encoding="utf-8")
        self._command = [str(VENV / "bin" / "ansible-runner"), "run", str(folder), "-p", playbook, "-i", _RUN, "-q"]
        self._process: subprocess.Popen[bytes] | None = None

    def _write(self, name: str, content: Any) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")

    def __enter__(self) -> Job:
        self._process = subprocess.Popen(
            self._command,
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        if self._process and self._process.poll() is None:
            self.cancel()
        self.remove_container()

    def wait(self) -> Job:
        """Return when the job has ended; TimeoutExpired when that takes too long."""
        if self._process:
            self._process.wait(PATIENCE)
        return self

    def cancel(self) -> None:
        """Do what AWX does when a job is cancelled: end the runner, and then the container with all in it."""
        if self._process:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE)
        self.remove_container()

    def remove_container(self) -> None:
        """Kill what is left of the job: the processes whose home is its folder."""
        mark = f"HOME={self.folder / 'home'}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        os.kill(int(entry.name), signal.SIGKILL)

    @property
    def artifacts(self) -> Path:
        """Return the folder in which runner leaves what it knows of the run."""
        return self.folder / "artifacts" / _RUN

    @property
    def status(self) -> str:
        """Return successful, failed, canceled or timeout; "" before the end."""
        path = self.artifacts / "status"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def events(self) -> list[dict[str, Any]]:
        """Return the events so far, in order."""
        paths = [path for path in self.artifacts.glob("job_events/*.json") if "-partial" not in path.name]
        found = []
        for path in sorted(paths, key=lambda path: int(path.name.split("-")[0])):
            with contextlib.suppress(ValueError, FileNotFoundError):  # it is just being written
                found.append(json.loads(path.read_text(encoding="utf-8")))
        return found

    def await_event(self, pattern: str) -> dict[str, Any]:
        """Return the first event whose output has the text; TimeoutError when none comes while the job runs."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ended = self._process is None or self._process.poll() is not None
            for event in self.events():
                if pattern in event.get("stdout", ""):
                    return event
            if ended:
                break
            time.sleep(0.3)
        raise TimeoutError(f"no event with {pattern!r}; the output was\n{self.output()}")

    def output(self) -> str:
        """Return what the job printed."""
        return "\n".join(event["stdout"] for event in self.events() if event.get("stdout"))

    def stored_artifacts(self) -> dict[str, Any]:
        """Return what AWX keeps as the job's artifacts: the data of set_stats."""
        for event in self.events():
            if event["event"] == "playbook_on_stats":
                stored: dict[str, Any] = event["event_data"].get("artifact_data", {})
                return stored
        return {}

    def files_with(self, secret: str) -> list[str]:
        """Return the names of the job's files that hold a text, but for the one where runner keeps the environment."""
        own = self.artifacts / "command"
        return sorted(
            str(path.relative_to(self.folder))
            for path in self.folder.rglob("*")
            if path != own and path.is_file() and secret.encode() in path.read_bytes()
        )
