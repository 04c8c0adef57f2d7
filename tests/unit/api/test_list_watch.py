# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list-and-watch loop: what callers get, and what a server is asked for, in which order and when."""

from __future__ import annotations

import contextlib
import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.list_watch import (
    Changed,
    Collection,
    Listed,
    Subscription,
    Unwatched,
    list_and_watch,
)
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import ResponseTimeout, events_in
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import Forbidden, NotFound, UnexpectedResponse
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.workers import Pause
from api.script import Reply, Script, ScriptEndError, line, listing, pod, refusal, reply, stream

PODS = "/api/v1/pods"
LIST = f"{PODS}?limit=500"
A, B = pod("a", 1), pod("b", 2)


def watch(version: int | str) -> str:
    return f"{PODS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion={version}"


def followed(script: Script, **settings: Any) -> list[Any]:
    """Follow pods until the script ends, waiting as long as demanded; return what came besides pauses."""
    found = []
    with contextlib.suppress(ScriptEndError):
        for event in list_and_watch(script.rest(), Collection(PODS, **settings)):
            if isinstance(event, Pause):
                script.clock.sleep(event.seconds)
            elif event is not None:
                found.append(event)
    return found


def timeout() -> ReadTimeoutError:
    return ReadTimeoutError(None, None, "Read timed out.")  # type: ignore[arg-type]


def test_lists_then_watches_from_the_version_of_the_list() -> None:
    script = Script(listing(7, A), stream(line("ADDED", pod("b", 8)), line("DELETED", pod("a", 9))))
    assert followed(script) == [Listed([A], "7"), Changed("ADDED", pod("b", 8)), Changed("DELETED", pod("a", 9))]
    assert script.targets == [LIST, watch(7), watch(9)]


def test_all_pages_are_listed_before_the_watch_begins() -> None:
    script = Script(listing(7, A, token="next"), listing(7, B))
    assert followed(script, page_size=1) == [Listed([A, B], "7")]
    assert script.targets == [f"{PODS}?limit=1", f"{PODS}?limit=1&continue=next", watch(7)]


def test_every_item_is_trimmed() -> None:
    script = Script(listing(7, A), stream(line("MODIFIED", pod("b", 8))))
    found = followed(script, keep=lambda item: {"name": item["metadata"]["name"]})
    assert found == [Listed([{"name": "a"}], "7"), Changed("MODIFIED", {"name": "b"})]


def test_query_of_the_list_holds_for_the_watch() -> None:
    script = Script(listing(7))
    followed(script, query={"fieldSelector": "spec.nodeName=w1"})
    assert [parse_qs(urlsplit(target).query)["fieldSelector"] for target in script.targets] == [
        ["spec.nodeName=w1"]
    ] * 2


class TestStreamThatEnds:
    def test_is_resumed_at_the_newest_version(self) -> None:
        script = Script(listing(7), stream(line("ADDED", pod("b", 8))), stream(line("MODIFIED", pod("b", 9))))
        followed(script)
        assert script.targets == [LIST, watch(7), watch(8), watch(9)]
        assert script.times == pytest.approx([0, 0, 0.2, 0.4])

    def test_is_resumed_at_the_version_of_a_bookmark_which_is_not_an_event(self) -> None:
        script = Script(listing(7), stream(line("BOOKMARK", {"metadata": {"resourceVersion": "90"}})))
        assert followed(script) == [Listed([], "7")]
        assert script.targets == [LIST, watch(7), watch(90)]

    def test_without_events_is_resumed_ever_later_and_after_three_times_listed_again(self) -> None:
        script = Script(listing(7), stream(), stream(), stream(), listing(7))
        followed(script)
        assert script.targets == [LIST, watch(7), watch(7), watch(7), LIST, watch(7)]
        assert script.times == pytest.approx([0, 0, 0.5, 1.5, 1.7, 1.7])

    def test_with_the_same_event_each_time_counts_as_one_without_events(self) -> None:
        repeated = line("MODIFIED", pod("a", 7))
        script = Script(listing(7, A), stream(repeated), stream(repeated), stream(repeated), listing(7, A))
        followed(script)
        assert script.targets == [LIST, watch(7), watch(7), watch(7), LIST, watch(7)]

    def test_watches_that_all_break_are_repeated_no_faster_than_periodic_lists(self) -> None:
        def broken() -> list[Any]:
            return [listing(7), ProtocolError("reset")]

        script = Script(*[step for _number in range(8) for step in broken()])
        followed(script)
        lists = [sent.at for sent in script.sent if sent.target == LIST]
        assert [round(after - before, 1) for before, after in zip(lists, lists[1:], strict=False)] == [
            *[1, 1, 1, 2, 4, 5, 5, 5]
        ]


