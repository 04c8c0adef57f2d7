# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said to the shell of a host on which a module runs as a job.

Ansible appends a command of its own to each of these texts, so that none may end in an ampersand.
"""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

# Wait a second at most for news, then print how the job stands, the lines from number %(first)d on, and in the end the
# result. The job's file holds the module's result when it has ended, and something short before. The module makes the
# folder of the lines when it begins, and a file there that it takes for a sign that somebody reads them. A module that
# has told its last line ends soon, so that the first looks after a line are close together.
_ASK = (
    "d=%(folder)s; i=0; while :; do case $(head -c 50 %(result)s 2>/dev/null) in "
    """'{"started": '*'"finished": '[0fF]*) if %(lives)s; then s=running; else s=lost; fi;; *) s=ended;; esac; """
    'if [ $s != running ] || [ "$d/lines" -nt "$d/asked" ] || [ $i -ge 14 ]; then break; fi; '
    "if [ $i -lt 5 ]; then s=0.02; else s=0.1; fi; "
    "if sleep $s 2>/dev/null; then i=$((i+1)); else sleep 1; i=14; fi; done; "
    '[ ! -d "$d" ] || touch "$d/asked"; '
    # Ansible's wrapper says that a job has begun even where it could not write down that it has.
    "[ $s != ended ] || [ -e %(result)s ] || [ -w %(jobs)s ] || s=refused; "
    'echo %(mark)s$s; tail -n +%(first)d "$d/lines" 2>/dev/null; '
    "if [ $s = ended ]; then echo %(mark)s; cat %(result)s; fi"
)
# A process lives on as long as there is one of its number that was started in the same moment: after a reboot, another
# one may have the number.
_LIVES = "kill -0 %(pid)d 2>/dev/null"
_SAME = " && { read -r x </proc/%(pid)d/stat && set -- ${x##*) } && [ ${20} = %(tick)d ]; } 2>/dev/null"
# Nothing of a job is left when nobody waits for it any more.
_REMOVE = "rm -rf %(folder)s %(result)s%(more)s"
# End a job that nobody waits for. One whose process is not known ends when its folder is gone, or when there is a file
# in its place as it begins. It leaves a result, which is nobody's either, after a moment. The end of the terminal that
# the connection may have given to the command does not keep it from being removed.
_END = (
    "%(kill)s; rm -rf %(folder)s%(more)s; %(stone)s; "
    "(trap '' HUP; i=0; while [ $i -lt 300 ]; do "
    "case $(head -c 12 %(result)s) in '{\"started\": '*) ;; *) break;; esac; "
    "sleep 0.2 || sleep 1; i=$((i+1)); done; rm -f %(result)s %(folder)s) >/dev/null 2>&1 </dev/null & :"
)
_KILL = "if %(lives)s; then kill -TERM %(pid)d; fi 2>/dev/null"


class Process(NamedTuple):
    """A module's process: its number, 0 if unknown, and the tick of its start, 0 where the host does not tell."""

    pid: int = 0
    tick: int = 0

    def lives(self) -> str:
        """Return a condition for the shell: the process lives; an unknown one is taken to."""
        if not self.pid:
            return ":"
        return (_LIVES + (_SAME if self.tick else "")) % {"pid": self.pid, "tick": self.tick}


class Job(NamedTuple):
    """A job: the folder of its lines, and the file of its result."""

    folder: str
    file: str

    @property
    def mark(self) -> str:
        """Return what no other job, no login and no line says."""
        return os.path.basename(self.folder) + ":"

    def question(self, read: int, process: Process) -> str:
        """Return the command that asks how the job stands, and for the lines that follow the first C(read)."""
        return _ASK % dict(self._words(), mark=self.mark, first=read + 1, lives=process.lives())

    def farewell(self, more: str = "") -> str:
        """Return the command that removes all that there is of a job that has ended, and the folder C(more)."""
        return _REMOVE % self._words(more)

    def end(self, process: Process, more: str = "") -> str:
        """Return the command that ends the job, and removes the same."""
        words = self._words(more)
        if process.pid:
            return _END % dict(words, kill=_KILL % {"lives": process.lives(), "pid": process.pid}, stone=":")
        return _END % dict(words, kill=":", stone="touch %(folder)s" % words)

    def _words(self, more: str = "") -> dict[str, str]:
        return {
            "folder": shlex.quote(self.folder),
            "result": shlex.quote(self.file),
            "jobs": shlex.quote(os.path.dirname(self.file) or "."),
            "more": " " + shlex.quote(more) if more else "",
        }
