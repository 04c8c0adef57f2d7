# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users with an auth-provider: oidc, renewed by us, and the others, which the client library knows or not."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import Hands, ask, kubeconfig, write

DISCOVERY = "/idp/.well-known/openid-configuration"


def token(expires: float, subject: str = "me") -> str:
    """Return a JSON web token; nobody looks at its signature."""
    parts = ({"alg": "none"}, {"sub": subject, "exp": expires})
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, "signature"])


FRESH, STALE, NEXT = token(Hands.now + 3600), token(Hands.now - 1), token(Hands.now + 7200, "next")


@pytest.fixture
def login(api, pki):
    """Return a function that gives a kubeconfig with an oidc user, and let the server play the identity provider."""
    api.answers[DISCOVERY] = (200, {"token_endpoint": api.url + "/idp/token"})
    api.answers["/idp/token"] = (200, {"id_token": NEXT, "refresh_token": "refresh-2"})

    def build(id_token: str, **config: Any) -> dict[str, Any]:
        given = {
            "id-token": id_token,
            "refresh-token": "refresh-1",
            "idp-issuer-url": api.url + "/idp",
            "idp-certificate-authority-data": base64.b64encode(pki.ca.pem).decode(),
            "client-id": "kube",
            "client-secret": "client s3cret",
            **config,
        }
        section = {"name": "oidc", "config": {key: value for key, value in given.items() if value is not None}}
        return kubeconfig(api.url, {"auth-provider": section}, insecure_skip_tls_verify=True)

    return build


def test_token_that_is_good(seen, login) -> None:
    assert seen(kubeconfig=login(FRESH)).header("authorization") == f"Bearer {FRESH}"


def test_expired_token_is_renewed(seen, api, login) -> None:
    assert seen(kubeconfig=login(STALE)).header("authorization") == f"Bearer {NEXT}"
    discovery, renewal = api.asked[:2]
    assert (discovery.method, discovery.path) == ("GET", DISCOVERY)
    assert parse_qs(renewal.body) == {"grant_type": ["refresh_token"], "refresh_token": ["refresh-1"]}
    assert base64.b64decode(renewal.header("authorization").split()[1]) == b"kube:client+s3cret"


def test_client_without_secret_names_itself(seen, api, login) -> None:
    seen(kubeconfig=login(STALE, **{"client-secret": None}))
    assert parse_qs(api.asked[1].body)["client_id"] == ["kube"]
    assert api.asked[1].header("authorization") == ""


def test_token_is_renewed_before_it_expires(connected, login, clock) -> None:
    connection = connected(kubeconfig=login(FRESH))
    clock.now += 3600 - 29
    assert connection.headers()["Authorization"] == f"Bearer {NEXT}"


def test_token_is_renewed_after_a_401(connected, api, login) -> None:
    connection = connected(kubeconfig=login(FRESH))
    api.refused.add(FRESH)
    assert ask(connection) == 401
    assert connection.refresh() is True
    assert ask(connection) == 200


def test_identity_provider_is_verified(connected, api, login, tmp_path) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        connected(kubeconfig=login(STALE, **{"idp-certificate-authority-data": None}))
    assert caught.value.message == (
        f"The identity provider at {api.url}{DISCOVERY} cannot be asked for a token (SSLError):"
        " check idp-issuer-url and idp-certificate-authority in the kubeconfig."
    )


def test_ca_of_the_identity_provider_beside_the_kubeconfig(seen, login, pki, tmp_path) -> None:
    (tmp_path / "idp.crt").write_bytes(pki.ca.pem)
    document = login(STALE, **{"idp-certificate-authority-data": None, "idp-certificate-authority": "idp.crt"})
    asked = seen(kubeconfig=write(tmp_path / "config", document))
    assert asked.header("authorization") == f"Bearer {NEXT}"


