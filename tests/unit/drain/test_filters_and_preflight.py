# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods a drain evicts, skips, and refuses to start for, without any change."""

from __future__ import annotations

from typing import Any

import pytest

from drain.situations import agent, app, reasons, skips
from kubesim import builders
from stage import Scene, drained

BARE = builders.pod("bare", node_name="w1")


def untouched(scene: Scene) -> bool:
    return not scene.requests("PATCH") and not scene.requests("POST") and not scene.requests("DELETE")


@pytest.mark.parametrize(
    "pods, reason, option",
    [
        ([BARE], "unmanaged", "delete_options.force"),
        (app("cache", emptydir=True), "emptydir", "delete_options.delete_emptydir_data"),
        (agent(), "daemonset", "delete_options.ignore_daemonsets"),
    ],
)
def test_a_pod_that_the_options_do_not_allow_fails_the_preflight(
    pods: list[dict[str, Any]], reason: str, option: str
) -> None:
    scene = Scene(*pods, *app("web"))
    result = scene.run()
    assert (result["failed"], result["changed"], untouched(scene)) == (True, False, True)
    assert list(reasons(result).values()) == [reason]
    assert option in result["msg"]
    assert "default/" in result["msg"]


def test_all_blocked_pods_are_reported_at_once() -> None:
    scene = Scene(*agent(), BARE, builders.pod("both", node_name="w1", emptydir=True), *app("cache", emptydir=True))
    result = scene.run()
    assert reasons(result) == {
        "DaemonSet/agent": "daemonset",
        "bare": "unmanaged",
        "both": "emptydir",
        "cache-0": "emptydir",
    }
    both = next(pod for pod in result["pending_pods"] if pod["name"] == "both")
    assert "emptyDir" in both["message"] and "no controller" in both["message"]


def test_delete_emptydir_data_does_not_allow_a_pod_without_a_controller() -> None:
    scene = Scene(builders.pod("both", node_name="w1", emptydir=True))
    assert reasons(scene.run(delete_options={"delete_emptydir_data": True})) == {"both": "unmanaged"}


@pytest.mark.parametrize(
    "pods, options, gone, left",
    [
        ([BARE], {"force": True}, ["bare"], {}),
        (app("cache", emptydir=True), {"delete_emptydir_data": True}, ["cache-0"], {}),
        (agent(), {"ignore_daemonsets": True}, [], {"DaemonSet/agent": "daemonset"}),
        (
            agent(emptydir=True),
            {"ignore_daemonsets": True, "delete_emptydir_data": True},
            [],
            {"DaemonSet/agent": "daemonset"},
        ),
        ([builders.pod("done", node_name="w1", phase="Succeeded")], {}, ["done"], {}),
        ([builders.pod("broken", node_name="w1", phase="Failed", emptydir=True)], {}, ["broken"], {}),
        ([builders.pod("kube-apiserver-w1", node_name="w1", mirror=True)], {}, [], {"kube-apiserver-w1": "mirror"}),
        ([builders.pod("static", node_name="w1", mirror=True, emptydir=True)], {}, [], {"static": "mirror"}),
    ],
)
def test_evicted_and_skipped_pods(
    pods: list[dict[str, Any]], options: dict[str, Any], gone: list[str], left: dict[str, str]
) -> None:
    scene = Scene(*pods)
    result = scene.run(delete_options=options)
    assert (result["failed"], drained(result), skips(result)) == (False, gone, left)


def test_every_loss_by_an_eviction_is_a_warning() -> None:
    scene = Scene(builders.pod("both", node_name="w1", emptydir=True))
    result = scene.run(delete_options={"force": True, "delete_emptydir_data": True})
    assert result["warnings"] == [
        "w1: default/both: no controller will recreate it",
        "w1: default/both: the data in its emptyDir volumes will be lost",
    ]


def orphan() -> dict[str, Any]:
    # The finalizer keeps the garbage collector from deleting it.
    return builders.pod("agent-x", node_name="w1", owner="DaemonSet/agent", finalizers=["example.com/hold"])


def test_a_pod_whose_daemonset_does_not_exist_fails_the_preflight() -> None:
    scene = Scene(orphan())
    result = scene.run(delete_options={"ignore_daemonsets": True})
    assert (reasons(result), untouched(scene)) == ({"DaemonSet/agent": "daemonset_gone"}, True)


