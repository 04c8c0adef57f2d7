# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options as Ansible reads them: names, aliases, environment variables, documentation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.kubeops.maintenance.plugins.doc_fragments.auth import ModuleDocFragment
from ansible_collections.kubeops.maintenance.plugins.module_utils.api.transport import exchange
from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration, Unreachable
from ansible_collections.kubeops.maintenance.plugins.module_utils.module import auth_spec as auth_options
from ansible_collections.kubeops.maintenance.plugins.module_utils.module.auth_spec import (
    AUTH_SPEC,
    PROXY_HEADERS_SPEC,
    secret_values,
    variables_taken,
)
from connection.situations import kubeconfig, write

DOCUMENTED = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]


def read(**given: Any) -> dict[str, Any]:
    """Return the options as a module gets them."""
    result = ArgumentSpecValidator(AUTH_SPEC).validate(given)
    assert result.error_messages == []
    return {name: value for name, value in result.validated_parameters.items() if value is not None}


@pytest.mark.parametrize(
    ("variable", "written", "option", "value"),
    [
        ("HOST", "https://api.test", "host", "https://api.test"),
        ("API_KEY", "abc", "api_key", "abc"),
        ("KUBECONFIG", "/a:/b", "kubeconfig", "/a:/b"),
        ("CONTEXT", "ctx", "context", "ctx"),
        ("USERNAME", "u", "username", "u"),
        ("PASSWORD", "p", "password", "p"),
        ("CLIENT_CERT", "/c", "client_cert", "/c"),
        ("CERT_FILE", "/c", "client_cert", "/c"),
        ("CLIENT_KEY", "/k", "client_key", "/k"),
        ("KEY_FILE", "/k", "client_key", "/k"),
        ("CA_CERT", "/ca", "ca_cert", "/ca"),
        ("SSL_CA_CERT", "/ca", "ca_cert", "/ca"),
        ("VALIDATE_CERTS", "no", "validate_certs", False),
        ("VERIFY_SSL", "False", "validate_certs", False),
        ("VERIFY_SSL", "True", "validate_certs", True),
        ("VERIFY_SSL", "0", "validate_certs", False),
        ("VERIFY_SSL", "enabled", "validate_certs", True),
        ("PROXY", "http://p", "proxy", "http://p"),
        ("NO_PROXY", ".test", "no_proxy", ".test"),
        ("PROXY_HEADERS_PROXY_BASIC_AUTH", "u:p", "proxy_headers", {"proxy_basic_auth": "u:p"}),
        ("PROXY_HEADERS_BASIC_AUTH", "u:p", "proxy_headers", {"basic_auth": "u:p"}),
        ("PROXY_HEADERS_USER_AGENT", "me", "proxy_headers", {"user_agent": "me"}),
        ("PERSIST_CONFIG", "true", "persist_config", True),
        ("IMPERSONATE_USER", "jane", "impersonate_user", "jane"),
        ("IMPERSONATE_GROUPS", "a,b", "impersonate_groups", ["a", "b"]),
    ],
)
def test_environment_variable(monkeypatch, variable, written, option, value) -> None:
    monkeypatch.setenv("K8S_AUTH_" + variable, written)
    got = read()[option]
    assert {key: item for key, item in got.items() if item} == value if isinstance(value, dict) else got == value


@pytest.mark.parametrize("option", [name for name in AUTH_SPEC if name not in ("validate_certs", "persist_config")])
def test_option_wins_over_its_variable(monkeypatch, option) -> None:
    monkeypatch.setenv("K8S_AUTH_" + option.upper(), "from-environment")
    monkeypatch.setenv("K8S_AUTH_PROXY_HEADERS_USER_AGENT", "from-environment")
    kind = AUTH_SPEC[option]["type"]
    given: Any = {"list": ["mine"], "dict": {"basic_auth": "mine"}}.get(kind, "mine")
    assert "from-environment" not in str(read(**{option: given})[option])


def test_option_wins_over_its_truth_variable(monkeypatch) -> None:
    monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "False")
    assert read(validate_certs=True)["validate_certs"] is True


@pytest.mark.parametrize(
    ("first", "second", "option"),
    [
        ("CLIENT_CERT", "CERT_FILE", "client_cert"),
        ("CLIENT_KEY", "KEY_FILE", "client_key"),
        ("CA_CERT", "SSL_CA_CERT", "ca_cert"),
    ],
)
def test_variable_of_the_options_name_wins_over_that_of_its_alias(monkeypatch, first, second, option) -> None:
    monkeypatch.setenv("K8S_AUTH_" + first, "/first")
    monkeypatch.setenv("K8S_AUTH_" + second, "/second")
    assert read()[option] == "/first"


