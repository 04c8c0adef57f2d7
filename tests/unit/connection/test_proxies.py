# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proxies: which one is asked, what it is told, and what is reached without."""

from __future__ import annotations

import base64
import sys
import time

import pytest
import urllib3

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import exchange
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.proxy import bypasses
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.server_address import parse_server
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import (
    InvalidConfiguration,
    MissingLibrary,
    Unreachable,
)
from connection.servers import ApiServer
from connection.situations import ask, kubeconfig


@pytest.fixture
def remote(api) -> str:
    """Return the server's address under a name that only the proxy can resolve."""
    return f"https://api.example.test:{api.port}"


class TestChoice:
    def test_option(self, connected, api, proxy, remote, ca_file) -> None:
        assert ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=proxy.url)) == 200
        assert proxy.tunnels == [f"api.example.test:{api.port}"]

    def test_option_also_for_this_machine(self, connected, api, proxy, ca_file) -> None:
        ask(connected(host=api.url, api_key="t", ca_cert=ca_file, proxy=proxy.url))
        assert proxy.tunnels == [f"127.0.0.1:{api.port}"]

    def test_without_scheme(self, connected, api, proxy, remote, ca_file) -> None:
        ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=proxy.url.removeprefix("http://")))
        assert proxy.tunnels == [f"api.example.test:{api.port}"]

    def test_kubeconfig(self, connected, api, proxy, remote, ca_file) -> None:
        document = kubeconfig(remote, certificate_authority=ca_file, proxy_url=proxy.url)
        ask(connected(kubeconfig=document))
        assert proxy.tunnels == [f"api.example.test:{api.port}"]

    def test_option_wins_over_kubeconfig(self, connected, proxy, remote, ca_file) -> None:
        document = kubeconfig(remote, certificate_authority=ca_file, proxy_url="http://127.0.0.1:1")
        assert ask(connected(kubeconfig=document, proxy=proxy.url)) == 200

    @pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
    def test_environment(self, monkeypatch, connected, api, proxy, remote, ca_file, name) -> None:
        monkeypatch.setenv(name, proxy.url)
        ask(connected(host=remote, api_key="t", ca_cert=ca_file))
        assert proxy.tunnels == [f"api.example.test:{api.port}"]

    def test_kubeconfig_wins_over_environment(self, monkeypatch, connected, proxy, remote, ca_file) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        document = kubeconfig(remote, certificate_authority=ca_file, proxy_url=proxy.url)
        assert ask(connected(kubeconfig=document)) == 200

    @pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
    def test_environment_does_not_concern_this_machine(self, monkeypatch, connected, api, ca_file, name) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        assert ask(connected(host=f"https://{name}:{api.port}", api_key="t", ca_cert=ca_file)) == 200

    def test_proxy_for_http_does_not_concern_https(self, monkeypatch, connected, api, ca_file) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        connection = connected(host="https://api.example.test", api_key="t", ca_cert=ca_file)
        assert connection.pool.proxy is None

    def test_plain_http_goes_through_its_own_proxy(self, monkeypatch, connected, proxy) -> None:
        monkeypatch.setenv("http_proxy", proxy.url)
        ask(connected(host="http://api.example.test:8080", api_key="t"))
        assert proxy.tunnels == ["http://api.example.test:8080/version"]


class TestBypass:
    @pytest.mark.parametrize("given_by", ["option", "environment"])
    def test_of_a_proxy_of_the_environment(self, monkeypatch, connected, given_by) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        option = {}
        if given_by == "option":
            option["no_proxy"] = ".example.test"
        else:
            monkeypatch.setenv("NO_PROXY", ".example.test")
        assert connected(host="https://api.example.test", api_key="t", **option).pool.proxy is None

    def test_option_replaces_the_environment(self, monkeypatch, connected) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", ".example.test")
        connection = connected(host="https://api.example.test", api_key="t", no_proxy="other.test")
        assert connection.pool.proxy.port == 1

    def test_of_a_proxy_of_the_option(self, connected, api, ca_file) -> None:
        assert (
            ask(
                connected(
                    host=api.url, api_key="t", ca_cert=ca_file, proxy="http://127.0.0.1:1", no_proxy="127.0.0.0/8"
                )
            )
            == 200
        )

    def test_environment_does_not_undo_a_given_proxy(self, monkeypatch, connected, api, proxy, remote, ca_file) -> None:
        monkeypatch.setenv("NO_PROXY", ".example.test")
        ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=proxy.url))
        assert proxy.tunnels == [f"api.example.test:{api.port}"]

    def test_of_ipv6(self, monkeypatch, connected, pki, ca_file) -> None:
        with ApiServer(pki.server, host="::1") as api:
            assert (
                ask(connected(host=api.url, api_key="t", ca_cert=ca_file, proxy="http://127.0.0.1:1", no_proxy="[::1]"))
                == 200
            )

    @pytest.mark.parametrize(
        ("host", "rules", "expected"),
        [
            ("https://api.example.test:6443", "api.example.test", True),
            ("https://api.example.test:6443", "API.Example.Test", True),
            ("https://API.example.test:6443", "api.example.test", True),
            ("https://api.example.test:6443", "example.test", True),
            ("https://api.example.test:6443", ".example.test", True),
            ("https://api.example.test:6443", "*.example.test", True),
            ("https://api.example.test:6443", "ample.test", False),
            ("https://api.example.test:6443", ".api.example.test", False),
            ("https://api.example.test.:6443", "api.example.test", True),
            ("https://api.example.test:6443", "api.example.test:6443", True),
            ("https://api.example.test:6443", ".example.test:6443", True),
            ("https://api.example.test:6443", "api.example.test:443", False),
            ("https://api.example.test", "api.example.test:443", True),
            ("https://api.example.test:6443", "*", True),
            ("https://api.example.test:6443", "", False),
            ("https://api.example.test:6443", "10.0.0.0/8", False),
            ("https://api.example.test:6443", "other.test, api.example.test", True),
            ("https://api.example.test:6443", "other.test api.example.test", True),
            ("https://10.1.2.3:6443", "10.1.2.3", True),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", True),
            ("https://10.1.2.3:6443", "10.1.2.3:443", False),
            ("https://10.1.2.3:6443", "10.0.0.0/8", True),
            ("https://10.1.2.3:6443", "10.1.2.9/24", True),
            ("https://11.1.2.3:6443", "10.0.0.0/8", False),
            ("https://10.1.2.3:6443", ".2.3", False),
            ("https://10.1.2.3:6443", "2.3", False),
            ("https://[fd00::1]:6443", "fd00::1", True),
            ("https://[fd00::1]:6443", "[fd00::1]", True),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
            ("https://[fd00::1]:6443", "[fd00::1]:443", False),
            ("https://[fd00:0:0::1]:6443", "fd00::0:1", True),
            ("https://[fd00::1]:6443", "fd00::/16", True),
            ("https://[fd00::1]:6443", "[fd00::]/16", True),
            ("https://[fe80::1]:6443", "fd00::/16", False),
            ("https://[::ffff:10.1.2.3]:6443", "10.0.0.0/8", True),
            ("https://10.1.2.3:6443", "10.0.0.0/99", False),
        ],
    )
    def test_rules(self, host, rules, expected) -> None:
        assert bypasses(parse_server(host, "option host"), rules) is expected


