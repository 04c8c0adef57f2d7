# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A drain of sixty pods under two hundred faults ends as one without any, or in time with a reason for every pod."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import MaintenanceError
from chaos.mischief import MOST, Mischief
from chaos.trial import Trial, undisturbed

LIMIT = 900


def options_of(seed: int) -> tuple[dict[str, str], bool]:
    """Return module parameters, and whether volumes are waited for."""
    return ({"cordon_owner": "job"} if seed % 2 else {}), seed % 3 == 0


@pytest.mark.parametrize("seed", range(50))
def test_a_drain_under_two_hundred_faults_ends_as_an_undisturbed_one(seed: int) -> None:
    params, volumes = options_of(seed)
    trial = Trial(seed, volumes=volumes)
    result = trial.run(LIMIT, **params)
    # Shown if what follows fails; the same seed gives the same story.
    print(trial.story(), result["msg"], result["warnings"], sep="\n")
    assert isinstance(trial.mischief, Mischief)
    assert (trial.faults_of(result, LIMIT), trial.mischief.struck) == ([], MOST)
    assert trial.end_state(result) == undisturbed(volumes, **params)


@pytest.mark.parametrize("seed", range(100, 120))
def test_a_drain_that_has_too_little_time_ends_in_time_and_says_what_is_left(seed: int) -> None:
    params, volumes = options_of(seed)
    limit = 10 + 2 * (seed - 100)
    trial = Trial(seed, volumes=volumes)
    try:
        result = trial.run(limit, **params)
    except MaintenanceError as exc:
        print(trial.story(), exc, sep="\n")
        assert trial.is_untouched()
        assert trial.scene.seconds <= limit + 1
        return
    print(trial.story(), result["msg"], result["warnings"], sep="\n")
    assert trial.faults_of(result, limit) == []
    # Nobody can know of those that landed while the API server was away.
    assert trial.left() & set(trial.before) - {pod["uid"] for pod in result["pending_pods"]} == set()
