# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a host that cannot be worked on."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.reach import unmanaged, unreached

PONG = {"ping": "pong"}
# What ansible-core 2.19 returns, where not said otherwise.
SSH = "Task failed: Failed to connect to the host via ssh: "
NO_PYTHON = {
    "rc": 127,
    "msg": "The module interpreter '/usr/bin/python9' was not found.",
    "module_stdout": "",
    "module_stderr": "/bin/sh: 1: /usr/bin/python9: not found\n",
}
NO_PYTHON_2_17 = {
    "rc": 127,
    "msg": "MODULE FAILURE\nSee stdout/stderr for the exact error",
    "module_stdout": "",
    "module_stderr": "/bin/sh: 1: /usr/bin/python9: not found\n",
}
SHIM = {
    "rc": 127,
    "msg": "Module result deserialization failed: No start of json char found",
    "module_stderr": "pyenv: python3.13: command not found\n\nThe command exists in these Python versions:\n  3.13.0\n",
}
SUDO = {
    "msg": "Task failed: Premature end of stream waiting for become success.\n>>> Standard Error\n"
    "sudo: a password is required"
}


def test_nothing_is_said_of_a_host_that_answers() -> None:
    assert unreached(PONG, None, "w1") == ""


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("ssh: connect to host w1 port 22: Connection refused", "Check that it is up, and that ansible_host and"),
        ("ssh: connect to host w1 port 22: Connection timed out", "Check that it is up, and that ansible_host and"),
        ("ssh: Could not resolve hostname w1: Name or service not known", "Set ansible_host to its address."),
        ("root@w1: Permission denied (publickey,password).", "Check ansible_user and its key or password."),
        ("Host key verification failed.", "Put its key into known_hosts."),
    ],
)
def test_a_host_that_cannot_be_reached_is_told_with_the_words_of_ssh(said: str, remedy: str) -> None:
    text = unreached({"unreachable": True, "msg": SSH + said}, None, "w1")
    assert text.startswith(f"Host w1 cannot be reached: {said.rstrip('.')}. {remedy}")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (NO_PYTHON, "The module interpreter '/usr/bin/python9' was not found."),
        (NO_PYTHON_2_17, "/bin/sh: 1: /usr/bin/python9: not found."),
        (SHIM, "pyenv: python3.13: command not found."),
    ],
    ids=["2.19", "2.17", "shim"],
)
def test_a_host_without_python_is_told_so(result: dict[str, Any], reason: str) -> None:
    assert unreached(result, result, "w1") == (
        f"Host w1 can be reached, but its Python does not work: {reason} Install Python 3 there, or say where it is "
        "with ansible_python_interpreter."
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (SUDO, "sudo: a password is required."),
        ({"msg": "Missing sudo password"}, "Missing sudo password."),
        ({"msg": "Incorrect sudo password"}, "Incorrect sudo password."),
    ],
)
def test_a_host_on_which_nobody_else_may_be_become_is_told_so(result: dict[str, Any], reason: str) -> None:
    text = unreached(result, PONG, "w1")
    assert text.startswith(
        f"Host w1 can be reached, but its user cannot become another one (become): {reason} Give the password with "
    )


def test_what_else_goes_wrong_is_told_as_it_is() -> None:
    text = unreached({"msg": "Failed to create temporary directory."}, None, "w1")
    assert text == "Host w1 can be reached, but cannot run modules: Failed to create temporary directory."


def test_a_result_that_says_nothing_gives_a_sentence_nevertheless() -> None:
    assert unreached({}, None, "w1") == "Host w1 can be reached, but cannot run modules: it gave no reason."


@pytest.mark.parametrize("packages", ["apt", "dnf", "dnf5"])
def test_packages_that_the_role_can_upgrade_are_no_hindrance(packages: str) -> None:
    assert unmanaged(packages, "w1") == ""


@pytest.mark.parametrize(
    ("packages", "said"),
    [("zypper", "managed by zypper,"), ("", "managed by a package manager that Ansible does not know,")],
)
def test_packages_that_the_role_cannot_upgrade_are_said(packages: str, said: str) -> None:
    end = "which this role cannot upgrade. Set node_patch_tasks to a task file that does."
    assert unmanaged(packages, "w1") == f"The packages of w1 are {said} {end}"


def test_a_patch_of_ones_own_is_at_home_everywhere() -> None:
    assert unmanaged("zypper", "w1", upgrades=False) == ""


@pytest.mark.parametrize("rc", [1, 2], ids=["dnf", "dnf5"])
def test_a_host_that_cannot_say_whether_it_needs_a_reboot_is_said(rc: int) -> None:
    said = unmanaged("dnf", "w1", upgrades=False, hint={"rc": rc})
    assert said.startswith("On w1, dnf does not know needs-restarting, which says whether a reboot is needed. Install ")


@pytest.mark.parametrize("hint", [{"rc": 0}, {"skipped": True}])
def test_a_host_that_can_say_it_is_no_hindrance(hint: dict[str, Any]) -> None:
    assert unmanaged("dnf", "w1", hint=hint) == ""
