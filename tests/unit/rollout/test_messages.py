# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each reason for which a pod is not ready comes with what somebody can do."""

from __future__ import annotations

import re

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.messages import with_remedy
from ansible_collections.kubeops.maintenance.plugins.module_utils.rollout.pod_status import Problem
from ansible_collections.kubeops.maintenance.plugins.modules import k8s_rollout_status

_PODS = yaml.safe_load(k8s_rollout_status.RETURN)["pending_pods"]["contains"]
REASONS = re.findall(r"^V\((\w+)\), ", "\n".join(_PODS["reason"]["description"]), re.MULTILINE)


def test_the_documentation_lists_the_reasons() -> None:
    assert (len(REASONS), REASONS[0], REASONS[-1]) == (20, "image_pull", "forbidden")


# The words for a paused Deployment hold its remedy.
@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason != "paused"])
def test_a_reason_has_a_remedy(reason: str) -> None:
    assert with_remedy(Problem(reason, "what is wrong.")).startswith("what is wrong; ")
