# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests: what is retried and when, what ends them, how lists are read, how credentials are renewed."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from urllib3.exceptions import NewConnectionError, ProtocolError, ReadTimeoutError

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Listing
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    ApiError,
    Conflict,
    Expired,
    Forbidden,
    InvalidOptions,
    MaintenanceError,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    UnexpectedResponse,
    Unreachable,
)
from api.script import BASE_URL, Script, listing, pod, refusal, reply, stream, web_page

PATH = "/api/v1/nodes/w1"
NODE = {"kind": "Node", "metadata": {"name": "w1"}}
A, B, C = pod("a", 1), pod("b", 2), pod("c", 3)


def good() -> Any:
    return reply(NODE)


def error_of(script: Script, seconds: float = 0.0) -> MaintenanceError:
    """Return the error that a GET ends with."""
    with pytest.raises(MaintenanceError) as caught:
        script.rest(seconds).get(PATH)
    return caught.value


def timeout() -> ReadTimeoutError:
    return ReadTimeoutError(None, None, "Read timed out.")  # type: ignore[arg-type]


class TestRetries:
    @pytest.mark.parametrize("status", [408, 409, 410, 429, 500, 502, 503, 504])
    def test_status_that_passes_is_retried(self, status: int) -> None:
        script = Script(refusal(status), good())
        assert script.rest().get(PATH) == NODE
        assert script.times == [0, 0.25]

    @pytest.mark.parametrize(("status", "error"), [(400, ApiError), (403, Forbidden), (404, NotFound), (422, ApiError)])
    def test_status_that_stays_is_not_retried(self, status: int, error: type[ApiError]) -> None:
        script = Script(refusal(status, "because"))
        caught = error_of(script)
        assert (type(caught), caught.message, len(script.sent)) == (error, "because", 1)

    def test_connection_that_breaks_is_retried(self) -> None:
        script = Script(ProtocolError("Connection aborted.", ConnectionResetError(104, "reset")), timeout(), good())
        assert script.rest().get(PATH) == NODE

    def test_delays_double_up_to_five_seconds(self) -> None:
        script = Script(good(), *[refusal(503) for _number in range(7)], good())
        rest = script.rest()
        rest.get(PATH)
        rest.get(PATH)
        assert script.times == [0, 0, 0.25, 0.75, 1.75, 3.75, 7.75, 12.75, 17.75]

    def test_retry_after_is_kept_to(self) -> None:
        script = Script(good(), refusal(429, Retry_After="7"), refusal(503, Retry_After="60"), good())
        rest = script.rest()
        rest.get(PATH)
        rest.get(PATH)
        assert script.times == [0, 0, 7, 67]

    def test_body_is_sent_again(self) -> None:
        script = Script(refusal(503), good())
        script.rest().patch(PATH, {"spec": {}})
        assert [sent.body for sent in script.sent] == [{"spec": {}}] * 2
        assert script.sent[1].headers["Content-Type"] == "application/merge-patch+json"

    def test_error_that_the_caller_handles_is_not_retried(self) -> None:
        script = Script(refusal(409))
        with pytest.raises(Conflict):
            script.rest().patch(PATH, {"metadata": {"resourceVersion": "1"}}, versioned=True)
        assert len(script.sent) == 1

    def test_json_patch_whose_test_failed_is_a_conflict(self) -> None:
        script = Script(refusal(422, "test failed"))
        with pytest.raises(Conflict, match="test failed"):
            script.rest().patch(PATH, [{"op": "test", "path": "/spec/unschedulable", "value": True}], versioned=True)
        assert script.sent[0].headers["Content-Type"] == "application/json-patch+json"

    def test_json_patch_that_makes_an_invalid_object_is_not(self) -> None:
        causes = {"kind": "Status", "message": "invalid", "code": 422, "details": {"causes": [{"field": "spec"}]}}
        with pytest.raises(ApiError) as caught:
            Script(reply(causes, 422)).rest().patch(PATH, [{"op": "remove", "path": "/spec"}], versioned=True)
        assert not isinstance(caught.value, Conflict)

    def test_log_is_requested_once(self) -> None:
        script = Script(refusal(503))
        with pytest.raises(ServerFault):
            script.rest().text("/log", {})
        assert script.times == [0]

    def test_path_that_would_be_another_one_is_not_requested(self) -> None:
        script = Script()
        with pytest.raises(InvalidOptions, match=r"nothing in Kubernetes can be called \. or \.\."):
            script.rest().get("/api/v1/nodes/..")
        assert script.sent == []