def test_a_daemonset_that_may_not_be_read_counts_as_existing() -> None:
    scene = Scene(*agent())
    scene.faults.add({"path": "/daemonsets/", "status": 403, "times": 0})
    result = scene.run(delete_options={"ignore_daemonsets": True, "force": True})
    assert (result["failed"], skips(result)) == (False, {"DaemonSet/agent": "daemonset"})
    assert result["warnings"] == ["DaemonSet default/agent may not be read, so it is assumed to exist"]


def test_a_daemonset_counts_as_existing_if_a_404_is_not_from_the_api_server() -> None:
    scene = Scene(*agent())
    scene.faults.add({"path": "/daemonsets/", "status": 404, "times": 0})
    result = scene.run(delete_options={"ignore_daemonsets": True, "force": True})
    assert (result["failed"], skips(result)) == (False, {"DaemonSet/agent": "daemonset"})


def test_each_daemonset_is_read_once_and_no_other_owner() -> None:
    scene = Scene(*agent(), *[obj for n in range(20) for obj in app(f"web{n}")], builders.job("batch"))
    scene.run(delete_options={"ignore_daemonsets": True})
    assert [r.path.split("/")[-2:] for r in scene.requests("GET", "/apis/apps")] == [["daemonsets", "agent"]]


def test_filters_apply_to_pods_selected_by_label_too() -> None:
    scene = Scene(*agent(), *app("web"))
    result = scene.run(pod_selectors=["app=agent"], delete_options={"ignore_daemonsets": True})
    assert (skips(result), drained(result), scene.requests("POST")) == ({"DaemonSet/agent": "daemonset"}, [], [])


def test_pods_that_do_not_match_pod_selectors_are_neither_checked_nor_evicted() -> None:
    scene = Scene(*app("web"), BARE)
    result = scene.run(pod_selectors=["app=web"])
    assert (result["failed"], drained(result), "bare" in scene.pods()) == (False, ["web-0"], True)


def test_pods_that_do_not_match_pod_selectors_are_counted_without_those_that_every_drain_skips() -> None:
    scene = Scene(*app("web", term=0), *agent(), BARE, builders.pod("other", node_name="w1"))
    result = scene.run(pod_selectors=["app=web"])
    assert result["msg"] == "Drained w1: 1 pod gone in 0 s, 2 pods that do not match pod_selectors stay."
    assert result["warnings"] == []


def test_pod_selectors_that_match_nothing_on_any_node_are_a_warning() -> None:
    scene = Scene(*app("web"), nodes=("w1", "w2"))
    result = scene.run(name=["w1", "w2"], pod_selectors=["app=wbe"])
    assert result["msg"].endswith("0 pods gone in 0 s, 1 pod that does not match pod_selectors stays.")
    assert result["warnings"] == [
        "no pod on w1, w2 matches pod_selectors app=wbe: check them, unless those pods are gone already"
    ]


def test_pod_selectors_that_match_on_one_node_only_are_not_a_warning() -> None:
    scene = Scene(*app("web"), builders.pod("other", node_name="w2"), nodes=("w1", "w2"))
    assert scene.run(name=["w1", "w2"], pod_selectors=["app=web"])["warnings"] == []


def test_check_mode_counts_the_pods_that_do_not_match_pod_selectors() -> None:
    result = Scene(*app("web"), BARE).run(pod_selectors=["app=web"], check_mode=True)
    assert result["msg"] == "Would drain w1: 1 pod would be evicted now, 1 pod that does not match pod_selectors stays."


def test_without_preflight_the_blocked_pod_fails_and_the_others_are_evicted() -> None:
    scene = Scene(BARE, *app("web"))
    result = scene.run(preflight="skip")
    assert (reasons(result), drained(result), scene.cordoned()) == ({"bare": "unmanaged"}, ["web-0"], True)


def test_a_blocked_pod_that_is_created_later_fails_the_drain_and_the_others_are_evicted() -> None:
    scene = Scene(*app("web", term=5))
    scene.agenda.after(2, lambda: scene.store.create(builders.pod("late", node_name="w1")))
    result = scene.run()
    assert (reasons(result), drained(result)) == ({"late": "unmanaged"}, ["web-0"])


def test_a_node_with_null_names_in_its_images_is_drained() -> None:
    scene = Scene(*app("web"))
    scene.store.mutate("Node", None, "w1", lambda node: node["status"].update(images=[{"names": None, "sizeBytes": 1}]))
    assert scene.run()["failed"] is False
