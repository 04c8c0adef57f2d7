# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a playbook by ansible-runner, as AWX does, and print its events as they come: a line of JSON for each.

Arguments: -i INVENTORY PLAYBOOK
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from typing import Any

import ansible_runner

KEPT = ("event", "uuid", "parent_uuid", "stdout")


def told(event: dict[str, Any]) -> bool:
    """Print an event."""
    data = event.get("event_data") or {}
    known = {key: event.get(key) for key in KEPT}
    print(json.dumps(dict(known, at=time.time(), task=data.get("task"), host=data.get("host"))), flush=True)
    return False


def main() -> int:
    inventory, playbook = sys.argv[2:4]
    with tempfile.TemporaryDirectory() as folder:
        run = ansible_runner.run(
            private_data_dir=folder, inventory=inventory, playbook=playbook, quiet=True, event_handler=told
        )
    return int(run.rc)


if __name__ == "__main__":
    sys.exit(main())