class TestDeadline:
    def test_no_retry_is_later(self) -> None:
        script = Script(good(), *[refusal(503, "busy") for _number in range(20)])
        rest = script.rest(10)
        rest.get(PATH)
        with pytest.raises(ServerFault, match="busy"):
            rest.get(PATH)
        assert (script.clock.now, script.times[-1]) == (10, 7.75)

    def test_no_response_may_take_longer(self) -> None:
        script = Script(good(), good())
        rest = script.rest(12)
        rest.get(PATH)
        script.clock.sleep(9)
        rest.get(PATH)
        assert [sent.seconds for sent in script.sent] == [10, 3]

    def test_response_that_comes_byte_by_byte(self) -> None:
        script = Script(stream(*[4.0] * 99))
        assert isinstance(error_of(script, 10), ResponseTimeout)
        assert script.clock.now == 12


class TestFirstResponse:
    """Until the first good response, the address may be wrong."""

    def test_is_given_up_after_half_a_minute(self) -> None:
        script = Script(*[refusal(503) for _number in range(99)])
        error_of(script)
        assert (script.clock.now, len(script.sent)) == (30, 11)

    def test_server_that_asks_for_a_long_wait_gets_no_more_than_that(self) -> None:
        script = Script(refusal(429, Retry_After="600"), refusal(429, Retry_After="600"))
        assert isinstance(error_of(script), TooManyRequests)
        assert script.times == [0, 30]

    def test_may_take_ten_seconds_and_later_ones_thirty(self) -> None:
        script = Script(good(), good())
        rest = script.rest()
        rest.get(PATH)
        rest.get(PATH)
        assert [sent.seconds for sent in script.sent] == [10, 30]

    def test_web_page_means_a_wrong_address(self) -> None:
        caught = error_of(Script(web_page()))
        assert isinstance(caught, UnexpectedResponse)
        assert caught.message == (
            "the response is not from a Kubernetes API server (HTTP 200, text/html, 6 bytes); the request went to"
            f" {BASE_URL} as the given api_key: check the option host"
        )

    def test_web_page_after_it_is_retried(self) -> None:
        script = Script(good(), web_page(), web_page(404), good())
        rest = script.rest()
        rest.get(PATH)
        assert rest.get(PATH) == NODE

    def test_timeout_names_where_the_address_is_from(self) -> None:
        caught = error_of(Script(*[timeout() for _number in range(99)]))
        assert caught.message == (
            f"the API server at {BASE_URL} did not respond in time: check the option host, and whether a firewall is in"
            " between"
        )

    def test_timeout_after_it_does_not(self) -> None:
        script = Script(good(), *[timeout() for _number in range(99)])
        rest = script.rest(10)
        rest.get(PATH)
        with pytest.raises(ResponseTimeout) as caught:
            rest.get(PATH)
        assert caught.value.message == (
            f"the API server at {BASE_URL} did not respond in time: check whether it is overloaded or down"
        )


def unresolved() -> NewConnectionError:
    error = NewConnectionError(None, "failed")  # type: ignore[arg-type]
    error.__cause__ = socket.gaierror(-2, "Name or service not known")
    return error


class TestHostName:
    def test_that_does_not_exist_is_not_retried(self) -> None:
        script = Script(unresolved())
        assert error_of(script).message == (
            f"the host name in {BASE_URL} cannot be resolved (Name or service not known): check the option host"
        )

    def test_that_was_resolved_before_is_retried(self) -> None:
        script = Script(good(), unresolved(), good())
        rest = script.rest()
        rest.get(PATH)
        assert rest.get(PATH) == NODE


