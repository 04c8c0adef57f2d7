# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option C(progress), and where a module writes its progress lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ansible.module_utils.basic import env_fallback
from ansible.module_utils.common.parameters import remove_values

from ..runtime.clock import Clock
from ..runtime.job_folder import job_folder, lines_in
from ..runtime.progress import CHANGES, LINES, OFF, SILENT, SUMMARY, WANTED, LineFile, Progress

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

PROGRESS_SPEC = dict(
    progress=dict(type="str", choices=[CHANGES, SUMMARY, OFF], default=CHANGES, fallback=(env_fallback, [WANTED])),
)


def progress_of(module: AnsibleModule, clock: Clock) -> Progress:
    """Return where the task reports its progress."""
    folder = job_folder()
    path = lines_in(folder) if folder else os.environ.get(LINES)
    # Check mode ends at once, and its result has everything.
    if not path or module.params["progress"] == OFF or module.check_mode:
        return SILENT
    file = LineFile(path)
    file.append({"speaks": True})
    return Progress(
        clock,
        file.append,
        module.params["progress"],
        # pylint: disable-next=protected-access
        detail=module._verbosity > 0,
        clean=lambda text: str(remove_values(text, set(module.no_log_values))),
    )
