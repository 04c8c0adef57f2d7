# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens and logins: what is sent, and what a 401 renews."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import ask, kubeconfig, write


@pytest.mark.parametrize("given", ["abc", "Bearer abc", "bearer abc", "  abc\n"])
def test_api_key_with_and_without_its_scheme(seen, api, ca_file, given) -> None:
    assert seen(host=api.url, api_key=given, ca_cert=ca_file).header("authorization") == "Bearer abc"


@pytest.mark.parametrize("given", ["s3cret\nX-Evil: 1", "s3 cret", "s3crét", "Bearer "])
def test_token_that_cannot_be_sent(connected, api, given) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        connected(host=api.url, api_key=given)
    assert caught.value.message == (
        "The token (option api_key) is empty or contains blanks, line breaks or other invalid characters:"
        " copy it again."
    )


def test_user_name_and_password(seen, api, ca_file) -> None:
    asked = seen(host=api.url, username="jörg", password="pa:ss", ca_cert=ca_file)
    assert asked.header("authorization") == "Basic asO2cmc6cGE6c3M="


def test_user_name_and_password_of_the_kubeconfig(seen, api, ca_file) -> None:
    document = kubeconfig(api.url, {"username": "u", "password": "p"}, certificate_authority=ca_file)
    assert seen(kubeconfig=document).header("authorization") == "Basic dTpw"


def test_user_agent_names_the_collection(seen, api, ca_file) -> None:
    assert seen(host=api.url, ca_cert=ca_file).header("user-agent") == "kubeops.maintenance (Ansible collection)"


class TestRefresh:
    """After a 401."""

    def test_given_token_cannot_be_renewed(self, connected, api) -> None:
        assert connected(host=api.url, api_key="t").refresh() is False

    def test_kubeconfig_is_read_again(self, connected, api, ca_file, tmp_path) -> None:
        path = write(tmp_path / "config", kubeconfig(api.url, {"token": "old"}, certificate_authority=ca_file))
        connection = connected(kubeconfig=path)
        api.refused.add("old")
        assert ask(connection) == 401
        write(tmp_path / "config", kubeconfig(api.url, {"token": "new"}, certificate_authority=ca_file))
        assert connection.refresh() is True
        assert ask(connection) == 200

    def test_unchanged_kubeconfig_renews_nothing(self, connected, api, ca_file, tmp_path) -> None:
        path = write(tmp_path / "config", kubeconfig(api.url, {"token": "old"}, certificate_authority=ca_file))
        assert connected(kubeconfig=path).refresh() is False

    def test_kubeconfig_that_went_away_renews_nothing(self, connected, api, tmp_path) -> None:
        path = write(tmp_path / "config", kubeconfig(api.url, {"token": "old"}))
        connection = connected(kubeconfig=path)
        (tmp_path / "config").unlink()
        assert connection.refresh() is False

    def test_kubeconfig_that_names_another_server_renews_nothing(self, connected, api, tmp_path) -> None:
        path = write(tmp_path / "config", kubeconfig(api.url, {"token": "old"}))
        connection = connected(kubeconfig=path)
        write(tmp_path / "config", kubeconfig("https://other.test", {"token": "new"}))
        assert connection.refresh() is False


