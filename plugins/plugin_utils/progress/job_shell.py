# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell commands for a host on which a module runs as a job.

Ansible appends a command of its own to each of these texts, so none may end in an ampersand.
"""

from __future__ import annotations

import os
import shlex
from string import Template
from typing import NamedTuple

# Wait up to a second for new lines, then print the state, the lines from number ${first} on, and the result if the
# job has ended. The job's file holds the module's result when it has ended, and something short before. The module
# creates the folder of the lines when it starts, and its file "asked", by whose time stamp it knows that its lines are
# read. A module that has written its last line ends soon, so the first checks follow each other closely.
_ASK = Template(
    "d=${folder}; i=0; while :; do case $$(head -c 50 ${result} 2>/dev/null) in "
    """'{"started": '*'"finished": '[0fF]*) if ${lives}; then s=running; else s=lost; fi;; *) s=ended;; esac; """
    'if [ $$s != running ] || [ "$$d/lines" -nt "$$d/asked" ] || [ $$i -ge 14 ]; then break; fi; '
    "if [ $$i -lt 5 ]; then s=0.02; else s=0.1; fi; "
    "if sleep $$s 2>/dev/null; then i=$$((i+1)); else sleep 1; i=14; fi; done; "
    '[ ! -d "$$d" ] || touch "$$d/asked"; '
    # Ansible's wrapper says that a job has started even where it could not write that down.
    "[ $$s != ended ] || [ -e ${result} ] || [ -w ${jobs} ] || s=refused; "
    'echo ${mark}$$s; tail -n +${first} "$$d/lines" 2>/dev/null; '
    "if [ $$s = ended ]; then echo ${mark}; cat ${result}; fi"
)
# End a job that nobody waits for. One whose process is unknown ends when its folder is gone, or when it finds a file in
# the folder's place as it starts. Its result, which is written a moment later, is removed too, even if the connection's
# terminal has been closed by then.
_END = Template(
    "${kill}; rm -rf ${folder}${more}; ${block}; "
    "(trap '' HUP; i=0; while [ $$i -lt 300 ]; do "
    "case $$(head -c 12 ${result}) in '{\"started\": '*) ;; *) break;; esac; "
    "sleep 0.2 || sleep 1; i=$$((i+1)); done; rm -f ${result} ${folder}) >/dev/null 2>&1 </dev/null & :"
)


class Process(NamedTuple):
    """A module's process: its number, 0 if unknown, and the tick of its start, 0 where the host does not report it."""

    pid: int = 0
    tick: int = 0

    def is_alive(self) -> str:
        """Return a shell condition that is true while the process lives; an unknown one is taken to."""
        if not self.pid:
            return ":"
        alive = f"kill -0 {self.pid} 2>/dev/null"
        if not self.tick:
            return alive
        # After a reboot, another process may have the number, but not the same start.
        stat = f"read -r x </proc/{self.pid}/stat && set -- ${{x##*) }} && [ ${{20}} = {self.tick} ]"
        return f"{alive} && {{ {stat}; }} 2>/dev/null"


class Job(NamedTuple):
    """A job: the folder of its lines, and the file of its result."""

    folder: str
    file: str

    @property
    def mark(self) -> str:
        """Return a text that no other job, login message or line contains."""
        return os.path.basename(self.folder) + ":"

    def poll(self, read: int, process: Process) -> str:
        """Return the command that asks for the job's state, and for the lines that follow the first C(read)."""
        return _ASK.substitute(
            folder=shlex.quote(self.folder),
            result=shlex.quote(self.file),
            jobs=shlex.quote(os.path.dirname(self.file) or "."),
            mark=self.mark,
            first=read + 1,
            lives=process.is_alive(),
        )

    def remove(self, tmp: str = "") -> str:
        """Return the command that removes everything of a job that has ended, and the folder C(tmp)."""
        return shlex.join(["rm", "-rf", self.folder, self.file, *([tmp] if tmp else [])])

    def end(self, process: Process, tmp: str = "") -> str:
        """Return the command that ends the job, and removes the same."""
        folder = shlex.quote(self.folder)
        kill = f"if {process.is_alive()}; then kill -TERM {process.pid}; fi 2>/dev/null"
        return _END.substitute(
            folder=folder,
            result=shlex.quote(self.file),
            kill=kill if process.pid else ":",
            block=":" if process.pid else f"touch {folder}",
            more=" " + shlex.quote(tmp) if tmp else "",
        )
