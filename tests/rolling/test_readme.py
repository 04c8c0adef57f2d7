# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the README has a newcomer type works as it stands there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from embedded_cluster import EmbeddedCluster
from places import ROOT, environment, link

PATIENCE = 240.0


def commands_of(readme: str) -> list[str]:
    """Return the commands of the block that starts a simulated cluster, each with its continuation lines."""
    (block,) = [text for text in re.findall(r"(?:^ {4}.*\n)+", readme, re.MULTILINE) if "-m kubesim" in text]
    return re.sub(r"^ {4}", "", block, flags=re.MULTILINE).replace("\\\n", "").splitlines()


def test_the_commands_for_playbooks_of_ones_own_work(tmp_path: Path) -> None:
    start, *others = commands_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert start.startswith(
        "PYTHONPATH=tests .venv/bin/python -m kubesim --scenario demo --kubeconfig /tmp/demo-cluster "
    )
    script = "set -e\n" + "\n".join(others)
    link()
    with EmbeddedCluster(tmp_path / "kubesim", "demo") as cluster:
        script = script.replace("/tmp/demo-cluster", str(cluster.kubeconfig)).replace("/tmp/demo-", f"{tmp_path}/demo-")
        played = subprocess.run(
            ["bash", "-c", script],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert (played.returncode, "5 nodes in 5 rounds: " in played.stdout) == (0, True), played.stdout + played.stderr