class TestPersisting:
    @pytest.fixture
    def path(self, login, tmp_path) -> str:
        path = write(tmp_path / "config", login(STALE))
        (tmp_path / "config").chmod(0o600)
        return path

    def test_renewed_tokens_are_written_back(self, connected, path, tmp_path) -> None:
        connected(kubeconfig=path, persist_config=True)
        document = yaml.safe_load((tmp_path / "config").read_text())
        config = document["users"][0]["user"]["auth-provider"]["config"]
        assert (config["id-token"], config["refresh-token"], config["client-id"]) == (NEXT, "refresh-2", "kube")
        assert document["contexts"][0]["name"] == "ctx"

    def test_file_keeps_its_mode_and_nothing_lies_beside_it(self, connected, path, tmp_path) -> None:
        connected(kubeconfig=path, persist_config=True)
        assert (tmp_path / "config").stat().st_mode & 0o777 == 0o600
        assert sorted(item.name for item in tmp_path.iterdir()) == ["config", "home"]

    def test_nothing_is_written_unless_asked(self, connected, path, tmp_path) -> None:
        before = (tmp_path / "config").read_text()
        connected(kubeconfig=path)
        assert (tmp_path / "config").read_text() == before


@pytest.mark.parametrize(
    ("config", "answers", "why"),
    [
        ({"refresh-token": None}, {}, "it has expired, and there is no refresh-token with an idp-issuer-url"),
        ({}, {DISCOVERY: (404, {})}, "the identity provider answered with status 404"),
        ({}, {DISCOVERY: (200, {})}, "the identity provider names no token_endpoint"),
        ({}, {"/idp/token": (400, {"echo": "s3cret"})}, "the identity provider answered with status 400"),
        ({}, {"/idp/token": (200, {"access_token": "s3cret"})}, "the identity provider sent no id_token"),
        ({"idp-certificate-authority-data": "%"}, {}, "its idp-certificate-authority-data is not valid base64"),
    ],
)
def test_failing(connected, api, login, config, answers, why) -> None:
    api.answers.update(answers)
    with pytest.raises(InvalidConfiguration) as caught:
        connected(kubeconfig=login(STALE, **config))
    assert caught.value.message == (
        "The ID token (auth-provider oidc) of the user 'me' in the kubeconfig dictionary cannot be renewed:"
        f" {why}; log in again."
    )


class TestOthers:
    def user(self, name: str, **config: Any) -> dict[str, Any]:
        return {"auth-provider": {"name": name, "config": config}}

    def test_gcp_with_a_token_that_is_good(self, seen, api) -> None:
        user = self.user("gcp", **{"access-token": "gcp-token", "expiry": "2099-01-01T00:00:00Z"})
        asked = seen(kubeconfig=kubeconfig(api.url, user, insecure_skip_tls_verify=True))
        assert asked.header("authorization") == "Bearer gcp-token"

    def test_gcp_with_a_command(self, seen, api, tmp_path) -> None:
        credential = {"credential": {"access_token": "of-the-command", "token_expiry": "2099-01-01T00:00:00Z"}}
        (tmp_path / "answer").write_text(json.dumps(credential))
        user = self.user("gcp", **{"cmd-path": "cat", "cmd-args": str(tmp_path / "answer")})
        asked = seen(kubeconfig=kubeconfig(api.url, user, insecure_skip_tls_verify=True))
        assert asked.header("authorization") == "Bearer of-the-command"

    def test_failing_command_shows_no_output(self, connected, api) -> None:
        user = self.user("gcp", **{"cmd-path": "sh", "cmd-args": "-c s3cret"})
        with pytest.raises(InvalidConfiguration) as caught:
            connected(kubeconfig=kubeconfig(api.url, user))
        assert caught.value.message == (
            "The auth-provider 'gcp' of the user 'me' in the kubeconfig dictionary gives no token (ConfigException):"
            " log in again, or use a credential plugin (exec)."
        )

    def test_unknown(self, connected, api) -> None:
        with pytest.raises(InvalidConfiguration) as caught:
            connected(kubeconfig=kubeconfig(api.url, self.user("openstack")))
        assert caught.value.message == (
            "The auth-provider 'openstack' of the user 'me' in the kubeconfig dictionary gives no token with this"
            " release of the Python library kubernetes: log in again, or use a credential plugin (exec)."
        )