@pytest.mark.parametrize(
    ("alias", "option"),
    [
        ("cert_file", "client_cert"),
        ("key_file", "client_key"),
        ("ssl_ca_cert", "ca_cert"),
        ("verify_ssl", "validate_certs"),
    ],
)
def test_alias(alias, option) -> None:
    assert str(read(**{alias: "true"})[option]).lower() == "true"


def test_empty_variables_count_as_unset(monkeypatch) -> None:
    for name in ("HOST", "VERIFY_SSL", "CA_CERT", "IMPERSONATE_GROUPS", "PROXY_HEADERS_USER_AGENT"):
        monkeypatch.setenv("K8S_AUTH_" + name, "")
    monkeypatch.setenv("K8S_AUTH_SSL_CA_CERT", "/ca")
    assert read() == {"ca_cert": "/ca"}


def test_awx_credential(monkeypatch, seen, api, ca_file) -> None:
    for name, value in {"HOST": api.url, "API_KEY": "awx", "VERIFY_SSL": "True", "SSL_CA_CERT": ca_file}.items():
        monkeypatch.setenv("K8S_AUTH_" + name, value)
    assert seen(**read()).header("authorization") == "Bearer awx"


def test_awx_credential_without_verification(monkeypatch, seen, api) -> None:
    for name, value in {"HOST": api.url, "API_KEY": "awx", "VERIFY_SSL": "False"}.items():
        monkeypatch.setenv("K8S_AUTH_" + name, value)
    assert seen(**read()).header("authorization") == "Bearer awx"


def test_documentation_has_the_same_options_in_the_same_order() -> None:
    assert list(DOCUMENTED) == list(AUTH_SPEC)
    assert list(DOCUMENTED["proxy_headers"]["suboptions"]) == list(PROXY_HEADERS_SPEC)


@pytest.mark.parametrize("option", AUTH_SPEC)
def test_documentation_names_the_variables(option) -> None:
    variables = AUTH_SPEC[option]["fallback"][1]
    text = str(DOCUMENTED[option])
    assert [name for name in variables if f"E({name}" not in text] == []


class TestSecrets:
    """Secrets inside options that are not secret as a whole."""

    def test_of_a_kubeconfig_dictionary(self) -> None:
        environment = [{"name": "MY_TOKEN", "value": "s5"}, {"name": "A", "value": "open"}]
        users = [
            {"name": "a", "user": {"token": "s1", "client-key-data": "s2", "client-certificate-data": "open"}},
            {"name": "b", "user": {"username": "open", "password": "s3"}},
            {"name": "c", "user": {"auth-provider": {"config": {"id-token": "s4", "client-id": "open"}}}},
            {"name": "d", "user": {"exec": {"env": environment}}},
        ]
        assert secret_values({"kubeconfig": {"users": users}}) == {"s1", "s2", "s3", "s4", "s5"}

    def test_of_a_proxy(self) -> None:
        assert secret_values({"proxy": "http://u:p%40ss@proxy:3128"}) == {"p%40ss", "p@ss"}

    def test_none_in_paths(self) -> None:
        assert secret_values({"kubeconfig": "/etc/kubeconfig", "proxy": "http://[bad"}) == set()


