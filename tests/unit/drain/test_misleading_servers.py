# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers and clusters that would lead a drain astray: to other nodes' pods, to another node, past its time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.responses import value_of
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Failed
from drain.situations import EVICTION, app, status
from kubesim import builders
from stage import Scene, drained

NODE = {"method": "GET", "path": "/nodes/w1"}


def listing(scene: Scene, **meta: Any) -> dict[str, Any]:
    """Return a list of all pods of the cluster, as a server gives that knows no field selectors."""
    version = str(scene.store.resource_version)
    return {"kind": "PodList", "metadata": {"resourceVersion": version, **meta}, "items": scene.store.list("Pod")}


def test_pods_of_other_nodes_are_left_alone_though_the_server_lists_them() -> None:
    scene = Scene(*app("web"), *app("db", node="w2"))
    scene.faults.add({"method": "GET", "path": r"/api/v1/pods\?(?!.*watch)", "times": 2, "json": listing(scene)})
    result = scene.run()
    assert (result["failed"], drained(result), "db-0" in scene.pods("w2")) == (False, ["web-0"], True)


def test_pods_of_other_nodes_are_left_alone_though_the_watch_tells_of_them() -> None:
    scene = Scene(*app("web", term=9), *app("db", node="w2"))
    pool = scene.connection.pool

    class Unfiltered:
        """Loses the field selector of watches."""

        def request(self, method: str, url: str, **settings: Any) -> Any:
            lost = url.replace("fieldSelector=spec.nodeName%3Dw1&", "") if "watch=true" in url else url
            return pool.request(method, lost, **settings)

    scene.connection.pool = Unfiltered()  # type: ignore[assignment]
    scene.agenda.after(3, lambda: scene.store.mutate("Pod", "default", "db-0", lambda pod: pod["spec"].update(x=1)))
    result = scene.run()
    assert (result["failed"], drained(result), "db-0" in scene.pods("w2")) == (False, ["web-0"], True)


def test_what_has_no_name_is_no_pod() -> None:
    scene = Scene(*app("web"))
    pods = listing(scene)
    scene.faults.add({"method": "GET", "path": r"/api/v1/pods\?", "json": {**pods, "items": [*pods["items"], {}]}})
    assert scene.run()["failed"] is False


def replace_node(scene: Scene) -> None:
    """Let another node come under the name of w1, with a pod of its own."""
    scene.store.delete("Node", None, "w1")
    scene.store.load([builders.node("w1", uid="another"), *app("new")])


@pytest.mark.parametrize("policy", ["keep_cordon", "uncordon"])
def test_a_node_that_is_replaced_under_its_name_is_not_drained_and_not_cordoned(policy: str) -> None:
    scene = Scene(*app("web", term=9), controllers=False)
    scene.agenda.after(3, lambda: replace_node(scene))
    scene.agenda.after(4, lambda: scene.store.delete("Pod", "default", "web-0", grace=0))
    result = scene.run(on_failure=policy, delete_options={"wait_timeout": 30})
    assert (result["failed"], scene.cordoned(), result["nodes"][0]["cordoned"]) == (True, False, False)
    assert "another node took its name" in result["msg"]


@pytest.mark.parametrize("tokens", [["a", "b"], ["a", "b", "c"]])
def test_pages_that_come_round_again_end_a_list(tokens: list[str]) -> None:
    scene = Scene(*app("web"))
    for token, following in zip(["", *tokens], [*tokens, tokens[0]], strict=True):
        path = r"/api/v1/pods\?(?!.*watch)" + (f".*continue={token}$" if token else "(?!.*continue)")
        scene.faults.add({"method": "GET", "path": path, "times": 0, "json": listing(scene, **{"continue": following})})
    with pytest.raises(Exception, match="same page of a list again and again"):
        scene.run(delete_options={"wait_timeout": 20})
    assert scene.seconds <= 21


