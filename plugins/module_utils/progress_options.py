# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out whether somebody reads a task's lines, and how many are wanted.

The action plugins name the file by an environment variable and not by an option: it is between the two of them, and
a result shows options.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ansible.module_utils.basic import env_fallback
from ansible.module_utils.common.parameters import remove_values

from .progress import CHANGES, OFF, SILENT, SUMMARY, LineFile, Progress
from .waiting import Clock

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

# How many lines the user wants; the option of the same name wins.
WANTED = "K8S_MAINTENANCE_PROGRESS"
# Set by the action plugins: the file that lines are appended to.
LINES = "K8S_MAINTENANCE_PROGRESS_LINES"

PROGRESS_SPEC = dict(
    progress=dict(type="str", choices=[CHANGES, SUMMARY, OFF], default=CHANGES, fallback=(env_fallback, [WANTED])),
)


def progress_of(module: AnsibleModule, clock: Clock) -> Progress:
    """Return what a task tells its news to."""
    path = os.environ.get(LINES)
    # A rehearsal ends at once, and its result says it all.
    if not path or module.params["progress"] == OFF or module.check_mode:
        return SILENT
    return Progress(
        clock,
        LineFile(path).append,
        module.params["progress"],
        # pylint: disable-next=protected-access
        detail=module._verbosity > 0,
        clean=lambda text: str(remove_values(text, module.no_log_values)),
    )
