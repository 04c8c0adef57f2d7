# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How options that a user writes as texts are read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.role_vars import RoleVars

Role = Callable[..., RoleVars]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, []),
        ("", []),
        ("a.yml", ["a.yml"]),
        ("[a.yml, b.yml]", ["a.yml", "b.yml"]),
        (["a.yml", ["b.yml"]], ["a.yml", "b.yml"]),
    ],
)
def test_a_list_may_be_a_text(role: Role, given: object, read: list[str]) -> None:
    assert role(node_patch_pre_hooks=given).strings("node_patch_pre_hooks") == read


@pytest.mark.parametrize("given", ["[a.yml", "a: b: c", "2024-13-45", "&a [*a]", "'"])
def test_a_text_that_is_not_valid_yaml_is_refused_with_the_variable(role: Role, given: str) -> None:
    with pytest.raises(AnsibleActionFail) as raised:
        role(node_patch_pre_hooks=given).strings("node_patch_pre_hooks")
    assert str(raised.value) == "The variable node_patch_pre_hooks is not valid YAML: give a list, or one name."
