# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of the controller a module gets to use."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail, AnsibleError

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.files import ActionWithFiles


class Files(ActionWithFiles):
    """The plugin, with a folder in place of Ansible's search path. there: paths that the target has."""

    def __init__(self, folder: Path, transport: str = "ssh", become: bool = False, there: tuple[str, ...] = ()) -> None:
        self._folder, self._there = folder, there
        self._connection = SimpleNamespace(
            transport=transport, become=become, _shell=SimpleNamespace(tmpdir="/tmp/t", join_path=os.path.join)
        )
        self._loader = SimpleNamespace(get_real_file=self._real)
        self.copied: list[tuple[str, str]] = []

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        raise NotImplementedError

    def _real(self, path: str, decrypt: bool) -> str:
        return "/decrypted" if path.endswith("vaulted") else path

    def _find_needle(self, dirname: str, needle: str) -> str:
        found = self._folder / needle
        if not found.exists():
            raise AnsibleError("no " + needle)
        return str(found)

    def _low_level_execute_command(self, command: str) -> dict[str, Any]:
        return {"rc": 0 if command.removeprefix("test -r ").strip("'") in self._there else 1}

    def _transfer_file(self, local_path: str, remote_path: str) -> None:
        self.copied.append((local_path, remote_path))

    def _fixup_perms2(self, paths: list[str], execute: bool) -> None:
        pass

    def args(self, **args: Any) -> dict[str, Any]:
        self._task = SimpleNamespace(args=args)
        return self._usable_args()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    for name in ("kc", "vaulted", "web.yml"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_kubeconfig_on_the_controller_is_found_where_ansible_looks(here: Path) -> None:
    assert Files(here, "local").args(kubeconfig="kc:gone") == {"kubeconfig": f"{here}/kc:gone"}


def test_a_kubeconfig_in_a_vault_is_decrypted(here: Path) -> None:
    assert Files(here, "local").args(kubeconfig="vaulted") == {"kubeconfig": "/decrypted"}


def test_a_vault_without_its_password_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(path: str, decrypt: bool) -> str:
        raise AnsibleError("A vault password or secret must be specified")

    files = Files(here, "local")
    files._loader = SimpleNamespace(get_real_file=locked)
    with pytest.raises(
        AnsibleActionFail, match=r"cannot decrypt .*/vaulted, which is in an Ansible vault: A vault pass"
    ):
        files.args(kubeconfig="vaulted")


def test_a_file_that_only_another_user_may_read_is_left_to_him(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert Files(here, "local", become=True).args(kubeconfig="kc") == {"kubeconfig": "kc"}


def test_a_kubeconfig_of_the_controller_is_copied_to_a_target_that_does_not_have_it(here: Path) -> None:
    files = Files(here)
    assert (files.args(kubeconfig="kc"), files.copied) == (
        {"kubeconfig": "/tmp/t/kubeconfig-0"},
        [(f"{here}/kc", "/tmp/t/kubeconfig-0")],
    )


def test_a_kubeconfig_that_the_target_has_is_used(here: Path) -> None:
    files = Files(here, there=("kc",))
    assert (files.args(kubeconfig="kc"), files.copied) == ({"kubeconfig": "kc"}, [])


def test_another_user_of_the_controller_gets_a_copy_of_what_he_may_not_read(here: Path) -> None:
    assert Files(here, "local", become=True).args(kubeconfig="kc") == {"kubeconfig": "/tmp/t/kubeconfig-0"}
    assert Files(here, "local", True, (f"{here}/kc",)).args(kubeconfig="kc") == {"kubeconfig": f"{here}/kc"}


def test_a_kubeconfig_that_is_nowhere_on_the_controller_is_left_to_the_module(here: Path) -> None:
    assert Files(here).args(kubeconfig="gone", name="w1") == {"kubeconfig": "gone", "name": "w1"}


def test_a_kubeconfig_as_a_dictionary_is_passed_on(here: Path) -> None:
    assert Files(here).args(kubeconfig={"clusters": []}) == {"kubeconfig": {"clusters": []}}


def test_manifests_are_found_where_ansible_looks_and_only_on_the_controller(here: Path) -> None:
    assert Files(here, "local").args(src=["web.yml", "gone.yml"]) == {"src": [f"{here}/web.yml", "gone.yml"]}
    assert Files(here).args(src="web.yml") == {"src": "web.yml"}
