# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one answer alone tells and nothing else confirms: pods, nodes and rights that are gone for a moment."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration, Unreachable
from drain.situations import EVICTION, app, reasons, status
from kubesim import builders
from stage import ConcurrentScene, Scene, drained

PODS = {"method": "GET", "path": "/api/v1/pods\\?(?!.*watch)"}
NODE = {"method": "GET", "path": "/nodes/w1"}
UNKNOWN = status(404, 'nodes "w1" not found', "NotFound", name="w1", kind="nodes")
EMPTY = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}
CHECK = 3  # the lists of a node's pods are those of the plan, of the watch, and of the check at the end


def chosen(*names: str, term: float = 5) -> list[dict[str, Any]]:
    """Return pods <name>-0 on w1 with the label tier=a that take some seconds to end."""
    objects = [obj for name in names for obj in app(name, term=term)]
    for obj in objects:
        if obj["kind"] == "Pod":
            obj["metadata"]["labels"]["tier"] = "a"
    return objects


def unlabel(scene: Scene, name: str = "web-0") -> None:
    """Take the label tier from a pod."""
    scene.store.mutate("Pod", "default", name, lambda pod: pod["metadata"]["labels"].pop("tier"))


def end(result: dict[str, Any]) -> tuple[bool, list[str], str]:
    """Return whether a drain failed, which pods went, and what it says."""
    return result["failed"], drained(result), result["msg"] if result["failed"] else ""


@pytest.mark.parametrize("answer", [{"status": 403}, {"status": 404, "json": UNKNOWN}, {"json": {"kind": "Other"}}])
@pytest.mark.parametrize("path", [PODS["path"], NODE["path"]])
def test_a_wrong_answer_to_the_last_check_that_passes_fails_no_node(path: str, answer: dict[str, Any]) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({"method": "GET", "path": path, "after": CHECK - 1, "times": 2, **answer})
    assert end(scene.run()) == (False, ["web-0"], "")


def test_a_right_that_is_gone_for_good_ends_the_last_check_within_half_a_minute() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**PODS, "after": CHECK - 1, "times": 0, "status": 403})
    result = scene.run()
    assert (result["failed"], "simulated failure 403" in result["msg"], scene.seconds < 35) == (True, True, True)


def test_what_kept_the_last_check_from_succeeding_is_said_when_time_is_up() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**PODS, "after": CHECK - 1, "times": 0, "status": 403})
    result = scene.run(delete_options={"wait_timeout": 8})
    assert (result["failed"], "simulated failure 403" in result["msg"], 8 <= scene.seconds <= 9) == (True, True, True)


def test_a_node_is_taken_to_have_left_only_after_a_second_look() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**NODE, "after": 2, "status": 404, "json": UNKNOWN})
    result = scene.run()
    assert (result["failed"], result["nodes"][0]["warnings"], scene.cordoned()) == (False, [], True)


def test_a_refused_pod_is_taken_to_be_gone_only_after_a_second_look() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "status": 403, "times": 0})
    scene.faults.add({**PODS, "after": 2, "json": EMPTY})
    result = scene.run(preflight="skip")
    assert (result["failed"], reasons(result)) == (True, {"web-0": "forbidden"})


@pytest.mark.parametrize("answer", [{"status": 403}, {"status": 404, "json": UNKNOWN}])
def test_pods_are_followed_on_when_one_list_in_the_middle_is_refused(answer: dict[str, Any]) -> None:
    scene = Scene(*app("web", term=20))
    scene.faults.add({**PODS, "after": 2, **answer})
    scene.faults.add({"path": "watch=true", "watch": "expire"})
    assert end(scene.run()) == (False, ["web-0"], "")


def test_a_pod_that_loses_its_label_while_it_ends_is_waited_for() -> None:
    scene = Scene(*chosen("web", "db", term=20))
    scene.agenda.after(5, lambda: unlabel(scene))
    result = scene.run(pod_selectors=["tier=a"])
    assert (end(result), scene.pods(), 20 <= scene.seconds <= 25) == ((False, ["db-0", "web-0"], ""), [], True)


def test_a_pod_that_somebody_else_deleted_and_that_loses_its_label_is_waited_for() -> None:
    scene = Scene(*chosen("web", term=20))
    scene.store.delete("Pod", "default", "web-0")
    scene.agenda.after(5, lambda: unlabel(scene))
    assert (scene.run(pod_selectors=["tier=a"])["failed"], scene.pods()) == (False, [])


def test_a_pod_that_loses_its_label_while_it_ends_is_reported_when_time_is_up() -> None:
    scene = Scene(*chosen("web", term=60))
    scene.agenda.after(5, lambda: unlabel(scene))
    result = scene.run(pod_selectors=["tier=a"], delete_options={"wait_timeout": 20})
    assert (result["failed"], reasons(result), drained(result)) == (True, {"web-0": "terminating"}, [])


def test_a_pod_that_loses_its_label_before_it_is_asked_to_go_is_left_alone() -> None:
    scene = Scene(*chosen("web"), builders.budget("web", selector={"app": "web"}, min_available=1))
    scene.agenda.after(5, lambda: unlabel(scene))
    assert end(scene.run(pod_selectors=["tier=a"])) == (False, [], "")
    assert scene.pods() == ["web-0"]


