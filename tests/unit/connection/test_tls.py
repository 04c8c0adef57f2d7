# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS: whom the connection trusts, and which certificate it shows."""

from __future__ import annotations

import base64
import ssl

import pytest
import urllib3
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.certificates import Authority, pem_of
from connection.servers import ApiServer
from connection.situations import ask, kubeconfig


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture
def renamed(pki):
    """Return a server whose certificate is good for another name only, as behind an access proxy."""
    with ApiServer(pki.ca.issue("api", "only.internal"), pki.ca.pem) as api:
        yield api


def distrust(connection) -> ssl.SSLError:
    """Return the TLS error that a request ends with."""
    with pytest.raises(urllib3.exceptions.SSLError) as caught:
        ask(connection)
    return caught.value.args[0]


def refusal(connected, **params) -> str:
    with pytest.raises(InvalidConfiguration) as caught:
        connected(**params)
    return caught.value.message


class TestTrust:
    def test_ca_in_the_kubeconfig(self, seen, api, pki) -> None:
        document = kubeconfig(api.url, certificate_authority_data=b64(pki.ca.pem))
        assert seen(kubeconfig=document).path == "/version"

    def test_ca_data_wins_over_a_file(self, seen, api, pki) -> None:
        document = kubeconfig(api.url, certificate_authority_data=b64(pki.ca.pem), certificate_authority="/no/file")
        assert seen(kubeconfig=document).path == "/version"

    def test_ca_in_binary_form(self, seen, api, pki, tmp_path) -> None:
        (tmp_path / "ca.der").write_bytes(pki.ca.der)
        assert seen(host=api.url, ca_cert=str(tmp_path / "ca.der")).path == "/version"

    def test_ca_with_remarks_around_it(self, seen, api, pki, tmp_path) -> None:
        (tmp_path / "ca.crt").write_bytes("# Zertifikat für später\n".encode() + pki.other_ca.pem + b"\n" + pki.ca.pem)
        assert seen(host=api.url, ca_cert=str(tmp_path / "ca.crt")).path == "/version"

    def test_intermediate_ca_is_enough(self, connected, pki, tmp_path) -> None:
        between = Authority("between", parent=pki.ca)
        (tmp_path / "ca.crt").write_bytes(between.pem)
        with ApiServer(between.issue("api", "127.0.0.1")) as api:
            assert ask(connected(host=api.url, ca_cert=str(tmp_path / "ca.crt"))) == 200

    def test_wrong_ca(self, connected, api, pki, tmp_path) -> None:
        (tmp_path / "ca.crt").write_bytes(pki.other_ca.pem)
        error = distrust(connected(host=api.url, ca_cert=str(tmp_path / "ca.crt")))
        assert "certificate verify failed" in str(error)

    def test_without_a_ca_the_system_decides(self, connected, api) -> None:
        assert "certificate verify failed" in str(distrust(connected(host=api.url)))

    def test_certificate_for_another_name(self, connected, renamed, ca_file) -> None:
        assert "match" in str(distrust(connected(host=renamed.url, ca_cert=ca_file)))

    def test_verification_off(self, seen, api, recwarn) -> None:
        assert seen(host=api.url, validate_certs=False).path == "/version"
        assert recwarn.list == []

    def test_option_turns_verification_on_again(self, connected, api) -> None:
        document = kubeconfig(api.url, insecure_skip_tls_verify=True)
        assert "certificate verify failed" in str(distrust(connected(kubeconfig=document, validate_certs=True)))

    @pytest.mark.parametrize(
        "content", [b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----"]
    )
    def test_unusable_ca(self, connected, api, tmp_path, content) -> None:
        path = tmp_path / "ca.crt"
        path.write_bytes(content)
        assert refusal(connected, host=api.url, ca_cert=str(path)) == (
            f"There is no usable certificate in ca_cert {path}: give the CA certificate of the API server in PEM form."
        )

    def test_missing_ca(self, connected, api) -> None:
        assert refusal(connected, host=api.url, ca_cert="/no/ca.crt") == (
            "The file of ca_cert cannot be read: /no/ca.crt (No such file or directory); paths are those of the host"
            " that the task runs on."
        )


class TestServerName:
    """tls-server-name is verified and asked for in place of the host."""

    def test_used(self, connected, renamed, ca_file) -> None:
        document = kubeconfig(renamed.url, certificate_authority=ca_file, tls_server_name="only.internal")
        assert ask(connected(kubeconfig=document)) == 200
        assert renamed.asked[-1].server_name == "only.internal"

    def test_wrong(self, connected, renamed, ca_file) -> None:
        document = kubeconfig(renamed.url, certificate_authority=ca_file, tls_server_name="not.internal")
        assert "match" in str(distrust(connected(kubeconfig=document)))

    def test_through_a_proxy(self, connected, renamed, ca_file, proxy) -> None:
        document = kubeconfig(
            f"https://access.test:{renamed.port}", certificate_authority=ca_file, tls_server_name="only.internal"
        )
        assert ask(connected(kubeconfig=document, proxy=proxy.url)) == 200
        assert renamed.asked[-1].server_name == "only.internal"


class TestClientCertificate:
    def test_inline(self, seen, api, pki) -> None:
        user = {"client-certificate-data": b64(pki.alice.cert), "client-key-data": b64(pki.alice.key)}
        document = kubeconfig(api.url, user, certificate_authority_data=b64(pki.ca.pem))
        assert seen(kubeconfig=document).client == "alice"

    def test_sent_also_without_verification(self, seen, api, pki) -> None:
        user = {"client-certificate-data": b64(pki.alice.cert), "client-key-data": b64(pki.alice.key)}
        document = kubeconfig(api.url, user, insecure_skip_tls_verify=True)
        assert seen(kubeconfig=document).client == "alice"

    def test_by_option(self, seen, api, pki, ca_file, tmp_path) -> None:
        cert, key = pki.alice.write(tmp_path, "alice")
        assert seen(host=api.url, client_cert=cert, client_key=key, ca_cert=ca_file).client == "alice"

    def test_option_wins_over_the_kubeconfig(self, seen, api, pki, ca_file, tmp_path) -> None:
        user = {"client-certificate-data": b64(pki.alice.cert), "client-key-data": b64(pki.alice.key)}
        cert, key = pki.bob.write(tmp_path, "bob")
        document = kubeconfig(api.url, user, certificate_authority=ca_file)
        assert seen(kubeconfig=document, client_cert=cert, client_key=key).client == "bob"

    def test_together_with_a_token(self, seen, api, pki, ca_file) -> None:
        user = {"client-certificate-data": b64(pki.alice.cert), "client-key-data": b64(pki.alice.key), "token": "t"}
        asked = seen(kubeconfig=kubeconfig(api.url, user, certificate_authority=ca_file))
        assert (asked.client, asked.header("authorization")) == ("alice", "Bearer t")

    def test_key_in_the_certificates_file(self, seen, api, pki, ca_file, tmp_path) -> None:
        (tmp_path / "both.pem").write_bytes(pki.alice.cert + pki.alice.key)
        assert seen(host=api.url, client_cert=str(tmp_path / "both.pem"), ca_cert=ca_file).client == "alice"

    def test_renewed_in_the_kubeconfig_on_refresh(self, connected, api, pki, ca_file, tmp_path) -> None:
        pki.alice.write(tmp_path, "me")
        user = {"client-certificate": str(tmp_path / "me.crt"), "client-key": str(tmp_path / "me.key")}
        connection = connected(kubeconfig=kubeconfig(api.url, user, certificate_authority=ca_file))
        ask(connection)
        pki.bob.write(tmp_path, "me")
        assert connection.refresh() is True
        ask(connection)
        assert [asked.client for asked in api.asked] == ["alice", "bob"]

    def test_key_of_another_certificate(self, connected, api, pki, tmp_path) -> None:
        cert = pki.alice.write(tmp_path, "alice")[0]
        key = pki.bob.write(tmp_path, "bob")[1]
        assert refusal(connected, host=api.url, client_cert=cert, client_key=key) == (
            f"The client certificate cannot be used (client_cert {cert} and client_key {key}):"
            " the key belongs to another certificate."
        )

    def test_encrypted_key(self, connected, api, pki, tmp_path) -> None:
        cert, key = pki.alice.write(tmp_path, "alice")
        (tmp_path / "alice.key").write_bytes(pem_of(load_pem_private_key(pki.alice.key, None), b"secret"))
        assert refusal(connected, host=api.url, client_cert=cert, client_key=key).endswith(
            ": they have to be an unencrypted key and its certificate in PEM form."
        )

    def test_no_certificate_at_all(self, connected, api, tmp_path) -> None:
        (tmp_path / "x.pem").write_text("nothing")
        assert refusal(connected, host=api.url, client_cert=str(tmp_path / "x.pem")).endswith(
            ": they have to be an unencrypted key and its certificate in PEM form."
        )


def test_ipv6(connected, pki, ca_file) -> None:
    with ApiServer(pki.server, host="::1") as api:
        assert ask(connected(host=api.url, api_key="t", ca_cert=ca_file)) == 200


def test_plain_http(connected) -> None:
    with ApiServer(None) as api:
        assert ask(connected(host=api.url, api_key="t")) == 200
        assert api.asked[-1].header("authorization") == "Bearer t"
