# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables as the role's action plugins see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.plugin_utils.node_patch.role_vars import RoleVars

OPTIONS = {
    "node_patch_node": "w1",
    "node_patch_owner": "node-patch",
    "node_patch_campaign": "c",
    "node_patch_done_hours": 24,
    "node_patch_kubelet_version": "",
    "node_patch_reboot": "auto",
    "node_patch_heal": "wait",
    "node_patch_drain_failure": "fail",
    "node_patch_after_failure": "stop",
}


class Templar:
    """Leaves values as they are, and refuses what must not be templated: texts of the cluster."""

    def evaluate_expression(self) -> None: ...

    def template(self, value: Any) -> Any:
        assert "{{" not in str(value)
        return value


@pytest.fixture
def role() -> Callable[..., RoleVars]:
    """Return a function that makes the variables of the host w1, those of a play with w1, w2 and w3."""

    def made(records: dict[str, dict[str, Any]] | None = None, **variables: Any) -> RoleVars:
        hosts = ["w1", "w2", "w3"]
        hostvars = {host: {"node_patch_record": record} for host, record in (records or {}).items()}
        play: dict[str, Any] = dict.fromkeys(("ansible_play_hosts_all", "ansible_play_hosts"), hosts)
        play.update(ansible_play_batch=["w1", "w2"], hostvars={**{host: {} for host in hosts}, **hostvars})
        return RoleVars({"inventory_hostname": "w1", **play, **OPTIONS, **variables}, Templar())

    return made