@pytest.mark.parametrize("seed", range(5))
def test_labels_lost_at_any_moment_hide_no_pod(seed: int) -> None:
    scene = ConcurrentScene(*chosen("a", "b", "c", term=9), seed=seed)
    for number, name in enumerate("abc"):
        scene.agenda.after(0.05 + seed * 0.02 + number * 3, lambda name=name: unlabel(scene, name + "-0"))
    result = scene.run(pod_selectors=["tier=a"])
    going = [pod for pod in scene.store.list("Pod") if pod["metadata"].get("deletionTimestamp")]
    assert (result["failed"], going) == (False, [])


@pytest.mark.parametrize("answer", [{"status": 403}, {"status": 404, "json": UNKNOWN}])
def test_volumes_are_followed_on_when_one_list_in_the_middle_is_refused(answer: dict[str, Any]) -> None:
    volume = {"metadata": {"name": "at"}, "spec": {"nodeName": "w1", "source": {"persistentVolumeName": "pv"}}}
    volume = {"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", **volume}
    scene = Scene(volume, controllers=False)
    scene.faults.add({"path": "volumeattachments.*watch", "times": 2, "watch": "expire"})
    scene.faults.add({"path": r"volumeattachments(?!.*watch)", "after": 2, "times": 2, **answer})
    scene.agenda.after(20, lambda: scene.store.delete("VolumeAttachment", None, "at"))
    assert scene.run(wait_volume_detach=True)["failed"] is False


@pytest.mark.parametrize("answer", [{"status": 403}, {"status": 404, "json": UNKNOWN}, {"status": 401, "times": 2}])
def test_the_first_list_after_the_cordon_is_asked_for_again(answer: dict[str, Any]) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**PODS, "after": 1, **answer})
    assert end(scene.run()) == (False, ["web-0"], "")


def test_why_pods_could_not_be_listed_is_said_when_time_is_up() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**PODS, "after": 1, "times": 0, "status": 403})
    result = scene.run(delete_options={"wait_timeout": 8})
    assert (result["failed"], "simulated failure 403" in result["msg"], 8 <= scene.seconds <= 9) == (True, True, True)


@pytest.mark.parametrize("answer", [{"status": 403}, {"status": 401, "times": 2}])
@pytest.mark.parametrize("disable_eviction", [False, True])
def test_a_reviewed_right_that_is_denied_for_a_moment_loses_no_pod(
    disable_eviction: bool, answer: dict[str, Any]
) -> None:
    scene = Scene(*app("web", term=3), *app("db", term=3))
    scene.faults.add({"method": "POST|DELETE", "path": "/pods/", **answer})
    result = scene.run(delete_options={"disable_eviction": disable_eviction})
    assert (result["failed"], sorted(drained(result))) == (False, ["db-0", "web-0"])


def test_a_reviewed_right_that_is_denied_for_good_fails_the_pod_within_half_a_minute() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "times": 0, "status": 403})
    result = scene.run()
    assert (reasons(result), len(scene.requests("POST", "/eviction")), scene.seconds) == ({"web-0": "forbidden"}, 6, 17)


def test_a_right_that_was_not_reviewed_is_not_asked_for_twice() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "times": 0, "status": 403})
    result = scene.run(preflight="skip")
    assert (reasons(result), len(scene.requests("POST", "/eviction")), scene.seconds) == ({"web-0": "forbidden"}, 1, 0)


def test_a_right_that_is_still_denied_when_time_is_up_is_named() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "times": 0, "status": 403})
    result = scene.run(delete_options={"wait_timeout": 5})
    assert reasons(result) == {"web-0": "forbidden"}
    assert "the account may not evict it, so grant it that right: simulated failure 403" in result["msg"]


BROKEN = [
    InvalidConfiguration("The credential plugin 'login' ended with exit code 1."),
    Unreachable("the host name in https://cluster.test:6443 cannot be resolved", final=True, kind="name"),
    Unreachable("the certificate of https://cluster.test:6443 is not trusted", final=True),
]


def break_off(scene: ConcurrentScene, error: Exception, after: str, seconds: float) -> None:
    """Let every request fail before it is sent, for so long, once the first of which the text is part was sent."""
    headers, begun = scene.connection.headers, []

    def before(method: str, target: str) -> None:
        if after in "%s %s" % (method, target) and not begun:
            begun.append(scene.agenda.now)

    def broken() -> dict[str, str]:
        if begun and scene.agenda.now < begun[0] + seconds:
            raise error
        return headers()

    scene.line.before = before
    scene.connection.headers = broken  # type: ignore[method-assign]


