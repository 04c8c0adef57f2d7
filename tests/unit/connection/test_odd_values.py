# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs and options with values of another type than they should have: read as kubectl does, or refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.api.rest import Rest
from ansible_collections.kubeops.maintenance.plugins.module_utils.connection.server_address import parse_server
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration, Unreachable
from ansible_collections.kubeops.maintenance.plugins.module_utils.module.auth_spec import secret_values
from ansible_collections.kubeops.maintenance.plugins.module_utils.runtime.clock import Clock, Deadline
from connection.situations import kubeconfig, write

PLUGIN = """#!/bin/sh
printf '%s' "$KUBERNETES_EXEC_INFO" > told
echo '{"kind": "ExecCredential", "status": {"token": "t"}}'
"""


def config_text(user: str = "token: t", context: str = "cluster: c", cluster: str = "server: https://api.test") -> str:
    return (
        f"clusters: [{{name: c, cluster: {{{cluster}}}}}]\n"
        f"users: [{{name: 2026-11-30, user: {{{user}}}}}, {{name: no, user: {{token: n}}}}]\n"
        f"contexts: [{{name: 2026-01-01, context: {{{context}}}}}]\ncurrent-context: 2026-01-01\n"
    )


@pytest.fixture
def refusal(connected):
    def sentence(**params: Any) -> str:
        with pytest.raises(InvalidConfiguration) as caught:
            connected(**params)
        return caught.value.message

    return sentence


@pytest.mark.parametrize(("written", "namespace"), [("2026-11-30", "2026-11-30"), ("on", "true"), ("12", "12")])
def test_a_namespace_that_yaml_takes_for_something_else_is_that_text(
    connected, tmp_path, written: str, namespace: str
) -> None:
    path = write(tmp_path / "config", config_text(context=f"cluster: c, namespace: {written}"))
    assert connected(kubeconfig=path).namespace == namespace


@pytest.mark.parametrize(("user", "token"), [("2026-11-30", "t"), ("no", "n")])
def test_a_user_that_yaml_takes_for_something_else_is_not_nobody(connected, tmp_path, user: str, token: str) -> None:
    path = write(tmp_path / "config", config_text(context=f"cluster: c, user: {user}"))
    assert connected(kubeconfig=path).headers()["Authorization"] == "Bearer " + token


@pytest.mark.parametrize("value", ["!!bool x", "!!int ''", "!!float ''"])
def test_a_value_that_its_tag_does_not_fit_is_told_as_malformed(refusal, tmp_path, value: str) -> None:
    path = write(tmp_path / "config", "users: " + value)
    assert refusal(kubeconfig=path) == f"The kubeconfig {path} is not valid YAML: correct it or give another."


@pytest.mark.parametrize("values", [5, "admin", {"a": "b"}])
def test_groups_and_extras_that_are_no_list_are_refused(refusal, values: Any) -> None:
    where = "of user 'me' in the kubeconfig dictionary"
    what_to_do = "is not a list: write each entry on a line that begins with a dash."
    groups = kubeconfig("https://api.test", {"as": "u", "as-groups": values})
    assert refusal(kubeconfig=groups) == f"The as-groups {where} {what_to_do}"
    extra = kubeconfig("https://api.test", {"as": "u", "as-user-extra": {"k": values}})
    assert refusal(kubeconfig=extra) == f"The as-user-extra {where} {what_to_do}"


def test_an_extra_may_be_named_by_a_number(connected) -> None:
    user = {"as": "u", "as-user-extra": {1: ["x"]}}
    assert connected(kubeconfig=kubeconfig("https://api.test", user)).headers()["Impersonate-Extra-1"] == "x"


@pytest.mark.parametrize("extension", ["created: 2026-11-30", "data: !!binary aGk="])
def test_a_plugin_is_told_what_yaml_knows_and_json_does_not(connected, monkeypatch, tmp_path, extension: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plug").write_text(PLUGIN)
    (tmp_path / "plug").chmod(0o755)
    cluster = (
        "server: https://api.test, extensions: "
        f"[{{name: client.authentication.k8s.io/exec, extension: {{{extension}}}}}]"
    )
    user = "exec: {command: ./plug, provideClusterInfo: true}"
    path = write(tmp_path / "config", config_text(user, "cluster: c, user: 2026-11-30", cluster))
    connected(kubeconfig=path)
    told = yaml.safe_load((tmp_path / "told").read_text())["spec"]["cluster"]["config"]
    assert [f"{key}: {value}" for key, value in told.items()] == [extension.replace("!!binary ", "")]


def test_extensions_that_are_no_list_are_passed_over(connected, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plug").write_text(PLUGIN)
    (tmp_path / "plug").chmod(0o755)
    user = {"exec": {"command": "./plug", "provideClusterInfo": True}}
    assert connected(kubeconfig=kubeconfig("https://api.test", user, extensions=5)).headers()["Authorization"]


def test_bytes_that_are_no_text_are_sent_as_they_are(connected) -> None:
    sent = connected(host="https://api.test", username="u", password="p\udcff", impersonate_user="v\udcff").headers()
    assert (sent["Authorization"], sent["Impersonate-User"]) == ("Basic dTpw/w==", "vÿ")


def test_a_path_that_can_be_none_is_told(refusal) -> None:
    text = refusal(host="https://api.test", api_key="t", ca_cert="a\0b")
    assert text.startswith("The file of ca_cert cannot be read: a\0b (unreadable); ")


def test_a_proxy_with_a_blank_in_its_name_is_refused(refusal) -> None:
    assert refusal(host="https://api.test", api_key="t", proxy="http://a b:3128").startswith(
        "The address of the proxy (option proxy) cannot be used"
    )


@pytest.mark.parametrize("address", ["https://u:s3cret/x@api.test", "ftp://u:s3cret@api.test", "https://u:s3cret@[x"])
def test_a_password_in_an_address_is_not_repeated(address: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        parse_server(address, "option host")
    assert "s3cret" not in caught.value.message


def test_a_password_in_the_option_host_is_kept_out_of_what_ansible_shows() -> None:
    assert secret_values({"host": "https://u:s3cret@api.test"}) == {"s3cret"}


@pytest.mark.parametrize(("given", "sent"), [("a\nX: b", "a X: b"), ("ü☃", "ü☃".encode().decode("latin-1"))])
def test_a_user_agent_for_the_proxy_can_be_sent_whatever_it_holds(connected, given: str, sent: str) -> None:
    headers = {"user_agent": given}
    connection = connected(host="https://api.test", api_key="t", proxy="http://proxy.test", proxy_headers=headers)
    assert connection.pool.proxy_headers["user-agent"] == sent


@pytest.mark.parametrize("name", ["a" * 64 + ".test", "a..test"])
def test_a_name_that_can_be_none_is_not_tried_again(connected, name: str) -> None:
    rest = Rest(connected(host="https://" + name, api_key="t"), Clock(), Deadline(Clock(), 30))
    with pytest.raises(Unreachable) as caught:
        rest.get("/version")
    assert (caught.value.final, "is not a valid name: correct it" in caught.value.message) == (True, True)
