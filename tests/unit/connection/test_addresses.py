# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of API servers, as people write them."""

from __future__ import annotations

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.server_address import parse_server
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://api.test:6443", "https://api.test:6443"),
        ("https://api.test:6443/", "https://api.test:6443"),
        ("https://api.test", "https://api.test:443"),
        ("http://api.test", "http://api.test:80"),
        ("HTTPS://API.test:6443", "https://api.test:6443"),
        (" https://api.test:6443\n", "https://api.test:6443"),
        ("api.test:6443", "https://api.test:6443"),
        ("api.test", "https://api.test:443"),
        ("10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("https://api.test/k8s/clusters/c-1/", "https://api.test:443/k8s/clusters/c-1"),
        ("https://[fd00::1]:6443", "https://[fd00::1]:6443"),
        ("https://[fd00::1]", "https://[fd00::1]:443"),
        ("[fd00::1]:6443", "https://[fd00::1]:6443"),
    ],
)
def test_forms(written, url) -> None:
    assert parse_server(written, "option host").url == url


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("ftp://api.test", "it has to begin with https:// or http://"),
        ("https://", "it names no host"),
        ("https://:6443", "it names no host"),
        ("https://api test", "it names no host"),
        ("https://api.test:port", "its port or its brackets are wrong"),
        ("https://api.test:99999", "its port or its brackets are wrong"),
        ("https://fd00::1", "an IPv6 address needs brackets, as in https://[fd00::1]:6443"),
        ("fd00::1", "an IPv6 address needs brackets, as in https://[fd00::1]:6443"),
        ("https://[fd00::1", "its port or its brackets are wrong"),
        ("https://api.test?watch=1", "it may not hold a query"),
    ],
)
def test_unusable(written, why) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        parse_server(written, "option host")
    assert caught.value.message == f"The address of the API server '{written}' (option host) cannot be used: {why}."


def test_login_in_the_address_is_not_repeated() -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        parse_server("https://me:s3cret@api.test", "option host")
    assert caught.value.message == (
        "The address of the API server (option host) contains a user name or password:"
        " give them as username and password instead."
    )


def test_prefix_is_kept_in_requests(connected, api, ca_file) -> None:
    connection = connected(host=api.url + "/prefix/", api_key="t", ca_cert=ca_file)
    connection.pool.request("GET", connection.base_url + "/version", retries=False)
    assert api.asked[-1].path == "/prefix/version"
