# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clocks of the controller and of the API server that disagree by minutes or hours."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import clock_lead
from drain.situations import app, reasons
from kubesim.agenda import TEST_EPOCH
from stage import Scene, drained

SKEWS = [-7200, -300, 0, 300, 7200]


def skewed(skew: int, term: int) -> Scene:
    """Return a scene whose controller's clock is ahead by so many seconds; the server dates its answers."""
    scene = Scene(*app("web", term=term))
    right = scene.clock.wall
    scene.clock.wall = lambda: right() + skew  # type: ignore[method-assign]
    date = formatdate(scene.agenda.now, usegmt=True)
    node = scene.store.get("Node", None, "w1")
    scene.faults.add({"method": "GET", "path": "/nodes/w1", "json": node, "headers": {"Date": date}})
    return scene


@pytest.mark.parametrize("skew", SKEWS)
def test_a_pod_that_shuts_down_in_time_is_never_taken_for_one_of_a_dead_kubelet(skew: int) -> None:
    scene = skewed(skew, term=3)
    result = scene.run(delete_options={"skip_wait_for_delete_timeout": 60})
    assert (result["failed"], drained(result), scene.pods()) == (False, ["web-0"], [])


@pytest.mark.parametrize("skew", SKEWS)
def test_how_long_a_pod_may_still_take_is_told_by_the_servers_clock(skew: int) -> None:
    result = skewed(skew, term=20).run(delete_options={"wait_timeout": 5})
    assert reasons(result) == {"web-0": "terminating"}
    assert result["pending_pods"][0]["message"] == (
        "terminating, and may take 25 s more: give the task more time (delete_options.wait_timeout)"
    )


@pytest.mark.parametrize("skew", SKEWS)
def test_a_running_grace_period_is_shortened_whatever_the_time_is(skew: int) -> None:
    scene = skewed(skew, term=500)
    scene.store.delete("Pod", "default", "web-0", 600)
    result = scene.run(delete_options={"terminate_grace_period": 5, "wait_timeout": 60})
    assert (len(scene.requests("POST", "/eviction")), result["changed"]) == (1, True)


@pytest.mark.parametrize(
    "date", [None, "", "soon", 7, "Wed, 99 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT"]
)
def test_a_date_that_cannot_be_read_changes_nothing(date: object) -> None:
    assert clock_lead(date, TEST_EPOCH, 300.0) == 300.0


@pytest.mark.parametrize(("ahead", "lead"), [(-3600, -3600.0), (-5, 0.0), (5, 0.0), (60, 60.0)])
def test_a_few_seconds_are_no_disagreement(ahead: int, lead: float) -> None:
    assert clock_lead(formatdate(TEST_EPOCH + ahead, usegmt=True), TEST_EPOCH, 7.0) == lead
