# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of pods."""

from __future__ import annotations

from typing import Any

import pytest
from simulated_api import Api

from kubesim import builders
from kubesim.objects import Object

LOG = "/api/v1/namespaces/default/pods/web/log"
LINES = {"fake/log": "one\ntwo\nthree\n"}


def text(api: Api, query: str = "") -> str:
    answer = api.send("GET", LOG + query)
    assert answer.status == 200, answer.body
    return answer.body.decode()


def waiting(reason: str) -> Object:
    pod = builders.pod("web")
    pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": reason}}
    return pod


def crashed(annotations: dict[str, str]) -> Object:
    pod = builders.pod("web", annotations=annotations)
    ended = {"exitCode": 1, "reason": "Error", "startedAt": builders.SINCE, "finishedAt": builders.SINCE}
    pod["status"]["containerStatuses"][0]["lastState"] = {"terminated": ended}
    return pod


def test_a_pod_logs_what_its_annotation_says() -> None:
    assert text(Api(builders.pod("web", annotations=LINES))) == "one\ntwo\nthree\n"


def test_the_last_lines_may_be_asked_for() -> None:
    assert text(Api(builders.pod("web", annotations=LINES)), "?tailLines=2") == "two\nthree\n"


def test_so_many_bytes_may_be_asked_for() -> None:
    assert text(Api(builders.pod("web", annotations=LINES)), "?limitBytes=5") == "one\nt"


def test_a_line_may_begin_with_its_time() -> None:
    since = builders.SINCE.replace("Z", ".000000000Z")
    assert text(Api(builders.pod("web", annotations=LINES)), "?timestamps=true&tailLines=1") == f"{since} three\n"


def test_the_log_before_the_last_restart_is_another_one() -> None:
    api = Api(crashed({"fake/log": "starting\n", "fake/previous-log": "no database\n"}))
    assert (text(api), text(api, "?previous=true")) == ("starting\n", "no database\n")


def test_a_crash_leaves_its_own_log() -> None:
    assert text(Api(crashed({"fake/crash": "1,0,panic: no database\n"})), "?previous=true") == "panic: no database\n"


def test_one_of_several_containers_must_be_named() -> None:
    api = Api(builders.pod("web", containers=["app", "side"], init=["setup"]))
    assert api.refused("GET", LOG) == (
        400,
        "a container name must be specified for pod web, choose one of: [app side] "
        "or one of the init containers: [setup]",
    )


def test_each_container_has_its_own_log() -> None:
    api = Api(builders.pod("web", containers=["app", "side"], annotations={"fake/log.side": "aside\n"}))
    assert text(api, "?container=side") == "aside\n"


def test_an_unknown_container_is_refused() -> None:
    assert Api(builders.pod("web")).refused("GET", LOG + "?container=no") == (
        400,
        "container no is not valid for pod web",
    )


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("ContainerCreating", "ContainerCreating"),
        ("ErrImagePull", "image can't be pulled"),
        ("ImagePullBackOff", "trying and failing to pull image"),
    ],
)
def test_a_container_that_has_not_started_has_no_log(reason: str, words: str) -> None:
    message = f'container "app" in pod "web" is waiting to start: {words}'
    assert Api(waiting(reason)).refused("GET", LOG) == (400, message)


def test_a_container_that_was_never_restarted_has_no_previous_log() -> None:
    message = 'previous terminated container "app" in pod "web" not found'
    assert Api(builders.pod("web")).refused("GET", LOG + "?previous=true") == (400, message)


def test_a_pod_without_a_node_has_an_empty_log() -> None:
    assert text(Api(builders.pod("web", node_name=None, phase="Pending", annotations=LINES))) == ""


def test_a_pod_that_is_not_there_has_no_log() -> None:
    assert Api().refused("GET", LOG) == (404, 'pods "web" not found')


def test_a_silent_kubelet_gives_no_logs() -> None:
    node = builders.node("node-1", ready="Unknown", address="10.0.0.1")
    answer: Any = Api(node, builders.pod("web", annotations=LINES)).send("GET", LOG).json()
    assert (answer["code"], answer["message"]) == (
        500,
        'Get "https://10.0.0.1:10250/containerLogs/default/web/app": '
        "dial tcp 10.0.0.1:10250: connect: connection refused",
    )