class TestListedAgain:
    """A new list, and then a watch from its version."""

    def test_when_the_version_is_too_old_for_the_watch(self) -> None:
        script = Script(listing(7, A), refusal(410), listing(20, A, B))
        assert followed(script) == [Listed([A], "7"), Listed([A, B], "20")]
        assert (script.targets, script.times[2]) == ([LIST, watch(7), LIST, watch(20)], pytest.approx(0.2))

    def test_when_the_watch_sends_an_error_of_410(self) -> None:
        expired = line("ERROR", {"kind": "Status", "code": 410, "message": "too old"})
        script = Script(listing(7), stream(line("ADDED", pod("b", 8)), expired), listing(20))
        assert followed(script) == [Listed([], "7"), Changed("ADDED", pod("b", 8)), Listed([], "20")]
        assert script.targets == [LIST, watch(7), LIST, watch(20)]

    def test_when_the_watch_sends_another_error(self) -> None:
        script = Script(listing(7), stream(line("ERROR", {"kind": "Status", "code": 500})), listing(20))
        assert followed(script) == [Listed([], "7"), Listed([], "20")]
        assert script.times == pytest.approx([0, 0, 1, 1])

    def test_after_as_many_seconds_as_the_server_asks_for(self) -> None:
        script = Script(listing(7), refusal(429, Retry_After="9"), listing(20))
        followed(script)
        assert script.times == pytest.approx([0, 0, 9, 9])

    def test_when_the_server_cannot_read_the_version_of_its_list(self) -> None:
        script = Script(listing(7), refusal(400), listing(20))
        assert followed(script) == [Listed([], "7"), Listed([], "20")]

    def test_at_once_when_the_stream_is_silent(self) -> None:
        script = Script(listing(7), stream(timeout()), listing(20))
        assert followed(script) == [Listed([], "7"), Listed([], "20")]
        assert (script.times, script.sent[1].seconds) == (pytest.approx([0, 0, 0, 0]), 30)

    def test_when_there_are_blanks_but_no_events_for_half_a_minute(self) -> None:
        script = Script(listing(7), stream(*[10.0] * 9), listing(20))
        assert followed(script) == [Listed([], "7"), Listed([], "20")]
        assert script.times == pytest.approx([0, 0, 30, 30])

    def test_when_the_connection_breaks_in_the_middle_of_an_event(self) -> None:
        script = Script(listing(7), stream(line("ADDED", pod("b", 8))[:20], ProtocolError("reset")), listing(20, B))
        assert followed(script) == [Listed([], "7"), Listed([B], "20")]

    def test_with_smaller_versions_in_a_cluster_that_was_restored_from_a_backup(self) -> None:
        script = Script(listing(7), stream(line("ADDED", pod("b", 900)), timeout()), listing(20))
        assert followed(script)[-1] == Listed([], "20", versions_reset=True)


class TestThatCannotBeWatched:
    @pytest.mark.parametrize("status", [403, 404, 405])
    def test_is_listed_periodically(self, status: int) -> None:
        script = Script(listing(7, A), refusal(status, "may not watch"), listing(8, A), listing(9))
        assert followed(script, pause=4.0) == [
            Listed([A], "7"),
            Unwatched("may not watch"),
            Listed([A], "8"),
            Listed([], "9"),
        ]
        assert (script.targets, script.times) == ([LIST, watch(7), LIST, LIST, LIST], [0, 0, 4, 8, 12])

    def test_version_that_is_missing_is_not_sent(self) -> None:
        script = Script(reply({"kind": "PodList", "items": []}))
        followed(script)
        assert "resourceVersion" not in script.targets[1]


@pytest.mark.parametrize("before", [[], [listing(7), refusal(410)]])
def test_list_that_is_forbidden_is_an_error(before: list[Reply]) -> None:
    with pytest.raises(Forbidden):
        followed(Script(*before, refusal(403)))


