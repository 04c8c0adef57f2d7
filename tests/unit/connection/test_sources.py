# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the settings come from, and who wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import kubeconfig, set_account, write


@pytest.fixture
def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, api, pki) -> Path:
    """Make this process one that runs in a pod of the server's cluster; return the folder of its account."""
    folder = tmp_path / "account"
    folder.mkdir()
    (folder / "token").write_text("of-the-pod\n")
    (folder / "ca.crt").write_bytes(pki.ca.pem)
    (folder / "namespace").write_text("pod-ns")
    set_account(monkeypatch, folder)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(api.port))
    return folder


@pytest.fixture
def home_config(tmp_path: Path, api, ca_file) -> str:
    document = kubeconfig(api.url, {"token": "from-home"}, certificate_authority=ca_file)
    return write(tmp_path / "home/.kube/config", document)


@pytest.fixture
def named_config(tmp_path: Path, api, ca_file) -> str:
    return write(tmp_path / "named", kubeconfig(api.url, {"token": "from-named"}, certificate_authority=ca_file))


def test_kubeconfig_of_the_home_folder_is_the_default(seen, home_config) -> None:
    assert seen().header("authorization") == "Bearer from-home"


def test_pod_account_wins_over_the_home_folder(seen, home_config, pod) -> None:
    assert seen().header("authorization") == "Bearer of-the-pod"


def test_environment_variable_kubeconfig_wins_over_the_pod_account(monkeypatch, seen, named_config, pod) -> None:
    monkeypatch.setenv("KUBECONFIG", named_config)
    assert seen().header("authorization") == "Bearer from-named"


def test_option_wins_over_environment_variable_kubeconfig(monkeypatch, seen, named_config, home_config) -> None:
    monkeypatch.setenv("KUBECONFIG", home_config)
    assert seen(kubeconfig=named_config).header("authorization") == "Bearer from-named"


def test_option_kubeconfig_wins_over_the_pod_account(seen, named_config, pod) -> None:
    assert seen(kubeconfig=named_config).header("authorization") == "Bearer from-named"


def test_context_alone_means_the_kubeconfig_of_the_home_folder(seen, home_config, pod) -> None:
    assert seen(context="ctx").header("authorization") == "Bearer from-home"


def test_host_and_token_need_no_kubeconfig(seen, api, ca_file, home_config, pod) -> None:
    asked = seen(host=api.url, api_key="given", ca_cert=ca_file, kubeconfig="/does/not/exist")
    assert asked.header("authorization") == "Bearer given"


def test_token_without_host_is_used_at_the_kubeconfigs_server(seen, named_config) -> None:
    assert seen(kubeconfig=named_config, api_key="given").header("authorization") == "Bearer given"


def test_token_without_host_is_used_at_the_pods_server(seen, pod) -> None:
    assert seen(api_key="given").header("authorization") == "Bearer given"


def test_given_token_displaces_the_kubeconfigs_client_certificate(seen, api, ca_file, pki, tmp_path) -> None:
    cert, key = pki.alice.write(tmp_path, "alice")
    user = {"client-certificate": cert, "client-key": key}
    asked = seen(kubeconfig=kubeconfig(api.url, user, certificate_authority=ca_file), api_key="given")
    assert (asked.header("authorization"), asked.client) == ("Bearer given", "")


def test_given_token_displaces_the_kubeconfigs_impersonation(seen, api, ca_file) -> None:
    document = kubeconfig(api.url, {"token": "t", "as": "somebody"}, certificate_authority=ca_file)
    assert seen(kubeconfig=document, api_key="given").header("impersonate-user") == ""


def test_given_certificate_displaces_the_kubeconfigs_token(seen, named_config, pki, tmp_path) -> None:
    cert, key = pki.alice.write(tmp_path, "alice")
    asked = seen(kubeconfig=named_config, client_cert=cert, client_key=key)
    assert (asked.header("authorization"), asked.client) == ("", "alice")


def test_given_token_keeps_a_broken_plugin_from_being_run(seen, api, ca_file) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin"}}
    document = kubeconfig(api.url, user, certificate_authority=ca_file)
    assert seen(kubeconfig=document, api_key="given").header("authorization") == "Bearer given"


