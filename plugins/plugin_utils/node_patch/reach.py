# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why Ansible cannot patch a host, from the results of its tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...module_utils.text import end_sentence

Result = Mapping[str, Any]
# As the fact pkg_mgr names them.
PACKAGE_MANAGERS = ("apt", "dnf", "dnf5")
_MAX_REASON = 300
# What Ansible puts before the messages of ssh, sudo and Python.
_FRAME = re.compile(
    r"^(Task failed: |Failed to connect to the host via ssh: |Data could not be sent to remote host .*?: )+"
)
# What Ansible says of a module that wrote no result; the reason is in its error output.
_NO_REASON = re.compile(r"MODULE FAILURE|deserialization failed|failed to execute correctly", re.IGNORECASE)
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
    """Return in a sentence or two why a host cannot be patched, and what to do; "" if it can.

    result: of a ping in the way in which the host is to be patched; plainly: of one as the user who logs in, if any.
    """
    if result.get("ping") == "pong":
        return ""
    reason = end_sentence(_reason(result))
    if result.get("unreachable"):
        remedy = next((text for pattern, text in _REMEDIES if re.search(pattern, reason, re.IGNORECASE)), "")
        return f"Host {host} cannot be reached: {reason} {remedy}".strip()
    if plainly is not None and plainly.get("ping") == "pong":
        return (
            f"Host {host} can be reached, but its user cannot become another one (become): {reason} Give the password "
            "with --ask-become-pass or ansible_become_password, or set node_patch_become to false if the patch needs "
            "no other user."
        )
    if result.get("rc") == 127 or _NO_PYTHON.search(reason):
        return (
            f"Host {host} can be reached, but its Python does not work: {reason} Install Python 3 there, or say where "
            "it is with ansible_python_interpreter."
        )
    return f"Host {host} can be reached, but cannot run modules: {reason}"


def unmanaged(packages: str, host: str, upgrades: bool = True, hint: Result | None = None) -> str:
    """Return in two sentences why the role cannot manage a host's packages, and what to do; "" if it can.

    packages: what manages them there, as the fact pkg_mgr has it; upgrades: whether the role is to upgrade them; hint:
    the result of asking dnf for needs-restarting, which says whether a reboot is needed, if that is to be asked.
    """
    if upgrades and packages not in PACKAGE_MANAGERS:
        return (
            f"The packages of {host} are managed by {packages or 'a package manager that Ansible does not know'}, "
            "which this role cannot upgrade. Set node_patch_tasks to a task file that does."
        )
    if hint is not None and hint.get("rc", 0) != 0:
        return (
            f"On {host}, dnf does not know needs-restarting, which says whether a reboot is needed. Install dnf-utils "
            "there (dnf5-plugins for dnf5), or set node_patch_reboot to always or never."
        )
    return ""


def _reason(result: Result) -> str:
    text = str(result.get("msg") or "")
    _before, _mark, errors = text.partition(">>> Standard Error")
    if not errors and (not text or _NO_REASON.search(text)):
        errors = str(result.get("module_stderr") or result.get("module_stdout") or "")
    # Most programs give the reason in their last line; pyenv and the like in the first.
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if lines:
        named = [line for line in lines if _NO_PYTHON.search(line)][:1] if result.get("rc") == 127 else []
        text = (named or lines[-1:])[0]
    text = " ".join(_FRAME.sub("", text).split())
    return text[:_MAX_REASON] or "it gave no reason"
