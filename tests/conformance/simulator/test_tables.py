# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns that kubectl prints."""

from __future__ import annotations

from typing import Any

import pytest

from kubesim import builders
from kubesim.agenda import TEST_EPOCH, timestamp
from kubesim.api.tables import table


def cells(kind: str, obj: dict[str, Any]) -> list[Any]:
    found: list[Any] = table(kind, [obj], TEST_EPOCH)["rows"][0]["cells"]
    return found


def test_an_event_begins_with_when_it_was_last_told() -> None:
    event = {
        "metadata": {"name": "web.1"},
        "involvedObject": {"kind": "Pod", "name": "web"},
        "type": "Warning",
        "reason": "Failed",
        "message": "no",
        "lastTimestamp": timestamp(TEST_EPOCH - 65),
    }
    assert cells("Event", event) == ["65s", "Warning", "Failed", "pod/web", "no"]


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"running": {}}, "Init:0/1"),
        ({"waiting": {"reason": "CrashLoopBackOff"}}, "Init:CrashLoopBackOff"),
        ({"terminated": {"exitCode": 2, "reason": "Error"}}, "Init:Error"),
        ({"terminated": {"exitCode": 0}}, "Running"),
    ],
)
def test_a_pod_shows_how_its_init_container_stands(state: dict[str, Any], text: str) -> None:
    pod = builders.pod("web")
    pod["status"]["initContainerStatuses"] = [{"name": "setup", "state": state, "started": False, "ready": False}]
    assert cells("Pod", pod)[2] == text