def test_pages_without_an_end_are_given_up_when_time_is_up() -> None:
    scene = Scene(*app("web"))
    pool, count = scene.connection.pool, iter(range(10**6))

    class Endless:
        """Gives another page each time, after half a second."""

        def request(self, method: str, url: str, **settings: Any) -> Any:
            if "/api/v1/pods?" in url:
                scene.agenda.advance(0.5)
                fault = {"path": r"/api/v1/pods\?", "json": listing(scene, **{"continue": f"t{next(count)}"})}
                scene.faults.add(fault)
            return pool.request(method, url, **settings)

    scene.connection.pool = Endless()  # type: ignore[assignment]
    with pytest.raises(ResponseTimeout, match="did not finish a list in time"):
        scene.run(delete_options={"wait_timeout": 20})
    assert 20 <= scene.seconds <= 21


def test_time_that_runs_out_while_nodes_are_looked_at_leaves_all_of_them_open() -> None:
    scene = Scene(*app("web"), nodes=tuple("n%02d" % n for n in range(20)))
    scene.faults.add({"method": "GET", "path": r"/api/v1/pods\?", "times": 0, "delay": 0.5, "pass": True})
    with pytest.raises(Failed, match=r"^wait_timeout \(5 s\) ran out before everything had been checked"):
        scene.run(name=["n%02d" % n for n in range(20)], delete_options={"wait_timeout": 5})
    assert (scene.requests("PATCH"), scene.seconds <= 6) == ([], True)


def test_time_that_runs_out_while_nodes_are_cordoned_leaves_the_others_open() -> None:
    names = ["n0", "n1", "n2"]
    scene = Scene(nodes=tuple(names))
    scene.faults.add({"method": "PATCH", "times": 0, "delay": 3, "pass": True})
    result = scene.run(name=names, delete_options={"wait_timeout": 5})
    assert (result["failed"], scene.cordoned("n0"), scene.cordoned("n2"), scene.seconds <= 6) == (
        True,
        True,
        False,
        True,
    )
    assert "n2 was not drained: it could not be cordoned: no time was left" in result["msg"]


@pytest.mark.parametrize("state", ["drain", "cordon", "uncordon"])
def test_a_change_whose_read_back_fails_is_a_change(state: str) -> None:
    scene = Scene(builders.node("w1", unschedulable=state == "uncordon"))
    scene.faults.add({**NODE, "after": 1, "status": 403, "times": 0})
    result = scene.run(state=state)
    assert (result["failed"], result["changed"], scene.cordoned()) == (True, True, state != "uncordon")


@pytest.mark.parametrize(
    "wait", [10**400, -1, "soon", None, [], 1e999], ids=["huge", "negative", "words", "null", "list", "inf"]
)
def test_a_wait_that_no_clock_takes_is_passed_over(wait: Any) -> None:
    scene = Scene(*app("web"))
    scene.faults.add({**EVICTION, "status": 503, "json": status(503, "busy", retryAfterSeconds=wait)})
    assert (scene.run()["failed"], scene.seconds < 5) == (False, True)


def test_volumes_whose_attachments_have_no_uid_are_told_apart() -> None:
    scene = Scene(*app("web"))
    attachments = [
        {"metadata": {"name": f"at-{n}"}, "spec": {"nodeName": "w1", "source": {"persistentVolumeName": f"pv-{n}"}}}
        for n in (1, 2)
    ]
    page = {"kind": "VolumeAttachmentList", "metadata": {"resourceVersion": "1"}}
    scene.faults.add({"path": r"volumeattachments(?!.*watch)", "json": {**page, "items": attachments}})
    scene.faults.add({"path": r"volumeattachments(?!.*watch)", "times": 0, "json": {**page, "items": attachments[1:]}})
    result = scene.run(wait_volume_detach=True, delete_options={"wait_timeout": 10})
    assert (result["failed"], [volume["detached"] for volume in result["nodes"][0]["volumes"]]) == (True, [True, False])


def test_half_a_letter_in_an_answer_is_replaced() -> None:
    whole, half = chr(0x1F600), json.dumps("\ud83d")
    found = value_of(200, {}, ('{"a": %s, "b": [{%s: %s}]}' % (json.dumps(whole), half, half)).encode())
    assert found == {"a": whole, "b": [{"\ufffd": "\ufffd"}]}