def test_watch_that_a_load_balancer_responds_to_is_retried_because_the_list_was_good() -> None:
    script = Script(listing(7), stream(b"<html>\n"), listing(8))
    assert followed(script) == [Listed([], "7"), Listed([], "8")]


class TestBytes:
    """A stream is read in pieces of any size."""

    LINES = b"".join(
        [
            line("ADDED", pod("a", 1)),
            b"\n",
            line("MODIFIED", pod("\N{SNOWMAN}", 2)),
            b" \r\n",
            line("DELETED", pod("a", 3)),
        ]
    )

    def read(self, *chunks: bytes) -> list[Any]:
        found = events_in(stream(*chunks), 30.0, lambda: 0.0, "https://api.test")
        return [event for event in found if event is not None]

    def test_any_split_in_two_gives_the_same_events(self) -> None:
        whole = self.read(self.LINES)
        assert [event["type"] for event in whole] == ["ADDED", "MODIFIED", "DELETED"]
        for at in range(len(self.LINES)):
            assert self.read(self.LINES[:at], self.LINES[at:]) == whole

    def test_any_split_in_many_gives_the_same_events(self) -> None:
        whole = self.read(self.LINES)
        for seed in range(200):
            draw = random.Random(seed)
            ends = sorted(draw.sample(range(1, len(self.LINES)), draw.randint(1, 30)))
            pieces = [self.LINES[begin:end] for begin, end in zip([0, *ends], [*ends, len(self.LINES)], strict=True)]
            assert self.read(*pieces) == whole

    def test_event_without_an_end_is_given_up(self) -> None:
        with pytest.raises(UnexpectedResponse, match="the watch sent an event without an end"):
            self.read(*[b"x" * (1 << 20)] * 9)

    def test_line_that_is_not_json(self) -> None:
        with pytest.raises(UnexpectedResponse, match="the watch sent something that is not an event"):
            self.read(b"<html>\n")

    def test_silence_is_a_timeout(self) -> None:
        seconds = iter([0.0, 29.0, 30.0])
        with pytest.raises(ResponseTimeout):
            list(events_in(stream(b" ", b" "), 30.0, lambda: next(seconds), "https://api.test"))


class Followers:
    """Stands in for Workers: keeps what is followed, and plays it when a test says so."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def follow(self, tag: Any, items: Any) -> None:
        self.items.append((tag, items))

    def play(self) -> list[Any]:
        """Return all of what is followed now."""
        found = []
        try:
            for item in self.items[-1][1]:
                found.append(item)
        except (Forbidden, NotFound) as exc:
            found.append(type(exc))
        return found


class TestSubscription:
    def subscribed(self, *steps: Any) -> tuple[Followers, Subscription]:
        workers = Followers()
        script = Script(*steps)
        return workers, Subscription(workers, ("pods",), script.rest(), Collection(PODS))  # type: ignore[arg-type]

    def test_is_started_under_its_tag(self) -> None:
        workers, subscription = self.subscribed(refusal(403))
        subscription.start()
        assert (workers.items[0][0], workers.play()) == (("pods",), [Forbidden])

    def test_is_started_again_five_times_in_a_row_and_ever_later(self) -> None:
        workers, subscription = self.subscribed(*[refusal(403) for _number in range(6)])
        subscription.start()
        delays = []
        for _number in range(5):
            assert subscription.retry(Forbidden("no", 403)) is True
            delays.append(workers.play()[0].seconds)
        assert (delays, subscription.retry(Forbidden("no", 403)), len(workers.items)) == ([1, 2, 4, 5, 5], False, 6)

    def test_counts_from_zero_after_a_list(self) -> None:
        workers, subscription = self.subscribed(refusal(403), listing(7), refusal(403), refusal(403), refusal(404))
        subscription.start()
        workers.play()
        assert subscription.retry(Forbidden("no", 403)) is True
        workers.play()
        assert subscription.retry(Forbidden("no", 403)) is True
        assert workers.play()[0] == Pause(1)

    def test_of_an_error_that_requests_have_retried_until_the_deadline_ends(self) -> None:
        _workers, subscription = self.subscribed()
        assert subscription.retry(ResponseTimeout("https://api.test")) is False