def test_host_without_credential_replaces_the_kubeconfigs_server(seen, api, ca_file) -> None:
    document = kubeconfig("https://127.0.0.1:1", {"token": "kept"}, certificate_authority=ca_file)
    assert seen(kubeconfig=document, host=api.url).header("authorization") == "Bearer kept"


def test_host_alone_is_anonymous(seen, api, ca_file) -> None:
    assert seen(host=api.url, ca_cert=ca_file).header("authorization") == ""


def test_options_override_verification_of_the_kubeconfig(seen, api) -> None:
    document = kubeconfig(api.url, {"token": "t"})
    assert seen(kubeconfig=document, validate_certs=False).path == "/version"


def test_namespace_of_the_context(connected, api) -> None:
    document = kubeconfig(api.url)
    document["contexts"][0]["context"]["namespace"] = "team-a"
    assert connected(kubeconfig=document).namespace == "team-a"


def test_namespace_of_the_pod(connected, pod) -> None:
    assert connected().namespace == "pod-ns"


def test_namespace_is_default_without_any(connected, api) -> None:
    assert connected(host=api.url, api_key="x").namespace == "default"


def test_pod_token_is_read_again_when_it_was_rotated(connected, api, pod) -> None:
    connection = connected()
    (pod / "token").write_text("rotated")
    assert connection.headers()["Authorization"] == "Bearer rotated"


def test_pod_with_an_ipv6_address_gets_brackets(monkeypatch, connected, pod) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert connected().base_url == "https://[fd00::1]:443"


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
def test_pod_without_an_account_is_no_source(connected, pod, home_config, missing) -> None:
    (pod / missing).unlink()
    assert "(kubeconfig " in connected().describe()


def test_nothing_at_all_names_the_ways(connected) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        connected()
    assert caught.value.message == (
        "Nothing says which cluster to use: give kubeconfig, or host with api_key (K8S_AUTH_KUBECONFIG,"
        " K8S_AUTH_HOST and K8S_AUTH_API_KEY do too); there is no ~/.kube/config, and this is not a pod."
    )


@pytest.mark.parametrize("given", [{"username": "u"}, {"password": "p"}])
def test_half_a_login_is_refused(connected, api, given) -> None:
    with pytest.raises(InvalidConfiguration, match=r"^Only one of username and password is given: give both"):
        connected(host=api.url, **given)


def test_two_credentials_are_refused(connected, api) -> None:
    with pytest.raises(InvalidConfiguration, match=r"^Both api_key and username with password are given"):
        connected(host=api.url, api_key="k", username="u", password="p")


def test_key_without_certificate_is_refused(connected, api, pki, tmp_path) -> None:
    key = pki.alice.write(tmp_path, "alice")[1]
    with pytest.raises(InvalidConfiguration, match=r"but no client certificate: give client_cert too\.$"):
        connected(host=api.url, api_key="k", client_key=key)


class TestDescription:
    """Error texts elsewhere say with it where the module went, and as whom."""

    def test_of_a_kubeconfig(self, connected, api, named_config) -> None:
        assert connected(kubeconfig=named_config).describe() == (
            f"{api.url} as user 'me' of context 'ctx' (kubeconfig {named_config})"
        )

    def test_of_the_pod(self, connected, api, pod) -> None:
        assert connected().describe() == f"{api.url} as the service account of this pod"

    def test_of_a_token(self, connected, api) -> None:
        assert connected(host=api.url, api_key="k").describe() == f"{api.url} as the given api_key"

    def test_of_a_proxy_without_its_login(self, connected, api) -> None:
        connection = connected(host=api.url, api_key="k", proxy="http://u:s3cret@proxy.test:3128")
        assert connection.describe() == (
            f"{api.url} as the given api_key through the proxy http://proxy.test:3128 (option proxy)"
        )

    def test_of_impersonation(self, connected, api) -> None:
        described = connected(host=api.url, username="u", password="p", impersonate_user="jane").describe()
        assert described == f"{api.url} as user 'u', impersonating 'jane'"
