# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook upgrade when all is well: the preflight, the rolling patch, and a second run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from patched_cluster import NEW_KUBELET, OLD_KUBELET, PatchedCluster, Played, hosts, rules_of

from places import ROOT

HOOK = """---
- name: Hook WHEN
  ansible.builtin.debug:
    msg: WHEN {{ node_patch_node }}
"""


class Story(NamedTuple):
    preflight: Played
    changes_of_preflight: list[str]
    patch: Played
    kubelets: dict[str, str]
    cordoned: list[str]
    locks: list[str]
    violations: list[Any]
    second: Played
    changes_of_second: list[str]
    forbidden: list[str]


@pytest.fixture(scope="module")
def story(cluster: PatchedCluster) -> Story:
    """Check, patch and patch again; w2 has another name in the inventory and was cordoned before; w3 is in none.

    The account has the rights of the manifest in the documentation.
    """
    manifest = yaml.safe_load(Path(ROOT, "docs", "rbac", "node-patch.yml").read_text(encoding="utf-8"))["items"]
    cluster.fill(workers=4, control_plane=1)
    cluster.call("PATCH", "/api/v1/nodes/w2", {"spec": {"unschedulable": True}}, "application/merge-patch+json")
    machines = {**hosts("cp1", "w1"), "machine-2.example.org": {"node_patch_node": "w2"}}
    hooks = {"node_patch_pre_hooks": ["before.yml"], "node_patch_post_hooks": ["after.yml"]}
    for name in ("before", "after"):
        cluster.write(f"{name}.yml", HOOK.replace("WHEN", name))
    cluster.inventory(
        machines,
        node_patch_connection=cluster.account(rules_of(manifest)),
        node_patch_lock=True,
        node_patch_kubelet_version=NEW_KUBELET,
        node_patch_report_junit=str(cluster.place / "report.xml"),
        upgrade_serial=2,
        **hooks,
    )
    cluster.control("DELETE", "requests")
    preflight = cluster.play("upgrade", "--check")
    after_preflight, forbidden = cluster.changes(), cluster.forbidden()
    patch = cluster.play("upgrade")
    state = (cluster.kubelets(), cluster.cordoned(), cluster.locks(), cluster.control("GET", "violations"))
    forbidden += cluster.forbidden()
    cluster.control("DELETE", "requests")
    second = cluster.play("upgrade")
    return Story(preflight, after_preflight, patch, *state, second, cluster.changes(), forbidden + cluster.forbidden())


def test_the_preflight_succeeds(story: Story) -> None:
    assert story.preflight.status == 0, story.preflight.output


def test_the_preflight_changes_nothing(story: Story) -> None:
    assert story.changes_of_preflight == []


def test_the_preflight_shows_the_states_and_the_rounds(story: Story) -> None:
    assert set(story.preflight.states().values()) == {"ready"}
    assert "\n3 nodes in 2 rounds: w1, machine-2.example.org; cp1\n" in story.preflight.output


def test_an_earlier_cordon_is_reported_by_the_preflight(story: Story) -> None:
    messages = {node: record["message"] for node, record in story.preflight.records.items()}
    assert messages == {"cp1": "", "w1": "", "w2": "is cordoned, and stays so"}


def test_every_node_is_patched(story: Story) -> None:
    assert story.patch.status == 0, story.patch.output
    assert story.patch.states() == {"cp1": "done", "w1": "done", "w2": "done"}
    assert story.kubelets == {
        **dict.fromkeys(("cp1", "w1", "w2"), NEW_KUBELET),
        **dict.fromkeys(("w3", "w4"), OLD_KUBELET),
    }


def test_the_rights_of_the_manifest_are_enough(story: Story) -> None:
    assert (story.patch.status, story.forbidden) == (0, [])


def test_every_reboot_is_proven(story: Story) -> None:
    assert all(record["rebooted"] for record in story.patch.records.values())


def test_an_earlier_cordon_stays(story: Story) -> None:
    assert story.cordoned == ["w2"]
    assert story.patch.records["w2"]["message"] == "stays cordoned, as it was before"


def test_no_lock_and_no_violated_budget_is_left(story: Story) -> None:
    assert (story.locks, story.violations) == ([], [])


def test_the_control_plane_goes_last(story: Story) -> None:
    output = story.patch.output
    assert output.index("before w1") < output.index("before cp1")


def test_hooks_run_before_and_after(story: Story) -> None:
    output = story.patch.output
    assert output.index("before w1") < output.index("after w1")


def test_a_second_run_skips_what_is_done(story: Story) -> None:
    assert story.second.status == 0, story.second.output
    assert set(story.second.states().values()) == {"skipped"}
    assert story.changes_of_second == []
    assert "\nNothing to do: all nodes are skipped.\n" in story.second.output
    end = " in campaign v1.36.3; -e node_patch_done_hours=0 patches it again; is cordoned, and stays so"
    assert story.second.records["w2"]["message"].endswith(end)


def test_the_table_and_junit_show_every_node(story: Story, cluster: PatchedCluster) -> None:
    assert "\nnode  state  pods" in story.patch.output
    assert 'tests="3" failures="0" skipped="3"' in (cluster.place / "report.xml").read_text(encoding="utf-8")