class TestTokenFile:
    """A token that an agent renews."""

    @pytest.fixture
    def token(self, tmp_path):
        path = tmp_path / "token"
        path.write_text("first\n")
        return path

    def test_read_for_each_request(self, connected, api, token) -> None:
        connection = connected(kubeconfig=kubeconfig(api.url, {"tokenFile": str(token)}))
        before = connection.headers()["Authorization"]
        token.write_text("second")
        assert (before, connection.headers()["Authorization"]) == ("Bearer first", "Bearer second")

    def test_last_good_token_serves_while_the_file_is_replaced(self, connected, api, token) -> None:
        connection = connected(kubeconfig=kubeconfig(api.url, {"tokenFile": str(token)}))
        token.write_text("")
        assert connection.headers()["Authorization"] == "Bearer first"
        token.unlink()
        assert connection.headers()["Authorization"] == "Bearer first"

    def test_refresh_helps_as_long_as_the_file_is_there(self, connected, api, token, tmp_path) -> None:
        document = kubeconfig(api.url, {"tokenFile": str(token)})
        connection = connected(kubeconfig=write(tmp_path / "config", document))
        assert connection.refresh() is True
        token.unlink()
        assert connection.refresh() is False

    def test_file_wins_over_a_token_beside_it(self, connected, api, token) -> None:
        connection = connected(kubeconfig=kubeconfig(api.url, {"tokenFile": str(token), "token": "stale"}))
        assert connection.headers()["Authorization"] == "Bearer first"

    def test_token_beside_it_serves_without_the_file(self, connected, api) -> None:
        connection = connected(kubeconfig=kubeconfig(api.url, {"tokenFile": "/no/token", "token": "spare"}))
        assert connection.headers()["Authorization"] == "Bearer spare"

    def test_missing(self, connected, api) -> None:
        with pytest.raises(InvalidConfiguration) as caught:
            connected(kubeconfig=kubeconfig(api.url, {"tokenFile": "/no/token"}))
        assert caught.value.message == (
            "The token file /no/token (tokenFile of user 'me' in the kubeconfig dictionary) cannot be read or is empty:"
            " put a token there."
        )


class TestImpersonation:
    def test_user_and_groups(self, seen, api, ca_file) -> None:
        asked = seen(
            host=api.url, api_key="t", ca_cert=ca_file, impersonate_user="jane", impersonate_groups=["a", "b,c", "d"]
        )
        assert asked.header("impersonate-user") == "jane"
        assert asked.all("impersonate-group") == ["a", "b,c", "d"]

    def test_many_groups_arrive_one_by_one_by_way_of_a_proxy(self, connected, api, ca_file, proxy) -> None:
        groups = [f"group-{number}" for number in range(40)]
        connection = connected(
            host=f"https://api.example.test:{api.port}",
            api_key="t",
            ca_cert=ca_file,
            proxy=proxy.url,
            impersonate_user="jane",
            impersonate_groups=groups,
        )
        ask(connection)
        assert api.asked[-1].all("impersonate-group") == groups

    def test_names_beyond_ascii_are_sent_as_utf8(self, seen, api, ca_file) -> None:
        asked = seen(host=api.url, api_key="t", ca_cert=ca_file, impersonate_user="Zoë 花")
        assert asked.header("impersonate-user").encode("latin-1").decode() == "Zoë 花"

    def test_of_the_kubeconfig(self, seen, api, ca_file) -> None:
        user = {
            "token": "t",
            "as": "jane",
            "as-groups": ["a", "b"],
            "as-uid": "42",
            "as-user-extra": {"Team/Scope": ["x", "y"]},
        }
        asked = seen(kubeconfig=kubeconfig(api.url, user, certificate_authority=ca_file))
        assert asked.header("impersonate-user") == "jane"
        assert asked.all("impersonate-group") == ["a", "b"]
        assert asked.header("impersonate-uid") == "42"
        assert asked.all("impersonate-extra-team%2fscope") == ["x", "y"]

    def test_options_win_over_the_kubeconfig(self, seen, api, ca_file) -> None:
        user = {"token": "t", "as": "jane", "as-groups": ["a", "b"]}
        document = kubeconfig(api.url, user, certificate_authority=ca_file)
        asked = seen(kubeconfig=document, impersonate_user="john", impersonate_groups=["c"])
        assert (asked.header("impersonate-user"), asked.all("impersonate-group")) == ("john", ["c"])

    def test_groups_without_a_user(self, connected, api) -> None:
        with pytest.raises(InvalidConfiguration, match=r"^Groups cannot be impersonated without a user: give "):
            connected(host=api.url, api_key="t", impersonate_groups=["a"])

    def test_line_break_in_a_name(self, connected, api) -> None:
        with pytest.raises(InvalidConfiguration, match=r"^A name to impersonate holds a line break"):
            connected(host=api.url, api_key="t", impersonate_user="jane\r\nX-Evil: 1")
