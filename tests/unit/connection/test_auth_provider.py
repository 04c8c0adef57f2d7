# Copyright (c) 2026 kubeops.maintenance contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users with an auth-provider: the package kubernetes logs them in, and what a user sees of that is ours."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from ansible_collections.kubeops.maintenance.plugins.module_utils.errors import InvalidConfiguration
from connection.situations import ask, kubeconfig, write

DISCOVERY = "/idp/.well-known/openid-configuration"


def token(seconds: float, subject: str = "me") -> str:
    """Return a JSON web token that expires in N seconds; its signature is not checked. The library reads the clock."""
    parts = ({"alg": "none"}, {"sub": subject, "exp": int(time.time() + seconds)})
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, "signature"])


FRESH, STALE, NEXT, LAST = token(3600), token(-1), token(7200, "next"), token(7200, "last")


@pytest.fixture
def login(api, pki) -> Callable[..., dict[str, Any]]:
    """Return a function that makes a kubeconfig with an oidc user, and let the server play the identity provider."""
    api.answers[DISCOVERY] = (200, {"token_endpoint": api.url + "/idp/token"})
    api.answers["/idp/token"] = (200, {"access_token": "a", "id_token": NEXT, "refresh_token": "refresh-2"})

    def build(id_token: str, **config: Any) -> dict[str, Any]:
        given = {
            "id-token": id_token,
            "refresh-token": "refresh-1",
            "idp-issuer-url": api.url + "/idp",
            "idp-certificate-authority-data": base64.b64encode(pki.ca.pem).decode(),
            "client-id": "kube",
            "client-secret": "s3cret",
            **config,
        }
        section = {"name": "oidc", "config": {key: value for key, value in given.items() if value is not None}}
        return kubeconfig(api.url, {"auth-provider": section}, insecure_skip_tls_verify=True)

    return build


def refusal(connected, **params: Any) -> str:
    """Return why no connection can be made."""
    with pytest.raises(InvalidConfiguration) as caught:
        connected(**params)
    return caught.value.message


def sentence(why: str, provider: str = "oidc") -> str:
    return (
        f"The auth-provider '{provider}' of the user 'me' in the kubeconfig dictionary gives no token{why}:"
        " log in again, or use a credential plugin (exec)."
    )


def test_token_that_is_good(seen, login) -> None:
    assert seen(kubeconfig=login(FRESH)).header("authorization") == f"Bearer {FRESH}"


def test_expired_token_is_renewed(seen, api, login) -> None:
    assert seen(kubeconfig=login(STALE)).header("authorization") == f"Bearer {NEXT}"
    discovery, renewal = api.asked[:2]
    assert (discovery.method, discovery.path) == ("GET", DISCOVERY)
    form = parse_qs(renewal.body)
    assert (form["grant_type"], form["refresh_token"]) == (["refresh_token"], ["refresh-1"])
    assert base64.b64decode(renewal.header("authorization").split()[1]) == b"kube:s3cret"


def test_token_that_expired_since_is_renewed_after_a_401_by_the_newest_refresh_token(connected, api, login) -> None:
    short = token(-1, "short")
    api.answers["/idp/token"] = (200, {"access_token": "a", "id_token": short, "refresh_token": "refresh-2"})
    connection = connected(kubeconfig=login(STALE))
    api.refused.add(short)
    api.answers["/idp/token"] = (200, {"access_token": "a", "id_token": LAST, "refresh_token": "refresh-3"})
    assert ask(connection) == 401
    assert connection.refresh() is True
    assert ask(connection) == 200
    renewals = [parse_qs(asked.body)["refresh_token"] for asked in api.asked if asked.path == "/idp/token"]
    assert (renewals, api.asked[-1].header("authorization")) == ([["refresh-1"], ["refresh-2"]], f"Bearer {LAST}")


def test_good_token_that_the_server_refuses_is_not_renewed(connected, api, login) -> None:
    connection = connected(kubeconfig=login(FRESH))
    api.refused.add(FRESH)
    assert (ask(connection), connection.refresh()) == (401, False)


def test_identity_provider_is_verified_even_if_no_ca_is_named(connected, api, login) -> None:
    config = login(STALE, **{"idp-certificate-authority-data": None})
    assert refusal(connected, kubeconfig=config) == sentence(" (SSLCertVerificationError)")
    assert api.asked == []


def test_ca_of_the_identity_provider_beside_the_kubeconfig(seen, login, pki, tmp_path) -> None:
    (tmp_path / "idp.crt").write_bytes(pki.ca.pem)
    document = login(STALE, **{"idp-certificate-authority-data": None, "idp-certificate-authority": "idp.crt"})
    asked = seen(kubeconfig=write(tmp_path / "config", document), persist_config=True)
    assert asked.header("authorization") == f"Bearer {NEXT}"
    config = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["auth-provider"]["config"]
    assert "idp-certificate-authority-data" not in config


def test_identity_provider_that_hangs_is_given_up_when_the_tasks_time_is_over(connected, login) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        config = login(STALE, **{"idp-issuer-url": "https://127.0.0.1:%d" % silent.getsockname()[1]})
        started = time.monotonic()
        message = refusal(connected, kubeconfig=config, seconds=0.1)
        assert message == sentence(" within 0.5 seconds")
        assert time.monotonic() - started < 5


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
        ({"refresh-token": None}, {}, "refresh-token is missing"),
        ({"id-token": None}, {}, "id-token is missing"),
        ({}, {"/idp/token": (400, {"error": "invalid_grant", "echo": "s3cret"})}, "InvalidGrantError"),
        ({}, {"/idp/token": (200, {"access_token": "s3cret"})}, "id_token is missing"),
        ({"idp-issuer-url": "https://127.0.0.1:1"}, {}, "ConnectionRefusedError"),
    ],
)
def test_error_names_the_cause_and_no_secret(connected, api, login, config, answers, why) -> None:
    api.answers.update(answers)
    assert refusal(connected, kubeconfig=login(STALE, **config)) == sentence(f" ({why})")


def test_identity_provider_without_a_token_endpoint(connected, api, login) -> None:
    api.answers[DISCOVERY] = (200, {})
    assert refusal(connected, kubeconfig=login(STALE)) == sentence(" (token_endpoint is missing)")


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
