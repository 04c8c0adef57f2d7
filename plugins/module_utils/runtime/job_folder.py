# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder through which a module that runs as a job and the action plugin that started it communicate.

It lies beside Ansible's own files of jobs. The plugin chooses an unguessable name, the module creates the folder, which
saves a command, and the plugin removes it. It holds C(lines), the module's progress, and C(asked), which each poll
touches.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil

from ..errors import Cancelled

# The environment variable with the folder's name.
FOLDER = "K8S_MAINTENANCE_PROGRESS_FOLDER"
PREFIX = "k8s-progress-"
# Folders not polled for this long, in seconds, are leftovers of a killed run.
MAX_AGE = 86400.0


def job_folder() -> str:
    """Return the path of the folder, "" if the module does not run as a job."""
    name = os.environ.get(FOLDER, "")
    # Where Ansible's async_wrapper keeps its files.
    jobs = os.path.expanduser(os.environ.get("ANSIBLE_ASYNC_DIR") or "~/.ansible_async")
    return os.path.join(jobs, os.path.basename(name)) if name.startswith(PREFIX) else ""


def lines_in(folder: str) -> str:
    """Return the file for the lines."""
    return os.path.join(folder, "lines")


def asked_in(folder: str) -> str:
    """Return the file that each poll touches."""
    return os.path.join(folder, "asked")


def make_folder(process: dict[str, int]) -> str:
    """Create the folder with mode 0700 and return its path, "" if the module does not run as a job or this fails.

    Raise Cancelled if there is a file in its place: then the action plugin has given the job up already.

    process: the module's process, for the first line. It is written at every level of progress, because the plugin has
    to check whether the module is still alive.
    """
    folder = job_folder()
    if not folder:
        return ""
    try:
        os.mkdir(folder, 0o700)
        for path, content in ((asked_in(folder), ""), (lines_in(folder), json.dumps(process) + "\n")):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(content)
    except OSError as exc:
        if os.path.isfile(folder):
            remove(folder)
            raise Cancelled("cancelled before it began") from exc
        return ""
    _sweep(folder)
    return folder


def remove(folder: str) -> None:
    """Remove the folder, or the file in its place."""
    with contextlib.suppress(OSError):
        os.unlink(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(mine: str) -> None:
    """Remove what killed plugins left behind."""
    with contextlib.suppress(OSError):
        jobs, now = os.path.dirname(mine), os.stat(asked_in(mine)).st_mtime
        for name in os.listdir(jobs):
            folder = os.path.join(jobs, name)
            if not name.startswith(PREFIX):
                continue
            with contextlib.suppress(OSError):
                if os.stat(asked_in(folder)).st_mtime < now - MAX_AGE:
                    remove(folder)