@pytest.mark.parametrize("error", BROKEN, ids=["plugin", "name", "certificate"])
@pytest.mark.parametrize("preflight", ["standard", "skip"])
@pytest.mark.parametrize("after", ["eviction", "watch=true"])
def test_what_fails_for_a_moment_before_requests_are_sent_loses_no_pod(
    after: str, preflight: str, error: Exception
) -> None:
    scene = ConcurrentScene(*app("web", term=3), *app("db", term=3))
    scene.faults.add({"path": "watch=true", "watch": "expire", "times": 0})
    break_off(scene, error, after, 10)
    result = scene.run(preflight=preflight, eviction_concurrency=1)
    assert (result["failed"], sorted(drained(result))) == (False, ["db-0", "web-0"])


@pytest.mark.parametrize("error", [BROKEN[0], BROKEN[2]], ids=["plugin", "certificate"])
def test_what_fails_for_good_before_requests_are_sent_ends_the_drain_within_half_a_minute(error: Exception) -> None:
    scene = ConcurrentScene(*app("web"))
    scene.faults.add({"path": "watch=true", "watch": "expire", "times": 0})
    break_off(scene, error, "eviction", 1000)
    result = scene.run()
    assert (result["failed"], str(error).rstrip(".") in result["msg"], scene.seconds < 30) == (True, True, True)


def test_an_eviction_that_was_never_sent_is_no_change() -> None:
    scene = ConcurrentScene(*app("web"))
    scene.store.mutate("Node", None, "w1", lambda node: node["spec"].update(unschedulable=True))
    # The node, its pods, and its pods again, with which the drain begins.
    left, headers = iter(range(3)), scene.connection.headers

    def broken() -> dict[str, str]:
        if next(left, None) is None:
            raise BROKEN[0]
        return headers()

    scene.connection.headers = broken  # type: ignore[method-assign]
    result = scene.run(preflight="skip")
    pod = result["pending_pods"][0]
    assert (result["failed"], result["changed"], pod["last_status"]) == (True, False, 0)


@pytest.mark.parametrize("disable_eviction", [False, True])
def test_a_good_answer_that_is_no_answer_to_an_eviction_is_not_believed(disable_eviction: bool) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({"method": "POST|DELETE", "path": "/pods/", "json": {"kind": "Login"}})
    result = scene.run(delete_options={"disable_eviction": disable_eviction})
    assert (end(result), scene.seconds < 5) == ((False, ["web-0"], ""), True)


@pytest.mark.parametrize("code", [400, 404, 405, 410, 422])
def test_a_list_that_was_answered_before_is_asked_for_again_whatever_it_is_answered(code: int) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**PODS, "after": 1, "status": code})
    assert end(scene.run()) == (False, ["web-0"], "")


def test_evictions_that_a_server_has_not_for_a_moment_lose_no_pod() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**EVICTION, "status": 404})
    assert end(scene.run()) == (False, ["web-0"], "")


@pytest.mark.parametrize("after", range(2), ids=["patch", "read back"])
@pytest.mark.parametrize(
    "answer", [{"status": 403}, {"status": 401, "times": 2}, {"status": 404}, {"json": {"kind": "Login"}}], ids=str
)
@pytest.mark.parametrize("owner", [{}, {"cordon_owner": "patching"}], ids=["no owner", "owner"])
def test_a_cordon_is_tried_again_where_an_answer_contradicts_the_look_before(
    owner: dict[str, str], answer: dict[str, Any], after: int
) -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({"path": "/nodes/w1", "after": 1 + after, **answer})
    result = scene.run(**owner)
    assert (end(result), result["changed"], scene.cordoned()) == ((False, ["web-0"], ""), True, True)


def test_cordons_that_are_denied_for_good_take_half_a_minute_for_all_nodes_together() -> None:
    scene = Scene(*app("web"), *app("db", node="w2"))
    scene.faults.add({"method": "PATCH", "path": "/nodes/", "status": 403, "times": 0})
    result = scene.run(name=["w1", "w2"])
    assert (result["failed"], result["changed"], scene.seconds, drained(result)) == (True, False, 17, [])


@pytest.mark.parametrize("options", [{"preflight": "skip"}, {"state": "cordon"}, {"state": "uncordon"}], ids=str)
def test_a_cordon_whose_right_was_not_reviewed_is_denied_at_once(options: dict[str, Any]) -> None:
    scene = Scene(*app("web"))
    if options.get("state") == "uncordon":
        scene.store.mutate("Node", None, "w1", lambda node: node["spec"].update(unschedulable=True))
    scene.faults.add({"method": "PATCH", "path": "/nodes/w1", "status": 403, "times": 0})
    assert (scene.run(**options)["failed"], scene.seconds) == (True, 0)


def test_pods_that_nobody_was_seen_to_remove_are_looked_for_once_more() -> None:
    scene = Scene(*app("web", term=3))
    scene.faults.add({**PODS, "after": 1, "times": 2, "json": EMPTY})
    scene.faults.add({"path": "watch=true", "watch": "silent", "times": 0})
    assert (end(scene.run()), scene.pods()) == ((False, ["web-0"], ""), [])


def test_pods_that_somebody_else_has_removed_cost_one_look_more() -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**PODS, "after": 1, "times": 0, "json": EMPTY})
    scene.faults.add({"path": "watch=true", "watch": "silent", "times": 0})
    assert (end(scene.run()), scene.seconds) == ((False, [], ""), 1)