class TestUnauthorized:
    def test_credentials_are_renewed_once(self) -> None:
        script = Script(refusal(401), good())
        script.tokens = ["old", "new"]
        assert script.rest().get(PATH) == NODE
        assert [sent.headers["Authorization"] for sent in script.sent] == ["Bearer old", "Bearer new"]
        assert script.times == [0, 0]

    def test_second_refusal_counts(self) -> None:
        script = Script(refusal(401), refusal(401, "Unauthorized"))
        script.tokens = ["old", "new", "newer"]
        assert error_of(script).message == (
            f"the API server does not accept the credentials (401 Unauthorized) at {BASE_URL} as the given api_key:"
            " renew the token or certificate"
        )

    def test_without_other_credentials_the_first_refusal_counts(self) -> None:
        script = Script(refusal(401))
        assert (type(error_of(script)), len(script.sent)) == (Unauthorized, 1)

    def test_credentials_of_a_watch_are_renewed_too(self) -> None:
        script = Script(refusal(401), stream(b'{"type":"ADDED","object":{}}\n'))
        script.tokens = ["old", "new"]
        assert list(script.rest().stream("/api/v1/pods", {}, 30)) == [{"type": "ADDED", "object": {}}]
        assert [sent.headers["Authorization"] for sent in script.sent] == ["Bearer old", "Bearer new"]


class TestList:
    PATH = "/api/v1/pods"

    def test_pages_are_joined(self) -> None:
        script = Script(listing(7, A, token="t1"), listing(7, B, token="t2"), listing(7, C))
        assert script.rest().list(self.PATH, {"labelSelector": "a=b"}, 1) == Listing([A, B, C], "7")
        assert [target.partition("?")[2] for target in script.targets] == [
            "labelSelector=a%3Db&limit=1",
            "labelSelector=a%3Db&limit=1&continue=t1",
            "labelSelector=a%3Db&limit=1&continue=t2",
        ]

    def test_page_size_of_zero_asks_for_all_at_once(self) -> None:
        script = Script(listing(7, A))
        script.rest().list(self.PATH, {}, 0)
        assert script.targets == [self.PATH]

    def test_continue_token_that_has_expired_restarts_the_list(self) -> None:
        script = Script(listing(7, A, token="t1"), refusal(410), listing(9, A, B))
        assert script.rest().list(self.PATH, {}, 1) == Listing([A, B], "9")
        assert script.times == [0, 0, 0.25]

    def test_continue_token_that_expires_each_time_ends_with_the_deadline(self) -> None:
        steps = [step for _number in range(99) for step in (listing(7, A, token="t1"), refusal(410))]
        script = Script(*steps)
        with pytest.raises(Expired):
            script.rest(20).list(self.PATH, {}, 1)
        assert (script.clock.now, len(script.sent)) == (20, 16)

    def test_page_that_comes_again_is_not_followed(self) -> None:
        script = Script(listing(7, A, token="t1"), listing(7, A, token="t1"), listing(7, A))
        assert script.rest().list(self.PATH, {}, 1) == Listing([A], "7")

    def test_object_that_is_not_a_list(self) -> None:
        with pytest.raises(UnexpectedResponse, match="the response to a list request is not a list"):
            Script(reply({"kind": "APIVersions"})).rest().list(self.PATH, {}, 1)

    def test_list_without_items_is_empty(self) -> None:
        assert Script(reply({"kind": "PodList", "items": None})).rest().list(self.PATH, {}, 1) == Listing([], "")


def test_clock_of_the_server_is_compared_with_ours() -> None:
    script = Script(reply(NODE, Date="Thu, 01 Jan 1970 00:02:00 GMT"), reply(NODE, Date="not a date"))
    rest = script.rest()
    rest.get(PATH)
    assert rest.ahead == 120
    rest.get(PATH)
    assert rest.ahead == 120


def test_refused_connection() -> None:
    error = NewConnectionError(None, "failed")  # type: ignore[arg-type]
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    script = Script(*[error for _number in range(99)])
    caught = error_of(script, 5)
    assert isinstance(caught, Unreachable)
    assert caught.message == (
        f"nothing listens at {BASE_URL} (connection refused): check the option host, and whether the API server is"
        " running"
    )
