# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a module of the collection as Ansible does: `launch.py MODULE`, its arguments as a line of JSON on stdin.

Prints `ready` once everything is imported, and then, after the arguments came, what the module prints. So the time of
a case begins with the module's work, and not with Python's.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys

from ansible.module_utils import basic

MODULES = "ansible_collections.kubeops.maintenance.plugins.modules"


def main() -> None:
    name = sys.argv[1]
    module = importlib.import_module(f"{MODULES}.{name}")
    with contextlib.suppress(ImportError):  # the module says it better
        client = importlib.import_module("kubernetes").client
        client.ApiClient, client.Configuration  # noqa: B018 - newer releases import them when they are first named
    print("ready", flush=True)
    arguments = json.loads(sys.stdin.readline())
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
    if hasattr(basic, "_ANSIBLE_PROFILE"):
        basic._ANSIBLE_PROFILE = "legacy"  # since ansible-core 2.19, the form of arguments and result has a name
    module.main()


if __name__ == "__main__":
    main()
