# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell from what was found on a host why it cannot be worked on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Result = Mapping[str, Any]
# As the fact pkg_mgr names them.
PACKAGE_MANAGERS = ("apt", "dnf", "dnf5")
_LONGEST = 300
# What Ansible puts before the words of ssh, sudo and Python.
_FRAME = re.compile(
    r"^(Task failed: |Failed to connect to the host via ssh: |Data could not be sent to remote host .*?: )+"
)
# What Ansible says of a module that wrote no result; the reason is in its error output.
_SAYS_NOTHING = re.compile(r"MODULE FAILURE|deserialization failed|failed to execute correctly", re.IGNORECASE)
_NO_PYTHON = re.compile(r"interpreter|python|not found|No such file", re.IGNORECASE)
_REMEDIES = (
    (r"Could not resolve|not known|nodename nor servname", "Set ansible_host to its address."),
    (r"Host key verification|IDENTIFICATION HAS CHANGED|authenticity of host", "Put its key into known_hosts."),
    (r"Permission denied|authenticat|password|publickey", "Check ansible_user and its key or password."),
    (
        r"refused|timed out|No route|unreachable",
        "Check that it is up, and that ansible_host and ansible_port are right.",
    ),
)


def unreached(result: Result, plainly: Result | None, host: str) -> str:
    """Return in a sentence or two why a host cannot be worked on, and what to do; nothing if it can.

    result: of a ping in the way in which the host is to be patched; plainly: of one as the user who logs in, if there
    was one.
    """
    if result.get("ping") == "pong":
        return ""
    reason = _reason(result)
    if result.get("unreachable"):
        remedy = next((text for pattern, text in _REMEDIES if re.search(pattern, reason, re.IGNORECASE)), "")
        return ("Host %s cannot be reached: %s %s" % (host, _ended(reason), remedy)).strip()
    if plainly is not None and plainly.get("ping") == "pong":
        return (
            "Host %s can be reached, but its user cannot become another one (become): %s Give the password with "
            "--ask-become-pass or ansible_become_password, or set node_patch_become to false if the patch needs no "
            "other user."
        ) % (host, _ended(reason))
    if result.get("rc") == 127 or _NO_PYTHON.search(reason):
        return (
            "Host %s can be reached, but its Python does not work: %s Install Python 3 there, or say where it is with "
            "ansible_python_interpreter."
        ) % (host, _ended(reason))
    return "Host %s can be reached, but cannot run modules: %s" % (host, _ended(reason))


def unmanaged(packages: str, host: str, upgrades: bool = True, hint: Result | None = None) -> str:
    """Return in two sentences why the role cannot manage a host's packages, and what to do; nothing if it can.

    packages: what manages them there, as the fact pkg_mgr has it; upgrades: whether the role is to upgrade them; hint:
    the result of asking dnf for needs-restarting, which says whether a reboot is needed, if that is to be asked.
    """
    if upgrades and packages not in PACKAGE_MANAGERS:
        return (
            "The packages of %s are managed by %s, which this role cannot upgrade. Set node_patch_tasks to a task file "
            "that does."
        ) % (host, packages or "a package manager that Ansible does not know")
    if hint is not None and hint.get("rc", 0) != 0:
        return (
            "On %s, dnf does not know needs-restarting, which says whether a reboot is needed. Install dnf-utils there "
            "(dnf5-plugins for dnf5), or set node_patch_reboot to always or never."
        ) % host
    return ""


def _reason(result: Result) -> str:
    text = str(result.get("msg") or "")
    _before, _mark, errors = text.partition(">>> Standard Error")
    if not errors and (not text or _SAYS_NOTHING.search(text)):
        errors = str(result.get("module_stderr") or result.get("module_stdout") or "")
    # Of what a program writes before it gives up, the last line says why; of pyenv and the like, the first.
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if lines:
        said = [line for line in lines if _NO_PYTHON.search(line)][:1] if result.get("rc") == 127 else []
        text = (said or lines[-1:])[0]
    text = " ".join(_FRAME.sub("", text).split())
    return text[:_LONGEST] or "it gave no reason"


def _ended(text: str) -> str:
    return text if text[-1] in ".!?" else text + "."