class TestHeaders:
    def test_of_the_option(self, connected, proxy, remote, ca_file) -> None:
        headers = {"proxy_basic_auth": "u:p", "basic_auth": "a:b", "user_agent": "me/1"}
        ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=proxy.url, proxy_headers=headers))
        sent = proxy.headers[0]
        assert sent["proxy-authorization"] == "Basic " + base64.b64encode(b"u:p").decode()
        assert sent["authorization"] == "Basic " + base64.b64encode(b"a:b").decode()
        assert sent["user-agent"] == "me/1"

    def test_login_in_the_address(self, connected, proxy, remote, ca_file) -> None:
        url = proxy.url.replace("://", "://us%40er:p%3Ass@")
        ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=url))
        assert proxy.headers[0]["proxy-authorization"] == "Basic " + base64.b64encode(b"us@er:p:ss").decode()

    def test_nothing_of_the_proxys_reaches_the_server(self, connected, api, proxy, remote, ca_file) -> None:
        headers = {"proxy_basic_auth": "u:p", "basic_auth": "a:b", "user_agent": "me/1"}
        ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=proxy.url, proxy_headers=headers))
        asked = api.asked[-1]
        assert asked.header("proxy-authorization") == ""
        assert asked.header("authorization") == "Bearer t"

    def test_token_does_not_reach_the_proxy(self, connected, proxy, remote, ca_file) -> None:
        ask(connected(host=remote, api_key="s3cret", ca_cert=ca_file, proxy=proxy.url))
        assert "authorization" not in proxy.headers[0]


@pytest.mark.parametrize("url", ["ftp://u:s3cret@p", "http://", "http://u:s3cret@p:x", "://"])
def test_unusable(connected, api, url) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        connected(host=api.url, api_key="t", proxy=url)
    assert caught.value.message == (
        "The address of the proxy (option proxy) cannot be used: write it as http://host:port, https://host:port or"
        " socks5://host:port."
    )


def test_socks_needs_a_library(connected, api, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3.contrib.socks", None)
    with pytest.raises(
        MissingLibrary, match=r"^The proxy speaks SOCKS, for which the Python library PySocks is missing"
    ):
        connected(host=api.url, api_key="t", proxy="socks5://127.0.0.1:1080")


class TestLostAtTheProxy:
    """The sentence speaks of the proxy, not of the server behind it."""

    def unreachable(self, connection) -> Unreachable:
        with pytest.raises(Unreachable) as caught:
            exchange(connection, "GET", "/version", {}, None, 2.0, time.monotonic)
        return caught.value

    @pytest.mark.parametrize(
        ("address", "final"), [("http://127.0.0.1:1", False), ("http://no-such.invalid:3128", True)]
    )
    def test_no_proxy_there(self, connected, address, final) -> None:
        error = self.unreachable(connected(host="https://api.test", api_key="t", proxy=address))
        assert error.message.startswith(
            f"no connection to https://api.test:443 through the proxy {address} (option proxy) ("
        )
        assert error.final is final

    @pytest.mark.parametrize(("status", "final"), [(407, True), (403, True), (502, False)])
    def test_refused(self, connected, proxy, status, final) -> None:
        proxy.refuses = status
        error = self.unreachable(connected(host="https://api.test", api_key="t", proxy=proxy.url))
        assert (
            f"(it responds with status {status}): correct its address there or its login in proxy_headers"
            in error.message
        )
        assert error.final is final


@pytest.mark.skipif(urllib3.__version__.startswith("1."), reason="urllib3 1.26 takes no CA for proxies of its own")
def test_proxy_that_speaks_tls(connected, api, pki, remote, ca_file, tls_proxy) -> None:
    assert ask(connected(host=remote, api_key="t", ca_cert=ca_file, proxy=tls_proxy.url)) == 200
    assert tls_proxy.tunnels == [f"api.example.test:{api.port}"]