class TestPlaces:
    """An error names the place of the value that counts: the option, or the variable that stands in for it."""

    @pytest.fixture
    def refusal(self, connected) -> Callable[..., str]:
        def refusal_of(**given: Any) -> str:
            auth_options._TAKEN.clear()
            with pytest.raises(InvalidConfiguration) as caught:
                connected(variables=variables_taken, **read(**given))
            return caught.value.message

        return refusal_of

    @pytest.mark.parametrize(
        ("variables", "sentence"),
        [
            ({"KUBECONFIG": "/no"}, "The kubeconfig /no (environment variable K8S_AUTH_KUBECONFIG) does not exist: "),
            (
                {"HOST": "ftp://x", "API_KEY": "k"},
                "The address of the API server 'ftp://x' (environment variable K8S_AUTH_HOST) cannot be used: ",
            ),
            (
                {"HOST": "x", "API_KEY": "a b"},
                "The token (environment variable K8S_AUTH_API_KEY) is empty or contains blanks, ",
            ),
            (
                {"HOST": "x", "API_KEY": "k", "USERNAME": "u"},
                "Both api_key (environment variable K8S_AUTH_API_KEY) and username with password are given"
                " (environment variable K8S_AUTH_USERNAME): ",
            ),
            (
                {"HOST": "x", "PASSWORD": "u"},
                "Only one of username and password is given (environment variable K8S_AUTH_PASSWORD): ",
            ),
            (
                {"HOST": "x", "API_KEY": "k", "SSL_CA_CERT": "/no"},
                "The file of ca_cert (environment variable K8S_AUTH_SSL_CA_CERT) cannot be read: /no ",
            ),
            (
                {"HOST": "x", "CERT_FILE": "/no"},
                "The file of client_cert (environment variable K8S_AUTH_CERT_FILE) cannot be read: /no ",
            ),
            (
                {"HOST": "x", "API_KEY": "k", "CLIENT_KEY": "/no"},
                "The file of client_key (environment variable K8S_AUTH_CLIENT_KEY) cannot be read: /no ",
            ),
            (
                {"HOST": "x", "API_KEY": "k", "PROXY": "ftp://p"},
                "The address of the proxy (environment variable K8S_AUTH_PROXY) cannot be used: ",
            ),
            (
                {"HOST": "x", "API_KEY": "k", "IMPERSONATE_GROUPS": "a"},
                "Groups cannot be impersonated without a user: give impersonate_user as well as the groups"
                " (environment variable K8S_AUTH_IMPERSONATE_GROUPS).",
            ),
        ],
    )
    def test_variable(self, monkeypatch, refusal, variables, sentence) -> None:
        for name, value in variables.items():
            monkeypatch.setenv("K8S_AUTH_" + name, value)
        assert refusal()[: len(sentence)] == sentence

    def test_variable_context(self, monkeypatch, refusal) -> None:
        monkeypatch.setenv("K8S_AUTH_CONTEXT", "prod")
        message = refusal(kubeconfig=kubeconfig("https://api.test"))
        assert message.startswith("There is no context 'prod' (environment variable K8S_AUTH_CONTEXT) in the kube")

    def test_option_wins_also_with_the_same_value(self, monkeypatch, refusal) -> None:
        monkeypatch.setenv("K8S_AUTH_KUBECONFIG", "/no")
        assert refusal(kubeconfig="/no").startswith("The kubeconfig /no (option kubeconfig) does not exist: ")

    def test_variable_of_kubectl(self, monkeypatch, refusal, tmp_path) -> None:
        path = write(tmp_path / "config", {**kubeconfig("https://api.test"), "current-context": "gone"})
        monkeypatch.setenv("KUBECONFIG", path)
        assert refusal().startswith(
            f"There is no context 'gone' in kubeconfig {path} (environment variable KUBECONFIG), its current-context"
        )

    def test_proxy_of_the_surroundings(self, monkeypatch, refusal) -> None:
        monkeypatch.setenv("https_proxy", "ftp://p")
        assert refusal(host="https://api.test", api_key="k").startswith(
            "The address of the proxy (environment variable https_proxy) cannot be used: "
        )

    def test_proxy_of_the_kubeconfig(self, refusal, tmp_path) -> None:
        document = kubeconfig("https://api.test", proxy_url="ftp://p")
        path = write(tmp_path / "config", document)
        assert refusal(kubeconfig=path).startswith(
            f"The address of the proxy (proxy-url of cluster 'here' in kubeconfig {path}) cannot be used: "
        )

    def test_credential_in_use(self, monkeypatch, connected) -> None:
        monkeypatch.setenv("K8S_AUTH_API_KEY", "k")
        connection = connected(variables=variables_taken, **read(host="https://api.test"))
        assert connection.describe() == (
            "https://api.test:443 as the given api_key (environment variable K8S_AUTH_API_KEY)"
        )

    @pytest.mark.parametrize(
        ("given", "variables", "place"),
        [
            ({"host": "https://127.0.0.1:1", "api_key": "k"}, {}, "option host"),
            ({"api_key": "k"}, {"HOST": "https://127.0.0.1:1"}, "environment variable K8S_AUTH_HOST"),
            (
                {"kubeconfig": kubeconfig("https://127.0.0.1:1")},
                {},
                "cluster 'here' in the kubeconfig dictionary",
            ),
        ],
    )
    def test_server_that_nothing_listens_at(self, monkeypatch, connected, given, variables, place) -> None:
        auth_options._TAKEN.clear()
        for name, value in variables.items():
            monkeypatch.setenv("K8S_AUTH_" + name, value)
        connection = connected(variables=variables_taken, **read(**given))
        with pytest.raises(Unreachable) as caught:
            exchange(connection, "GET", "/version", {}, None, 2.0, time.monotonic)
        assert caught.value.message == (
            f"nothing listens at https://127.0.0.1:1 (connection refused): check the {place},"
            " and whether the API server is running"
        )
