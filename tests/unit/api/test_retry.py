# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is retried, how often, and after how many seconds."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.retry import Retries, backoff, retry_on_conflict
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    Conflict,
    Failed,
    Forbidden,
    InvalidConfiguration,
    MaintenanceError,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unreachable,
)

PERMANENT_AS_A_RULE = [
    Forbidden("no", 403),
    NotFound("no", 404),
    Unauthorized("no", 401),
    InvalidConfiguration("the plugin ended with exit code 1"),
    Unreachable("the host name cannot be resolved", final=True),
]
AWAY = [ServerFault("no", 503), TooManyRequests("no", 429), Unreachable("nothing listens")]


@pytest.mark.parametrize(("attempt", "delay"), [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 5), (6, 5), (10**9, 5)])
def test_backoff_doubles_up_to_the_longest(attempt: int, delay: float) -> None:
    assert backoff(attempt, 0.5, 5) == delay


class TestRetries:
    @pytest.mark.parametrize("error", PERMANENT_AS_A_RULE)
    def test_error_that_may_be_transient_is_retried_five_times_in_twenty_seconds(self, error: MaintenanceError) -> None:
        retries = Retries()
        assert [retries.delay_after(error) for _number in range(7)] == [1, 2, 4, 5, 5, None, None]

    @pytest.mark.parametrize("error", [Failed("no"), Unreachable("nothing listens")])
    def test_error_that_no_retry_fixes_or_that_was_retried_before_is_not(self, error: MaintenanceError) -> None:
        assert Retries().delay_after(error) is None

    def test_every_error_in_a_row_counts(self) -> None:
        retries = Retries(limit=2)
        assert [retries.delay_after(error) for error in (Failed("no"), Forbidden("no", 403))] == [None, 2]
        assert retries.delay_after(Forbidden("no", 403)) is None

    def test_reset_starts_from_zero(self) -> None:
        retries = Retries(limit=1)
        assert (retries.next_delay(), retries.next_delay()) == (1, None)
        retries.reset()
        assert retries.next_delay() == 1

    @pytest.mark.parametrize("error", AWAY)
    def test_waiting_task_tolerates_an_absent_server_for_ever(self, error: MaintenanceError) -> None:
        retries = Retries()
        assert {retries.tolerates(error) for _number in range(100)} == {True}

    @pytest.mark.parametrize("error", PERMANENT_AS_A_RULE[:-1])
    def test_waiting_task_tolerates_what_may_be_transient_five_times(self, error: MaintenanceError) -> None:
        retries = Retries()
        assert [retries.tolerates(error) for _number in range(6)] == [True] * 5 + [False]


class TestRetryOnConflict:
    """An object whose version is known to the caller, and that others change, too."""

    def changed(self, conflicts: int, calls: list[str], attempts: int = 20) -> str:
        outcomes = iter([True] * conflicts + [False])

        def change() -> str:
            calls.append("change")
            if next(outcomes):
                raise Conflict(f"conflict {len(calls)}", 409)
            return "changed"

        return retry_on_conflict(change, lambda: calls.append("reread"), attempts)

    def test_value_without_a_conflict(self) -> None:
        calls: list[str] = []
        assert (self.changed(0, calls), calls) == ("changed", ["change"])

    def test_object_is_read_again_after_each_conflict(self) -> None:
        calls: list[str] = []
        assert self.changed(2, calls) == "changed"
        assert calls == ["change", "reread", "change", "reread", "change"]

    def test_last_conflict_is_raised(self) -> None:
        calls: list[str] = []
        with pytest.raises(Conflict, match="conflict 5"):
            self.changed(9, calls, attempts=3)
        assert calls == ["change", "reread", "change", "reread", "change"]

    def test_twenty_attempts_unless_told_otherwise(self) -> None:
        calls: list[str] = []
        with pytest.raises(Conflict):
            self.changed(99, calls)
        assert calls.count("change") == 20

    def test_other_errors_are_raised_at_once(self) -> None:
        def change() -> None:
            raise NotFound("no", 404)

        with pytest.raises(NotFound):
            retry_on_conflict(change, lambda: pytest.fail("read again"))
