# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An etcd that is restored from a backup while a task runs: versions go back, and watches fall silent."""

from __future__ import annotations

import pytest

from drain.situations import app
from kubesim import builders
from stage import Scene, drained


@pytest.mark.parametrize("at", [1, 5, 12])
def test_a_drain_goes_on_after_a_restore(at: float) -> None:
    held = builders.budget("db", selector={"app": "db"}, min_available=1)
    scene = Scene(*app("web", term=15), *app("db", term=15), held)
    scene.agenda.after(at, lambda: scene.cluster.restore(500))
    scene.agenda.after(20, lambda: scene.store.delete("PodDisruptionBudget", "default", "db"))
    result = scene.run()
    assert (result["failed"], drained(result), scene.seconds < 110) == (False, ["db-0", "web-0"], True)
